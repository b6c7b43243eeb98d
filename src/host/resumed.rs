//! What a session goes on with that an earlier process began. The worker takes it up before the first turn.

use std::collections::HashMap;

use crate::event::{Envelope, Event, Pending};
use crate::id::AgentId;
use crate::message::Message;

/// A session as its earlier process left it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Resumed {
    /// The conversation as it was recorded; calls may be open in it.
    pub messages: Vec<Message>,
    /// What happened, for a screen to show again.
    pub envelopes: Vec<Envelope>,
    /// What ends everything that was open, the innermost first.
    pub closing: Vec<Closing>,
    /// Texts that wait; each is held until the user says that it still holds.
    pub waiting: Vec<Pending>,
    /// How many agents were running.
    pub interrupted: usize,
    /// Where the numbering goes on.
    pub numbers: Numbers,
}

/// An event that ends something for an agent that no longer runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Closing {
    /// The agent.
    pub agent: AgentId,
    /// The agent that spawned it.
    pub parent: Option<AgentId>,
    /// The event.
    pub event: Event,
}

/// The highest numbers that were given, so that none is given again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Numbers {
    /// Of an event.
    pub seq: u64,
    /// Of a text.
    pub texts: u64,
    /// Of a turn of the main agent.
    pub turns: u32,
    /// The next number of each persona.
    pub agents: HashMap<String, u64>,
}

impl Resumed {
    /// Returns a sentence about what waits for the user; `None` when nothing does.
    pub fn note(&self) -> Option<String> {
        let pending = self.waiting.len();
        let agents = match self.interrupted {
            0 => None,
            1 => Some("1 sub-agent was interrupted".to_owned()),
            more => Some(format!("{more} sub-agents were interrupted")),
        };
        let texts = (pending > 0).then(|| format!("{pending} pending: confirm, edit or delete"));
        let parts: Vec<String> = agents.into_iter().chain(texts).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}
