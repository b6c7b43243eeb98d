//! The two pools of tools: the main agent's own, and those that only sub-agents get.
//!
//! The main agent reads private files, so nothing in its pool reaches the network unless the user says so; the agents that
//! do reach it see no files (fault S10). `steersman personas` prints the same pools.

use std::sync::Arc;

use crate::tool::{self, Calculator, Tool};
use crate::workspace::Workspace;

/// Holds the tools of a session.
#[derive(Clone, Default)]
pub struct Pools {
    /// On offer to the main agent; a persona may name them too.
    pub main: Vec<Arc<dyn Tool>>,
    /// Only for the personas that name them.
    pub sub_agents: Vec<Arc<dyn Tool>>,
}

impl Pools {
    /// Makes the tools for a workspace.
    pub fn new(workspace: &Arc<Workspace>) -> Self {
        let mut main = tool::file_tools(workspace);
        main.push(Arc::new(Calculator::new()));
        Self { main, sub_agents: Vec::new() }
    }

    /// Returns the tools of both pools, the main agent's first: what a persona can name.
    pub fn all(&self) -> Vec<Arc<dyn Tool>> {
        self.main.iter().chain(&self.sub_agents).cloned().collect()
    }
}
