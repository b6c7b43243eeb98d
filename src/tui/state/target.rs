//! Whom the next message goes to.

use super::App;
use super::tree::Node;
use crate::id::AgentId;

impl App {
    /// Returns the agent that a message goes to: the one whose transcript is shown when it runs, else the main agent.
    pub fn target(&self) -> AgentId {
        match self.tree.get(self.tree.selected()) {
            Some(node) if node.running() && !is_rescue(node) => node.id.clone(),
            _ => AgentId::main(),
        }
    }
}

/// A rescue has no queue: nothing can be said to it.
fn is_rescue(node: &Node) -> bool {
    node.parent.as_ref().is_some_and(|parent| parent.synthesizer() == node.id)
}
