//! The words of a receipt, for the transcript, the ledger and its export; made from facts alone.
//!
//! The first part says where the text is and can stand alone; the others say how it came there. Untrusted names have
//! passed the sanitiser.

use super::clock::clock;
use super::receipts::{Arrival, Place, Receipt, State, Why};
use crate::id::AgentId;
use crate::target::MAIN;
use crate::text;

/// Columns of a tool's name.
const NAME: usize = 32;

/// The mark of a receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// It waits, or is on its way.
    Waiting,
    /// It is in the conversation.
    Delivered,
    /// It is in the conversation, and the turn was over before a reply.
    Unseen,
    /// The model has begun to reply to it.
    Seen,
    /// It did not enter the conversation.
    Back,
}

impl Mark {
    /// Returns the characters.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Waiting => "⋯",
            Self::Delivered | Self::Unseen => "✓",
            Self::Seen => "✓✓",
            Self::Back => "↩",
        }
    }
}

/// A receipt in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// The mark.
    pub mark: Mark,
    /// The words, the most telling first.
    pub parts: Vec<String>,
}

impl Told {
    /// Returns the mark and all words as one line.
    pub fn line(&self) -> String {
        format!("{} {}", self.mark.symbol(), self.parts.join(" · "))
    }
}

/// Puts a receipt into words.
pub fn told(receipt: &Receipt) -> Told {
    let (mark, first) = match &receipt.state {
        State::Pending => (Mark::Waiting, "pending".to_owned()),
        State::Leaving => (Mark::Waiting, "on its way".to_owned()),
        State::Returned => (Mark::Back, "returned".to_owned()),
        State::Withdrawn => (Mark::Back, "withdrawn".to_owned()),
        State::Merged(into) => (Mark::Back, format!("merged into {}", text::visible_line(into.as_str()))),
        State::Delivered(arrival) => (Mark::Delivered, delivered(arrival)),
        State::Unseen(_, why) => (Mark::Unseen, format!("delivered, not seen: {}", reason(*why))),
        State::Seen(arrival, sight) if sight.turn != arrival.turn => {
            (Mark::Seen, format!("seen in turn {}", sight.turn))
        }
        State::Seen(_, sight) if sight.step > 0 => (Mark::Seen, format!("seen at step {}", sight.step)),
        State::Seen(..) => (Mark::Seen, "seen".to_owned()),
    };
    let mut parts = vec![first];
    match &receipt.state {
        State::Unseen(arrival, _) | State::Seen(arrival, _) => parts.push(place(arrival)),
        State::Pending
        | State::Leaving
        | State::Delivered(_)
        | State::Returned
        | State::Withdrawn
        | State::Merged(_) => {}
    }
    if let Some(seconds) = receipt.waited().filter(|seconds| *seconds > 0) {
        parts.push(format!("waited {}", clock(seconds)));
    }
    Told { mark, parts }
}

/// Returns an agent's name as one safe line; the main agent's id is no name.
pub fn name_of(agent: &AgentId) -> String {
    if agent.is_main() { MAIN.to_owned() } else { text::visible_line(agent.as_str()).into_owned() }
}

/// Says where a text entered, without its state: for a column of its own.
pub fn boundary(arrival: &Arrival) -> String {
    match &arrival.place {
        Place::NoCall => "before the first call".to_owned(),
        Place::TurnStart => format!("start of turn {}", arrival.turn),
        Place::After(tool) => format!("after {}", name(tool)),
        Place::Cut => "cut the answer".to_owned(),
    }
}

fn delivered(arrival: &Arrival) -> String {
    match &arrival.place {
        Place::TurnStart => format!("delivered, started turn {}", arrival.turn),
        Place::After(tool) => format!("delivered after {} at step {}", name(tool), arrival.step),
        Place::Cut => "delivered, cut the answer".to_owned(),
        Place::NoCall => "delivered before the first call".to_owned(),
    }
}

fn place(arrival: &Arrival) -> String {
    match &arrival.place {
        Place::NoCall => "delivered before the first call".to_owned(),
        Place::TurnStart => format!("started turn {}", arrival.turn),
        Place::After(tool) => format!("delivered after {}", name(tool)),
        Place::Cut => "cut the answer".to_owned(),
    }
}

fn name(tool: &str) -> String {
    text::clip(&text::visible_line(tool), NAME).into_owned()
}

fn reason(why: Why) -> &'static str {
    match why {
        Why::Cancelled => "the turn was cancelled",
        Why::Failed => "the turn failed",
        Why::Ended => "the turn ended",
        Why::Reset => "the conversation was cleared",
    }
}
