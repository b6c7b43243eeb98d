//! What a user of the library adds to an agent without a block: tools, listeners, extensions, controls, an earlier
//! conversation.
//!
//! Parts are added in their order, before the block of `build` runs.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::agent::{Agent, AgentBuilder, Configurator, Extension};
use crate::control::Controls;
use crate::error::BuildError;
use crate::listener::Listener;
use crate::message::{Message, UserAbout};
use crate::tool::Tool;

/// A part that waits for the construction.
pub(super) enum BuilderPart {
    Tool(Arc<dyn Tool>),
    Listener(Arc<dyn Listener>),
    Extension(Arc<dyn Extension>),
}

impl BuilderPart {
    pub(super) fn add_to(self, configurator: &mut Configurator) -> Result<(), BuildError> {
        match self {
            Self::Tool(tool) => configurator.add_tool(tool),
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

    /// Adds a listener.
    pub fn listener(mut self, listener: Arc<dyn Listener>) -> Self {
        self.parts.push(BuilderPart::Listener(listener));
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

    /// Sets the conversation that the agent goes on with. A call without a result gets that of an interrupted one, so
    /// that the history can be sent.
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
