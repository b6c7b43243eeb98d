//! An extension made of parts and closures, as [`FnTool`](steersman_core::tool::FnTool) is a tool.
//!
//! For hosts with a small extension of their own. One with clean-up, listeners or more to look at is a type that
//! implements [`Extension`].

use std::future::Future;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};

use crate::{AgentContext, BoundaryNote, Configurator, Extension, ExtensionError};
use steersman_base::error::BuildError;
use steersman_core::tool::Tool;

type OnUserMessage = Box<dyn Fn(String) -> BoxFuture<'static, Result<Option<String>, ExtensionError>> + Send + Sync>;
type AtBoundary = Box<dyn Fn() -> BoxFuture<'static, Option<BoundaryNote>> + Send + Sync>;

/// An extension out of a name, a part of the system prompt, tools and async closures.
///
/// ```
/// use steersman_agent::{Agent, FnExtension};
/// use steersman_core::provider::{Played, ScriptedProvider};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let calendar = FnExtension::new("calendar")
///     .system_prompt("You know what day it is.")
///     .on_user_message(|_| async { Ok(Some("It is Monday.".to_owned())) });
/// let model = ScriptedProvider::new([Played::text("Monday.")]);
/// let mut agent = Agent::with_provider(model, "Be brief.").extension(calendar).await?;
/// assert_eq!(agent.ask("What day is it?").await?, "Monday.");
/// # Ok(())
/// # }
/// ```
pub struct FnExtension {
    name: String,
    system_prompt: Option<String>,
    tools: Vec<Arc<dyn Tool>>,
    on_user_message: Option<OnUserMessage>,
    at_boundary: Option<AtBoundary>,
}

impl FnExtension {
    /// Makes an extension that does nothing yet; see the setters.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), system_prompt: None, tools: Vec::new(), on_user_message: None, at_boundary: None }
    }

    /// Sets what is appended to the system prompt, after a blank line.
    #[must_use]
    pub fn system_prompt(mut self, snippet: impl Into<String>) -> Self {
        self.system_prompt = Some(snippet.into());
        self
    }

    /// Adds a tool that the model can call.
    #[must_use]
    pub fn tool(mut self, tool: impl Tool + 'static) -> Self {
        self.tools.push(Arc::new(tool));
        self
    }

    /// Sets what looks at each user message, as [`Extension::on_user_message`] does: a returned text enters the conversation
    /// behind the message.
    #[must_use]
    pub fn on_user_message<F, R>(mut self, hook: F) -> Self
    where
        F: Fn(String) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Option<String>, ExtensionError>> + Send + 'static,
    {
        self.on_user_message = Some(Box::new(move |content| hook(content).boxed()));
        self
    }

    /// Sets what the model gets to know behind each batch of calls, as [`Extension::at_boundary`] does.
    #[must_use]
    pub fn at_boundary<F, R>(mut self, hook: F) -> Self
    where
        F: Fn() -> R + Send + Sync + 'static,
        R: Future<Output = Option<BoundaryNote>> + Send + 'static,
    {
        self.at_boundary = Some(Box::new(move || hook().boxed()));
        self
    }
}

impl Extension for FnExtension {
    fn name(&self) -> &str {
        &self.name
    }

    fn configure(&self, configurator: &mut Configurator) -> Result<(), BuildError> {
        if let Some(snippet) = &self.system_prompt {
            configurator.append_system_prompt(snippet);
        }
        configurator.add_tools(self.tools.iter().cloned())
    }

    fn on_user_message<'a>(
        &'a self,
        _: &'a AgentContext<'_>,
        content: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, ExtensionError>> {
        self.on_user_message.as_ref().map_or_else(|| ready(Ok(None)).boxed(), |hook| hook(content.to_owned()))
    }

    fn at_boundary<'a>(&'a self, _: &'a AgentContext<'_>) -> BoxFuture<'a, Option<BoundaryNote>> {
        self.at_boundary.as_ref().map_or_else(|| ready(None).boxed(), |hook| hook())
    }
}
