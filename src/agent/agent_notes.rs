//! The main agent gets notes on sub-agents that the user continued, at a boundary and before a turn.
//!
//! Called by `run_loop`. Always holds: a note is a message of its own, in a frame that says that the program tells it and
//! not the user; it never stands between a call and its result, and no note starts a turn.

use crate::Agent;
use steersman_base::message::{AgentReport, UserAbout};
use steersman_core::wrapper::agent_note;

impl Agent {
    /// Puts what the user had sub-agents do into the conversation.
    pub(super) fn deliver_agent_notes(&mut self) {
        let notes = self.tree.agent_notes.take_notes(&self.id);
        for note in &notes {
            let report = AgentReport { agent: note.agent.clone() };
            self.history.push_user_about(agent_note(note), Vec::new(), UserAbout::Agent(report));
        }
        if !notes.is_empty() {
            self.notify_history();
        }
    }
}
