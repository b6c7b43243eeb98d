//! The words of a receipt, for the transcript, the ledger and its export; made from facts alone.
//!
//! The first part says where the text is and can stand alone; the others say how it came there. Untrusted names have
//! passed the sanitizer.

use serde::{Deserialize, Serialize};

use super::receipt::{Arrival, Boundary, Receipt, ReceiptState, UnseenReason};
use steersman_base::clock::clock;
use steersman_base::text;

/// Columns of a tool's name.
const NAME: usize = 32;

/// The mark of a receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReceiptMark {
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

impl ReceiptMark {
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiptText {
    /// The mark.
    pub mark: ReceiptMark,
    /// The words, the most telling first.
    pub parts: Vec<String>,
}

impl ReceiptText {
    /// Returns the mark and all words as one line.
    pub fn line(&self) -> String {
        format!("{} {}", self.mark.symbol(), self.parts.join(" · "))
    }
}

/// Puts a receipt into words.
pub fn receipt_text(receipt: &Receipt) -> ReceiptText {
    let (mark, first) = match &receipt.state {
        ReceiptState::Pending => (ReceiptMark::Waiting, "pending".to_owned()),
        ReceiptState::Leaving => (ReceiptMark::Waiting, "on its way".to_owned()),
        ReceiptState::Returned => (ReceiptMark::Back, "returned".to_owned()),
        ReceiptState::Withdrawn => (ReceiptMark::Back, "withdrawn".to_owned()),
        ReceiptState::Merged(into) => (ReceiptMark::Back, format!("merged into {}", text::visible_line(into.as_str()))),
        ReceiptState::Delivered(arrival) => (ReceiptMark::Delivered, delivered(arrival)),
        ReceiptState::Unseen(_, why) => (ReceiptMark::Unseen, format!("delivered, not seen: {}", reason(*why))),
        ReceiptState::Seen(arrival, reply) if reply.turn != arrival.turn => {
            (ReceiptMark::Seen, format!("seen in turn {}", reply.turn))
        }
        ReceiptState::Seen(_, reply) if reply.step > 0 => (ReceiptMark::Seen, format!("seen at step {}", reply.step)),
        ReceiptState::Seen(..) => (ReceiptMark::Seen, "seen".to_owned()),
    };
    let mut parts = vec![first];
    if let Some(answer) = &receipt.answer {
        parts.insert(0, format!("answered: {}", answer.sentence));
    }
    if let Some(sender) = &receipt.sender {
        parts.push(format!("from {}", text::visible_line(sender.as_str())));
    }
    match &receipt.state {
        ReceiptState::Unseen(arrival, _) => parts.push(boundary_text(arrival)),
        ReceiptState::Seen(arrival, _) => parts.push(entered(arrival)),
        _ => {}
    }
    if let Some(seconds) = receipt.waited().filter(|seconds| *seconds > 0) {
        parts.push(format!("waited {}", clock(seconds)));
    }
    ReceiptText { mark, parts }
}

/// Says where a text entered, without its state: for a column of its own.
pub(super) fn boundary_text(arrival: &Arrival) -> String {
    match &arrival.boundary {
        Boundary::NoCall => "before the first call".to_owned(),
        Boundary::TurnStart => format!("start of turn {}", arrival.turn),
        Boundary::After(tool) => format!("after {}", name(tool)),
        Boundary::Cut => "cut the answer".to_owned(),
    }
}

fn delivered(arrival: &Arrival) -> String {
    match &arrival.boundary {
        Boundary::TurnStart => format!("delivered, started turn {}", arrival.turn),
        Boundary::After(tool) => format!("delivered after {} at step {}", name(tool), arrival.step),
        Boundary::Cut => "delivered, cut the answer".to_owned(),
        Boundary::NoCall => "delivered before the first call".to_owned(),
    }
}

fn entered(arrival: &Arrival) -> String {
    match &arrival.boundary {
        Boundary::NoCall => "delivered before the first call".to_owned(),
        Boundary::TurnStart => format!("started turn {}", arrival.turn),
        Boundary::After(tool) => format!("delivered after {}", name(tool)),
        Boundary::Cut => "cut the answer".to_owned(),
    }
}

fn name(tool: &str) -> String {
    text::clip(&text::visible_line(tool), NAME).into_owned()
}

fn reason(why: UnseenReason) -> &'static str {
    match why {
        UnseenReason::Cancelled => "the turn was cancelled",
        UnseenReason::Failed => "the turn failed",
        UnseenReason::Ended => "the turn ended",
        UnseenReason::Reset => "the conversation was cleared",
    }
}
