//! Which agents take texts.

use super::tree::{Node, Tree};
use crate::id::AgentId;

impl Tree {
    /// Tells whether an agent takes texts now.
    pub fn takes_texts(&self, agent: &AgentId) -> bool {
        agent.is_main() || self.get(agent).is_some_and(told)
    }
}

/// Tells whether an agent runs and takes messages.
pub fn told(node: &Node) -> bool {
    node.running() && can_be_told(node)
}

/// Tells whether an agent takes messages: a rescue has no queue.
pub fn can_be_told(node: &Node) -> bool {
    node.parent.as_ref().is_none_or(|parent| parent.synthesizer() != node.id)
}
