//! The extension that gives an agent its sub-agents: it checks the personas, writes `<available_agents>` and adds
//! the tool.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};

use crate::subagent::{Continuations, Persona, SubAgentTool};
use crate::{Agent, Configurator, Extension};
use steersman_base::error::BuildError;
use steersman_base::steering::AgentsGiveWay;
use steersman_core::control::AgentControls;
use steersman_core::tool::{Outputs, ToolScope, ToolSource, WITHOUT};

/// The extension that adds the `agent` tool for its personas. Add their tools first: it checks that they are there.
///
/// Example: "A sub-agent" in the documentation of `steersman::prelude`.
pub struct SubAgents {
    personas: Vec<Persona>,
    numbers: HashMap<String, u64>,
    parts: ChildParts,
    /// Which tools of the source the parent has.
    scope: ToolScope,
}

/// What children have beside the parts of their parent.
#[derive(Clone, Default)]
pub(super) struct ChildParts {
    /// Gives each child a queue, a cancel flag and a gate of its own (D21).
    pub agent_controls: Option<Arc<AgentControls>>,
    /// Where an answer that is too long for the spawner is stored whole.
    pub outputs: Option<Arc<Outputs>>,
    /// Where the tools come from that are not known when an agent is built.
    pub source: Option<Arc<dyn ToolSource>>,
    /// Where the conversations of finished children are kept.
    pub continuations: Arc<Continuations>,
    /// Which texts for the spawner end the wait of its calls before their agents have ended.
    pub give_way: AgentsGiveWay,
    /// How many children work at the same time; `None` for the usual number.
    pub at_once: Option<usize>,
}

impl SubAgents {
    /// Takes the personas, in the order in which the model sees them.
    ///
    /// # Errors
    /// An argument error when one could not be read from a file as it is, or two have the same name.
    pub fn new(personas: impl IntoIterator<Item = Persona>) -> Result<Self, BuildError> {
        let personas: Vec<Persona> = personas.into_iter().collect();
        Persona::check_all(&personas)?;
        Ok(Self { personas, numbers: HashMap::new(), parts: ChildParts::default(), scope: ToolScope::Main })
    }

    /// Gives each child a queue, a cancel flag and a gate of its own, through which a host can steer it (D21). Without it
    /// the agent controls of the spawner is taken, if it has one.
    #[must_use]
    pub fn agent_controls(mut self, agent_controls: Arc<AgentControls>) -> Self {
        self.parts.agent_controls = Some(agent_controls);
        self
    }

    /// Sets the next number of each persona that was used before.
    #[must_use]
    pub fn numbers(mut self, numbers: HashMap<String, u64>) -> Self {
        self.numbers = numbers;
        self
    }

    /// Sets where the conversations of finished sub-agents are kept, from which a host continues them.
    #[must_use]
    pub fn continuations(mut self, continuations: Arc<Continuations>) -> Self {
        self.parts.continuations = continuations;
        self
    }

    /// Sets where the tools come from that are not known when an agent is built.
    #[must_use]
    pub fn source(mut self, source: Option<Arc<dyn ToolSource>>) -> Self {
        self.parts.source = source;
        self
    }

    /// Sets which tools of the source the parent has itself, which personas may inherit: all that are for it, unless this
    /// says otherwise.
    #[must_use]
    pub fn scope(mut self, scope: ToolScope) -> Self {
        self.scope = scope;
        self
    }

    /// Sets which texts for the spawner end the wait of its calls before their agents have ended: every text that is due,
    /// unless this says otherwise. Only a host that runs what goes on ([`Continuations::attend`]) can end one.
    #[must_use]
    pub fn agents_give_way(mut self, when: AgentsGiveWay) -> Self {
        self.parts.give_way = when;
        self
    }

    /// Sets how many children work at the same time, at least one; more wait for their turn.
    #[must_use]
    pub fn at_once(mut self, count: usize) -> Self {
        self.parts.at_once = Some(count.max(1));
        self
    }

    /// Sets where an answer that is too long for the spawner is stored whole.
    #[must_use]
    pub fn outputs(mut self, outputs: Option<Arc<Outputs>>) -> Self {
        self.parts.outputs = outputs;
        self
    }
}

/// Writes the part of the system prompt that lists the personas.
pub fn available_agents_snippet(personas: &[Persona]) -> String {
    let bullet = |persona: &Persona| format!("- `{}` — {}", persona.name, persona.description);
    let bullets: Vec<String> = personas.iter().map(bullet).collect();
    format!(
        "<available_agents>\nThe `agent` tool delegates a self-contained task to a fresh agent. Pick one of these by \
         `name:`:\n\n{}\n</available_agents>",
        bullets.join("\n")
    )
}

impl Extension for SubAgents {
    fn name(&self) -> &'static str {
        "sub_agents"
    }

    fn configure(&self, configurator: &mut Configurator) -> Result<(), BuildError> {
        let tools = configurator.tools().iter().chain(configurator.sub_agent_tools());
        let available: Vec<&str> = tools.map(|tool| tool.name()).collect();
        for persona in &self.personas {
            let is_foreign = |name: &&&str| self.parts.source.as_ref().is_some_and(|source| source.knows(name));
            if let Some(missing) = persona.missing_tools(&available).iter().find(|name| !is_foreign(name)) {
                let name = &persona.name;
                return Err(BuildError::argument(format!(
                    "the persona '{name}' needs the tool '{missing}', which is not registered"
                )));
            }
        }
        if !self.personas.is_empty() {
            configurator.append_system_prompt(available_agents_snippet(&self.personas));
        }
        Ok(())
    }

    fn bind<'a>(&'a self, agent: &'a mut Agent) -> BoxFuture<'a, Result<(), BuildError>> {
        ready(self.add_tool(agent)).boxed()
    }

    fn on_reset(&self) {
        self.parts.continuations.clear();
    }
}

impl SubAgents {
    fn add_tool(&self, agent: &mut Agent) -> Result<(), BuildError> {
        if self.personas.is_empty() {
            return Ok(());
        }
        let of_servers = match (&self.parts.source, &self.scope) {
            (None, _) => Vec::new(),
            (Some(source), ToolScope::Main) => source.names_of_main(),
            (Some(source), ToolScope::Named(names)) => {
                names.iter().filter(|name| name.starts_with(WITHOUT) || source.knows(name)).cloned().collect()
            }
        };
        let mut parts = self.parts.clone();
        parts.agent_controls = parts.agent_controls.or_else(|| agent.agent_controls().cloned());
        let (personas, numbers) = (self.personas.clone(), self.numbers.clone());
        let tool = Arc::new(SubAgentTool::inheriting(agent, personas, &of_servers, numbers, parts)?);
        self.parts.continuations.run_by(&tool);
        agent.internal_add_tool(tool)
    }
}
