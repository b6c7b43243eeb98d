//! The main agent gets notes on sub-agents that no call waits for, at a boundary and before a turn: those that work in the
//! background, and those that the user continued.
//!
//! Called by `run_loop`. Always holds: a note is a message of its own, in a frame that says that the program tells it and
//! not the user; it never stands between a call and its result; an answer that the agent was promised can start a turn.

use crate::Agent;
use steersman_base::event::Event;
use steersman_base::message::{AgentReport, UserAbout};
use steersman_core::control::AgentNote;
use steersman_core::wrapper::agent_note;

impl Agent {
    /// Tells whether an answer of a sub-agent in the background waits for this agent: [`Agent::run_answers`] takes it up.
    pub fn has_answers(&self) -> bool {
        self.id.is_main() && self.tree.agent_notes.starts_turn()
    }

    /// Takes over an answer that came in an earlier process and did not reach the conversation: it goes with the next text.
    pub fn resume_answer(&self, note: AgentNote) {
        self.tree.agent_notes.push(AgentNote { starts_turn: false, ..note });
    }

    /// Puts what such sub-agents have done into the conversation.
    pub(super) fn deliver_agent_notes(&mut self) {
        let notes = self.tree.agent_notes.take_notes(&self.id);
        for note in &notes {
            let report = AgentReport { agent: note.agent.clone() };
            self.history.push_user_about(agent_note(note), Vec::new(), UserAbout::Agent(report));
        }
        if notes.is_empty() {
            return;
        }
        // First: after a kill between the two the conversation has the answers, and nobody hears them twice.
        self.notify_history();
        for AgentNote { agent, outcome, answer, .. } in notes.into_iter().filter(AgentNote::is_answer) {
            self.listeners.emit(Event::AgentAnswered { child: agent, outcome, answer });
        }
    }
}
