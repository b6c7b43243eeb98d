//! The conversations of finished sub-agents, as far as they are kept so that they can go on.
//!
//! Filled by the `agent` tool when a child ends, and out of a journal. Always holds: number and bytes are limited, those of
//! the conversations and those of the directories; the oldest give way.

use std::collections::VecDeque;

use crate::Agent;
use crate::subagent::temp_workspace::Workshop;
use steersman_base::id::AgentId;
use steersman_base::limits;
use steersman_base::message::Message;
use steersman_core::approval::Taint;

/// A finished sub-agent.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedAgent {
    /// Its name.
    pub id: AgentId,
    /// The name of its persona.
    pub persona: String,
    /// Its conversation.
    pub messages: Vec<Message>,
    /// The turns that it has had.
    pub turns: u32,
    /// What its conversation holds.
    pub(super) taint: Taint,
    /// Its own directory, where its persona has one.
    pub(super) workshop: Option<Workshop>,
    /// What that directory takes.
    workshop_bytes: u64,
    bytes: usize,
}

impl FinishedAgent {
    /// Keeps what an agent needs to go on.
    pub(super) fn new(agent: &Agent, persona: &str, taint: Taint, workshop: Option<Workshop>) -> Self {
        let messages = agent.history().messages().to_vec();
        let recorded = Self::recorded(agent.id().clone(), persona.to_owned(), messages, agent.turns());
        let workshop_bytes = workshop.as_ref().map_or(0, Workshop::bytes);
        Self { taint, workshop, workshop_bytes, ..recorded }
    }

    /// Makes an agent out of a journal. What its conversation holds is not on record, so the worst counts; its directory is
    /// gone.
    pub fn recorded(id: AgentId, persona: String, messages: Vec<Message>, turns: u32) -> Self {
        let bytes = serde_json::to_vec(&messages).map_or(usize::MAX, |written| written.len());
        let taint = Taint { private: true, untrusted: true };
        Self { id, persona, messages, turns, taint, workshop: None, workshop_bytes: 0, bytes }
    }
}

/// Finished sub-agents in the order in which they ended.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FinishedAgents(VecDeque<FinishedAgent>);

impl FinishedAgents {
    /// Keeps a finished agent, unless it alone is too large; the oldest give way.
    pub fn keep(&mut self, agent: FinishedAgent) {
        self.0.retain(|other| other.id != agent.id);
        if agent.bytes > limits::KEPT_AGENT_BYTES {
            return;
        }
        self.0.push_back(agent);
        while self.0.len() > limits::KEPT_AGENTS || self.bytes() > limits::KEPT_AGENT_BYTES {
            self.0.pop_front();
        }
        self.delete_oldest_workshops();
    }

    /// Deletes the directories of those that ended first, as far as all together take too much; their conversations can
    /// still go on.
    fn delete_oldest_workshops(&mut self) {
        let mut bytes = self.0.iter().fold(0, |sum: u64, agent| sum.saturating_add(agent.workshop_bytes));
        for agent in &mut self.0 {
            if bytes <= limits::KEPT_WORKSPACE_BYTES {
                return;
            }
            if let Some(workshop) = agent.workshop.take() {
                workshop.delete();
            }
            bytes -= std::mem::take(&mut agent.workshop_bytes);
        }
    }

    /// Changes each message of each conversation.
    pub fn change_messages(&mut self, change: impl FnMut(&mut Message)) {
        self.0.iter_mut().flat_map(|agent| &mut agent.messages).for_each(change);
    }

    /// Takes an agent that goes on.
    pub fn take_agent(&mut self, id: &AgentId) -> Option<FinishedAgent> {
        let place = self.0.iter().position(|agent| agent.id == *id)?;
        self.0.remove(place)
    }

    /// Returns their names, the one that ended first at the front.
    pub fn ids(&self) -> Vec<AgentId> {
        self.0.iter().map(|agent| agent.id.clone()).collect()
    }

    /// Leaves out those whose personas are not there (any more).
    pub(super) fn retain(&mut self, is_there: impl Fn(&str) -> bool) {
        self.0.retain(|agent| is_there(&agent.persona));
    }

    fn bytes(&self) -> usize {
        self.0.iter().fold(0, |sum, agent| sum.saturating_add(agent.bytes))
    }
}
