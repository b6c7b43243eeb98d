//! Which agents are paused, and where each waits.
//!
//! Fed by the replies to requests (an agent was paused, or goes on) and by the agents' events (one waits, or goes on).

use std::collections::HashMap;

use steersman_base::event::{Envelope, Event};
use steersman_base::id::{AgentId, CallId};
use steersman_base::protocol::{PausePlace, PauseState};

/// What is known of every pause.
#[derive(Debug, Clone, Default)]
pub struct Pauses {
    /// True while the whole tree is paused, also who comes later.
    all: bool,
    /// Agents of which something else holds.
    agents: HashMap<AgentId, bool>,
    waiting: HashMap<AgentId, PausePlace>,
}

/// An agent that waits, and where: what a decision is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingAgent {
    /// The agent.
    pub agent: AgentId,
    /// The call before which it waits; `None` at a boundary.
    pub call: Option<CallId>,
}

impl Pauses {
    /// Tells whether an agent is paused: it waits, or will where it next comes by.
    pub fn is_paused(&self, agent: &AgentId) -> bool {
        self.agents.get(agent).copied().unwrap_or(self.all)
    }

    /// Tells whether every agent is paused, also who comes later.
    pub fn are_all_paused(&self) -> bool {
        self.all && self.agents.values().all(|paused| *paused)
    }

    /// Returns where an agent waits; `None` while it runs.
    pub fn place(&self, agent: &AgentId) -> Option<&PausePlace> {
        self.waiting.get(agent)
    }

    /// Tells whether any agent waits.
    pub fn any_waits(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Returns who waits where, as a decision names it.
    pub fn waiting(&self, agent: &AgentId) -> Option<WaitingAgent> {
        let place = self.place(agent)?;
        Some(WaitingAgent { agent: agent.clone(), call: place.call().cloned() })
    }

    /// Notes that it was decided about an agent: it does not wait any more, though nobody has said so yet.
    pub fn decided(&mut self, agent: &AgentId) {
        self.waiting.remove(agent);
    }

    /// Notes that an agent, or every agent, was paused or goes on.
    pub fn set(&mut self, agent: Option<&AgentId>, state: PauseState) {
        let paused = state == PauseState::Paused;
        if let Some(agent) = agent {
            self.agents.insert(agent.clone(), paused);
        } else {
            self.all = paused;
            self.agents.clear();
        }
    }

    /// Forgets where agents waited that have ended.
    pub fn forget(&mut self, has_ended: impl Fn(&AgentId) -> bool) {
        self.waiting.retain(|agent, _| !has_ended(agent));
    }

    /// Applies one event.
    pub fn apply(&mut self, envelope: &Envelope) {
        match &envelope.event {
            Event::Paused { call } => {
                self.waiting.insert(envelope.agent.clone(), call.as_ref().into());
            }
            Event::Resumed { .. } | Event::TurnEnded { .. } => {
                self.waiting.remove(&envelope.agent);
            }
            Event::AgentFinished { child, .. } => {
                self.waiting.remove(child);
                self.agents.remove(child);
            }
            _ => {}
        }
    }
}
