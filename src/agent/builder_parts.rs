//! What a user of the library adds to an agent without a block: tools, listeners, extensions, controls, an earlier
//! conversation.
//!
//! Parts are added in their order, before the block of `build` runs.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::{Agent, AgentBuilder, Configurator, Extension};
use steersman_base::error::BuildError;
use steersman_base::message::{Message, UserAbout};
use steersman_core::control::{AgentControls, Controls};
use steersman_core::listener::Listener;
use steersman_core::tool::Tool;

/// A part that waits for the construction.
pub(super) enum BuilderPart {
    Tool(Arc<dyn Tool>),
    SubAgentTool(Arc<dyn Tool>),
    OnClose(Box<dyn FnOnce() + Send>),
    Listener(Arc<dyn Listener>),
    Extension(Arc<dyn Extension>),
}

impl BuilderPart {
    pub(super) fn add_to(self, configurator: &mut Configurator) -> Result<(), BuildError> {
        match self {
            Self::Tool(tool) => configurator.add_tool(tool),
            Self::SubAgentTool(tool) => configurator.add_sub_agent_tool(tool),
            Self::OnClose(handler) => {
                configurator.on_close(handler);
                Ok(())
            }
            Self::Listener(listener) => {
                configurator.add_listener(listener);
                Ok(())
            }
            Self::Extension(extension) => configurator.add_extension(extension),
        }
    }
}

impl AgentBuilder {
    /// Adds a tool that the model can call and that sub-agents may be given.
    pub fn tool(mut self, tool: impl Tool + 'static) -> Self {
        self.parts.push(BuilderPart::Tool(Arc::new(tool)));
        self
    }

    /// Adds several tools, in order.
    pub fn tools(mut self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        self.parts.extend(tools.into_iter().map(BuilderPart::Tool));
        self
    }

    /// Adds a tool for sub-agents only, as [`Configurator::add_sub_agent_tool`] does: an agent that reads private files thus
    /// gets no network access.
    ///
    /// ```
    /// use steersman_agent::Agent;
    /// use steersman_agent::subagent::{Persona, SubAgents};
    /// use steersman_core::provider::ScriptedProvider;
    /// use steersman_core::tool::{FnTool, Parameters};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let fetch = FnTool::new("fetch", "Fetches.", Parameters::default(), |_, _| async { Ok("a page") });
    /// let scout = Persona::new("scout", "Looks things up.", "You look things up.").tools(["fetch"]);
    /// let builder = Agent::with_provider(ScriptedProvider::default(), "You lead.").sub_agent_tool(fetch);
    /// let agent = builder.extension(SubAgents::new([scout])?).on_close(|| println!("closed")).await?;
    /// assert!(agent.tools().is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn sub_agent_tool(mut self, tool: impl Tool + 'static) -> Self {
        self.parts.push(BuilderPart::SubAgentTool(Arc::new(tool)));
        self
    }

    /// Adds a clean-up handler, as [`Configurator::on_close`] does: it also runs when the construction fails behind it.
    pub fn on_close(mut self, handler: impl FnOnce() + Send + 'static) -> Self {
        self.parts.push(BuilderPart::OnClose(Box::new(handler)));
        self
    }

    /// Adds a listener, or an [`Arc`] of one that is asked afterwards.
    pub fn listener(mut self, listener: impl Listener + 'static) -> Self {
        self.parts.push(BuilderPart::Listener(Arc::new(listener)));
        self
    }

    /// Adds an extension. Add the tools that it looks for first.
    pub fn extension(mut self, extension: impl Extension + 'static) -> Self {
        self.parts.push(BuilderPart::Extension(Arc::new(extension)));
        self
    }

    /// Sets the queue, the cancel flag and the gate through which the agent is steered while it runs.
    pub fn controls(self, controls: Controls) -> Self {
        let Controls { interloper, cancellable, gate } = controls;
        self.interloper(interloper).cancellable(cancellable).gate(gate)
    }

    /// Sets the agent controls: the main ones are those of this agent, and each sub-agent becomes a member of it, through which
    /// it is steered by itself.
    pub fn agent_controls(mut self, agent_controls: Arc<AgentControls>) -> Self {
        let main = agent_controls.main();
        self.handles.agent_controls = Some(agent_controls);
        self.controls(main)
    }

    /// The earlier name of [`AgentBuilder::agent_controls`].
    pub fn crew(self, agent_controls: Arc<AgentControls>) -> Self {
        self.agent_controls(agent_controls)
    }

    /// Makes sure that there are agent controls, around the controls that were set, and returns them.
    pub fn with_agent_controls(self) -> (Self, Arc<AgentControls>) {
        if let Some(agent_controls) = self.handles.agent_controls.clone() {
            return (self, agent_controls);
        }
        let handles = &self.handles;
        let agent_controls = Arc::new(AgentControls::new(Controls {
            interloper: handles.interloper.clone().unwrap_or_default(),
            cancellable: handles.cancellable.clone().unwrap_or_default(),
            gate: handles.gate.clone().unwrap_or_default(),
        }));
        (self.agent_controls(Arc::clone(&agent_controls)), agent_controls)
    }

    /// Sets the conversation that the agent goes on with. A call without a result gets that of an interrupted one, so
    /// that the history can be sent. A system prompt that it begins with is replaced by this agent's own.
    pub fn history(mut self, messages: impl IntoIterator<Item = Message>) -> Self {
        self.history = messages.into_iter().collect();
        self
    }
}

impl IntoFuture for AgentBuilder {
    type Output = Result<Agent, BuildError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        self.build(|_| Ok(())).boxed()
    }
}

/// Returns how many turns a conversation has had.
pub(super) fn turns_of(messages: &[Message]) -> u32 {
    let turn = |message: &Message| match message {
        Message::User { about: Some(about), .. } => {
            if let UserAbout::Text(text) = about.as_ref() {
                Some(text.turn.max(1))
            } else {
                None
            }
        }
        Message::User { about: None, .. } => Some(1),
        Message::System { .. } | Message::Assistant(_) | Message::Tool { .. } => None,
    };
    messages.iter().filter_map(turn).max().unwrap_or(0)
}
