//! A tool made of a closure (the seed's `Tool.new(name:, description:, parameters:, execute:)`).
//!
//! For hosts with a small tool of their own, and for tests. A tool with state or a workspace is a type of its own.

use std::future::Future;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::tool::{Args, Concurrency, OnCancel, Parameters, Tool, ToolContext, ToolError, ToolSpec, Traits};

type Execute = Box<dyn Fn(Args, ToolContext) -> BoxFuture<'static, Result<String, ToolError>> + Send + Sync>;

/// A tool out of a name, a description, parameters and an async closure.
///
/// ```
/// use steersman_core::tool::{FnTool, Parameters};
///
/// let parameters = Parameters::build(|p| {
///     p.required_string("text", "What to say.");
/// });
/// let echo = FnTool::new("echo", "Says it again.", parameters, |args, _| async move { Ok(args.str("text").to_owned()) });
/// ```
pub struct FnTool {
    spec: ToolSpec,
    execute: Execute,
}

impl FnTool {
    /// Makes a tool that runs alone and is dropped on cancel; see the setters.
    pub fn new<F, R, T>(
        name: impl Into<String>,
        description: impl Into<String>,
        parameters: Parameters,
        execute: F,
    ) -> Self
    where
        F: Fn(Args, ToolContext) -> R + Send + Sync + 'static,
        R: Future<Output = Result<T, ToolError>> + Send + 'static,
        T: Into<String>,
    {
        Self {
            spec: ToolSpec::new(name.into(), description.into(), parameters),
            execute: Box::new(move |args, context| execute(args, context).map(|result| result.map(Into::into)).boxed()),
        }
    }

    /// Sets whether it may run beside others.
    #[must_use]
    pub fn concurrency(mut self, concurrency: Concurrency) -> Self {
        self.spec.concurrency = concurrency;
        self
    }

    /// Sets what a cancel does to a running call.
    #[must_use]
    pub fn on_cancel(mut self, on_cancel: OnCancel) -> Self {
        self.spec.on_cancel = on_cancel;
        self
    }

    /// Sets what its calls bring and send.
    #[must_use]
    pub fn traits(mut self, traits: Traits) -> Self {
        self.spec.traits = traits;
        self
    }
}

impl Tool for FnTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn execute<'a>(&'a self, args: Args, context: &'a ToolContext) -> BoxFuture<'a, Result<String, ToolError>> {
        (self.execute)(args, context.clone())
    }
}
