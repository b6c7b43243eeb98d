//! A tool whose calls are asked about first, around any other tool.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::approval::{Approvals, Asker};
use crate::tool::{Args, BackgroundJobs, Concurrency, Tool, ToolContext, ToolDirectory, ToolError, ToolSpec};
use steersman_base::message::Arguments;
use steersman_base::protocol::CustomOperation;

/// A tool each of whose calls is asked about first, with its arguments. Without anybody who answers, no call runs.
///
/// ```
/// use steersman_core::tool::{FnTool, Parameters, WithApproval};
///
/// let parameters = Parameters::strings([("to", "Who gets it."), ("text", "What it says.")]);
/// let mail = FnTool::new("mail", "Sends a mail.", parameters, |_, _| async { Ok("sent") });
/// // The question names the action; with `keeps_here` it says that nothing leaves this machine.
/// let mail = WithApproval::new(mail).action("send a mail");
/// ```
pub struct WithApproval {
    tool: Arc<dyn Tool>,
    spec: ToolSpec,
    action: String,
    keeps_here: bool,
}

impl WithApproval {
    /// Wraps a tool whose calls can send something out of this machine; see [`WithApproval::keeps_here`].
    pub fn new(tool: impl Tool + 'static) -> Self {
        Self::around(Arc::new(tool))
    }

    /// As [`WithApproval::new`], for a tool that is shared.
    pub fn around(tool: Arc<dyn Tool>) -> Self {
        let spec = tool.spec().clone().concurrency(Concurrency::Exclusive);
        let action = format!("call {}", spec.name);
        Self { tool, spec, action, keeps_here: false }
    }

    /// Sets what a call does, for the question: `send a mail`. What the user allows for a session is this action of this tool.
    #[must_use]
    pub fn action(mut self, action: impl Into<String>) -> Self {
        self.action = action.into();
        self
    }

    /// Says that its calls send nothing out of this machine.
    #[must_use]
    pub fn keeps_here(mut self) -> Self {
        self.keeps_here = true;
        self
    }
}

impl Tool for WithApproval {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn execute<'a>(&'a self, args: Args, context: &'a ToolContext) -> BoxFuture<'a, Result<String, ToolError>> {
        async move {
            let operation = CustomOperation {
                sends: !self.keeps_here,
                ..CustomOperation::new(&*self.spec.name, &self.action, args.to_json())
            };
            context.approve(operation).await?;
            self.tool.execute(args, context).await
        }
        .boxed()
    }

    // One after the other, as the questions come.
    fn concurrency_of(&self, _: &Arguments, _: &Asker, _: &Approvals) -> Concurrency {
        Concurrency::Exclusive
    }

    fn in_directory(&self, directory: &ToolDirectory) -> Option<Result<Arc<dyn Tool>, String>> {
        let bound = self.tool.in_directory(directory)?;
        Some(bound.map(|tool| {
            let wrapped =
                Self { tool, spec: self.spec.clone(), action: self.action.clone(), keeps_here: self.keeps_here };
            Arc::new(wrapped) as Arc<dyn Tool>
        }))
    }

    fn background_jobs(&self) -> Option<Arc<dyn BackgroundJobs>> {
        self.tool.background_jobs()
    }
}
