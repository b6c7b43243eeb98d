//! The two pools of tools: the main agent's own, and those that only sub-agents get.
//!
//! The main agent reads private files, so nothing in its pool reaches the network unless the user says so; the agents that
//! do reach it see no files. `steersman personas` prints the same pools.

use std::path::PathBuf;
use std::sync::Arc;

use steersman_base::error::BuildError;
use steersman_core::control::Plans;
use steersman_core::tool::{Outputs, Tool, ToolSource};
use steersman_tools::web;
use steersman_tools::workspace::{Confinement, Spawner, Workspace};
use steersman_tools::{AskBeside, AskUserTool, BashTool, Calculator, GitCloneTool, PlanTool};

/// What tools work with besides the workspace.
#[derive(Clone)]
pub struct Workbench {
    /// Starts commands.
    pub spawner: Arc<Spawner>,
    /// What commands reach besides the workspace.
    pub confinement: Confinement,
    /// Where other tools read and change files besides the workspace; real and absolute.
    pub added: Vec<PathBuf>,
    /// How the web is reached.
    pub web: web::WebOptions,
    /// Who has the tools that reach it.
    pub web_pool: WebPool,
}

/// Who has the tools that reach the web.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WebPool {
    /// Sub-agents only, which see no files.
    #[default]
    SubAgents,
    /// The main agent too.
    Main,
}

/// The tools of a session.
#[derive(Clone, Default)]
pub struct Pools {
    /// On offer to the main agent; a persona may name them too.
    pub main: Vec<Arc<dyn Tool>>,
    /// Only for the personas that name them.
    pub sub_agents: Vec<Arc<dyn Tool>>,
    /// Where long outputs and answers go whole.
    pub outputs: Option<Arc<Outputs>>,
}

impl Pools {
    /// Makes the tools for a workspace, which gets the whole outputs of commands to read. Questions to the user stay open
    /// beside the work of their agents where there is something that keeps them.
    ///
    /// # Errors
    /// When the directory for these outputs cannot be made, or a setting of the web is wrong.
    pub fn new(
        workspace: Workspace,
        bench: &Workbench,
        plans: &Arc<Plans>,
        questions: Option<Arc<dyn AskBeside>>,
    ) -> Result<Self, BuildError> {
        let failed = |error: std::io::Error| {
            BuildError::Extension(format!("no directory for the output of commands: {error}").into())
        };
        let temporary = std::env::temp_dir();
        // Most commands need no place for their output; one that does says why there is none.
        let outputs = Outputs::new(&temporary).unwrap_or_else(|error| {
            Outputs::without(format!("no directory for it in {} (TMPDIR): {error}", temporary.display()))
        });
        let outputs = Arc::new(outputs);
        let workspace = Arc::new(
            workspace
                .with_readable(outputs.path())
                .and_then(|workspace| workspace.with_added(&bench.added))
                .map_err(failed)?,
        );
        let mut main = steersman_tools::file_tools(&workspace);
        main.push(Arc::new(Calculator::new()));
        main.push(Arc::new(PlanTool::new(Arc::clone(plans))));
        main.push(Arc::new(AskUserTool::new(questions)));
        main.extend(steersman_tools::change_tools(&workspace));
        let bash = BashTool::new(
            Arc::clone(&workspace),
            Arc::clone(&bench.spawner),
            Arc::clone(&outputs),
            bench.confinement.clone(),
        );
        let traits = bash.spec().traits;
        main.push(Arc::new(bash));
        main.extend(steersman_tools::job_tools(traits));
        let mut sub_agents = Vec::new();
        let web = web_tools(&workspace, bench)?;
        match bench.web_pool {
            WebPool::SubAgents => sub_agents.extend(web),
            WebPool::Main => main.extend(web),
        }
        Ok(Self { main, sub_agents, outputs: Some(outputs) })
    }

    /// Leaves the main agent only the tools of these names; those of servers, which `foreign` knows, are left to it.
    ///
    /// # Errors
    /// [`BuildError::Argument`] for a name that no tool has.
    pub fn keep_only(&mut self, only: &[String], foreign: &dyn ToolSource) -> Result<(), BuildError> {
        let is_known = |name: &&String| {
            *name == "agent" || self.main.iter().any(|tool| tool.name() == *name) || foreign.knows(name)
        };
        if let Some(name) = only.iter().find(|name| !is_known(name)) {
            return Err(BuildError::argument(format!("there is no tool {name}")));
        }
        self.main.retain(|tool| only.iter().any(|name| name == tool.name()));
        Ok(())
    }

    /// Returns the tools of both pools, the main agent's first: what a persona can name.
    pub fn all(&self) -> Vec<Arc<dyn Tool>> {
        self.main.iter().chain(&self.sub_agents).cloned().collect()
    }
}

/// Makes the tools that reach the network. A clone goes into the workspace of the agent that makes it.
fn web_tools(workspace: &Arc<Workspace>, bench: &Workbench) -> Result<Vec<Arc<dyn Tool>>, BuildError> {
    let mut tools = steersman_tools::web_tools(&bench.web, Some(&bench.spawner))?;
    let client = web::Client::new(&bench.web).map_err(BuildError::argument)?;
    tools.push(Arc::new(GitCloneTool::new(Arc::clone(workspace), Arc::clone(&bench.spawner), client)));
    Ok(tools)
}
