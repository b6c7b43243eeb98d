//! What the main agent is to hear of sub-agents that the user continued: who, what was asked, how it ended.
//!
//! Whoever runs such an agent adds a note; the main agent takes the notes at its boundaries and before its turns. A short
//! lock. Always holds: at most [`limits::AGENT_NOTES`] wait, the newest.

use std::collections::VecDeque;
use std::sync::Mutex;

use crate::sync::lock;
use steersman_base::event::Outcome;
use steersman_base::id::AgentId;
use steersman_base::limits;

/// The end of a turn that the user gave a sub-agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentNote {
    /// The sub-agent.
    pub agent: AgentId,
    /// What the user asked of it first.
    pub asked: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Its answer (untrusted), or why there is none.
    pub answer: String,
}

/// The notes that the main agent has not heard yet.
#[derive(Debug, Default)]
pub struct AgentNotes(Mutex<VecDeque<AgentNote>>);

impl AgentNotes {
    /// Adds a note; the oldest gives way where there are too many.
    pub fn push(&self, note: AgentNote) {
        let mut notes = lock(&self.0);
        notes.push_back(note);
        if notes.len() > limits::AGENT_NOTES {
            notes.pop_front();
        }
    }

    /// Takes what this agent has not heard yet; only the main agent has sub-agents.
    pub fn take_notes(&self, reader: &AgentId) -> Vec<AgentNote> {
        if !reader.is_main() {
            return Vec::new();
        }
        lock(&self.0).drain(..).collect()
    }
}
