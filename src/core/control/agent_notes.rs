//! What the main agent is to hear of sub-agents that no call of its waits for: who, what was asked, how it ended.
//!
//! Whoever runs such an agent adds a note; the main agent takes the notes at its boundaries and before its turns. A short
//! lock. Always holds: of agents that the user continued at most [`limits::AGENT_NOTES`] notes wait, the newest; an answer of
//! an agent in the background is never dropped.

use std::collections::VecDeque;
use std::sync::Mutex;

use crate::sync::lock;
use steersman_base::event::Outcome;
use steersman_base::id::AgentId;
use steersman_base::limits;

/// The end of a sub-agent that no call waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentNote {
    /// The sub-agent.
    pub agent: AgentId,
    /// Why it worked.
    pub cause: ReportCause,
    /// How it ended.
    pub outcome: Outcome,
    /// Its answer (untrusted), or why there is none.
    pub answer: String,
    /// Whether it starts a turn of an idle agent.
    pub starts_turn: bool,
}

/// Why a sub-agent worked that no call waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReportCause {
    /// The user let it go on.
    Continued {
        /// What the user asked of it first.
        asked: String,
    },
    /// The main agent started it, and did not wait for it.
    Background {
        /// Its task.
        task: String,
        /// How long it worked, milliseconds; `None` where that is not known.
        elapsed_ms: Option<u64>,
    },
}

impl AgentNote {
    /// Tells whether it is the answer that the main agent was promised.
    pub fn is_answer(&self) -> bool {
        matches!(self.cause, ReportCause::Background { .. })
    }
}

/// The notes that the main agent has not heard yet.
#[derive(Debug, Default)]
pub struct AgentNotes(Mutex<VecDeque<AgentNote>>);

impl AgentNotes {
    /// Adds a note; the oldest gives way where there are too many.
    pub fn push(&self, note: AgentNote) {
        let mut notes = lock(&self.0);
        notes.push_back(note);
        let of_user = |note: &AgentNote| !note.is_answer();
        if notes.iter().filter(|note| of_user(note)).count() > limits::AGENT_NOTES
            && let Some(oldest) = notes.iter().position(of_user)
        {
            notes.remove(oldest);
        }
    }

    /// Tells whether a note waits that starts a turn of the main agent.
    pub fn starts_turn(&self) -> bool {
        lock(&self.0).iter().any(|note| note.starts_turn)
    }

    /// Takes what this agent has not heard yet; only the main agent has sub-agents.
    pub fn take_notes(&self, reader: &AgentId) -> Vec<AgentNote> {
        if !reader.is_main() {
            return Vec::new();
        }
        lock(&self.0).drain(..).collect()
    }
}
