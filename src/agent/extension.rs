//! Extensions: parts that add tools, prompt text and per-message words to an agent (seed: `Pikuri::Agent::Extension`).
//!
//! `configure` runs inside `add_extension`, `bind` once at the end of the construction, `on_user_message` on each user
//! turn and each drained injection. Sub-agents do not inherit extensions.

use crate::agent::{Agent, Configurator};
use crate::error::BuildError;
use crate::event::Event;
use crate::id::AgentId;
use crate::listener::ListenerList;

/// Is the error of an extension's own making.
pub type ExtensionError = Box<dyn std::error::Error + Send + Sync>;

/// Adds to an agent. Every hook does nothing unless written.
pub trait Extension: Send + Sync {
    /// Returns its name, for logs and for its events.
    fn name(&self) -> &str;

    /// Adds tools, listeners, prompt text. Arm clean-up with `on_close` first, then do what can fail.
    ///
    /// # Errors
    /// Any error ends the construction; what was armed is cleaned up and the same error is returned.
    fn configure(&self, configurator: &mut Configurator) -> Result<(), BuildError> {
        let _ = configurator;
        Ok(())
    }

    /// Ties itself to the finished agent.
    ///
    /// # Errors
    /// As [`Extension::configure`].
    fn bind(&self, agent: &mut Agent) -> Result<(), BuildError> {
        let _ = agent;
        Ok(())
    }

    /// Looks at a user message; a returned text is appended behind it as a system message.
    ///
    /// # Errors
    /// Ends the turn: a [`crate::error::Cancelled`] inside as cancelled, anything else as failed.
    fn on_user_message(&self, context: &AgentContext<'_>, content: &str) -> Result<Option<String>, ExtensionError> {
        let _ = (context, content);
        Ok(None)
    }
}

/// Is what an extension sees of a running agent.
pub struct AgentContext<'a> {
    pub(crate) listeners: &'a ListenerList,
    pub(crate) extension: &'a str,
    pub(crate) context_window_cap: Option<u64>,
}

impl AgentContext<'_> {
    /// Returns the agent's id.
    pub fn id(&self) -> &AgentId {
        self.listeners.agent()
    }

    /// Returns the context window in tokens, when it is known.
    pub fn context_window_cap(&self) -> Option<u64> {
        self.context_window_cap
    }

    /// Emits an event of the extension's own.
    pub fn emit(&self, payload: serde_json::Value) {
        self.listeners.emit(Event::Extension { name: self.extension.to_owned(), payload });
    }
}
