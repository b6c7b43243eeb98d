//! Extensions: parts that add tools, prompt text and notes on each user message to an agent.
//!
//! `configure` runs inside `add_extension`, `bind` once at the end of the construction, `on_user_message` on each user
//! turn and each drained injection, `at_boundary` behind each batch of calls. The last three are futures of the agent: a
//! stop drops the two of a turn. Sub-agents do not inherit extensions.

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};

use crate::{Agent, Configurator};
use steersman_base::error::BuildError;
use steersman_base::event::Event;
use steersman_base::id::AgentId;
use steersman_core::listener::ListenerList;

/// An error that an extension returns.
pub type ExtensionError = Box<dyn std::error::Error + Send + Sync>;

/// A part that adds to an agent. Every hook does nothing by default.
///
/// ```
/// use futures_util::FutureExt;
/// use futures_util::future::BoxFuture;
/// use steersman_agent::{AgentContext, Extension, ExtensionError};
///
/// struct Notebook;
///
/// impl Extension for Notebook {
///     fn name(&self) -> &str {
///         "notebook"
///     }
///
///     fn on_user_message<'a>(
///         &'a self,
///         _: &'a AgentContext<'_>,
///         content: &'a str,
///     ) -> BoxFuture<'a, Result<Option<String>, ExtensionError>> {
///         async move { Ok(content.contains("notebook").then(|| "The notebook is empty.".to_owned())) }.boxed()
///     }
/// }
/// ```
pub trait Extension: Send + Sync {
    /// Returns the name, for logs and for the extension's events.
    fn name(&self) -> &str;

    /// Adds tools, listeners, prompt text. Arm clean-up with `on_close` first, then do what can fail.
    ///
    /// # Errors
    /// Any error ends the construction; what was armed is cleaned up and the same error is returned.
    fn configure(&self, configurator: &mut Configurator) -> Result<(), BuildError> {
        let _ = configurator;
        Ok(())
    }

    /// Attaches the extension to the finished agent.
    ///
    /// # Errors
    /// As [`Extension::configure`].
    fn bind<'a>(&'a self, agent: &'a mut Agent) -> BoxFuture<'a, Result<(), BuildError>> {
        let _ = agent;
        ready(Ok(())).boxed()
    }

    /// Looks at a user message; a returned text is appended after it as a system message. A stop drops it.
    ///
    /// # Errors
    /// Ends the turn: a [`steersman_base::error::Cancelled`] inside as cancelled, anything else as failed.
    fn on_user_message<'a>(
        &'a self,
        context: &'a AgentContext<'_>,
        content: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, ExtensionError>> {
        let _ = (context, content);
        ready(Ok(None)).boxed()
    }

    /// Returns what the model is to know behind the results of a batch of calls; it enters as a system message. A stop
    /// drops it.
    fn at_boundary<'a>(&'a self, context: &'a AgentContext<'_>) -> BoxFuture<'a, Option<BoundaryNote>> {
        let _ = context;
        ready(None).boxed()
    }

    /// Forgets what belongs to the conversation, which [`Agent::reset`] has emptied.
    fn on_reset(&self) {}
}

/// A text that an extension adds behind the results of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundaryNote {
    /// What the model gets.
    pub text: String,
    /// What the user is told of it, one sentence.
    pub notice: String,
}

/// The part of a running agent that an extension can use.
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
