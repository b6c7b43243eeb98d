//! An event with who did it and when, as it is written to a line.
//!
//! The number rises over the whole tree; deltas that wait for a reader are merged, and the number of the last is kept.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::event::Event;
use crate::id::AgentId;

/// One event with its agent and its time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Envelope {
    /// A number that rises by at least one per event of the whole tree, from 1. Gaps are valid (merged deltas).
    pub seq: u64,
    /// The moment of the event, UTC, to the microsecond.
    #[serde(serialize_with = "micros")]
    pub at: Timestamp,
    /// The agent that did it; empty for the main agent.
    pub agent: AgentId,
    /// The agent that spawned it; null for the main agent.
    pub parent: Option<AgentId>,
    /// What happened.
    pub event: Event,
}

impl Envelope {
    /// Appends `next` when both are deltas of the same agent and kind (progress: of the same call), and returns whether
    /// it did; the later `seq` and time are kept.
    #[must_use]
    pub fn merge(&mut self, next: &Self) -> bool {
        if self.agent != next.agent {
            return false;
        }
        match (&mut self.event, &next.event) {
            (Event::AssistantDelta { text }, Event::AssistantDelta { text: more })
            | (Event::ThinkingDelta { text }, Event::ThinkingDelta { text: more }) => text.push_str(more),
            (Event::ToolProgress { id, text }, Event::ToolProgress { id: same, text: more }) if id == same => {
                text.push_str(more);
            }
            (Event::JobOutput { id, text }, Event::JobOutput { id: same, text: more }) if id == same => {
                text.push_str(more);
            }
            _ => return false,
        }
        self.seq = next.seq;
        self.at = next.at;
        true
    }
}

/// Writes a time to the microsecond.
pub(super) fn micros<S: serde::Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{at:.6}"))
}
