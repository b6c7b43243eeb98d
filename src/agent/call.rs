//! One tool call: from its arguments to its observation (D14).
//!
//! Used by `batch`. Finds the tool, checks the arguments, runs it so that a panic and a cancel are contained, and emits what it
//! reports meanwhile on the agent's task. A call whose arguments an answer changed begins again, under every check.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::stream::{FuturesUnordered, StreamExt};
use futures_util::{FutureExt, future::BoxFuture};
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use crate::hooks::CheckedCall;
use crate::{Agent, questions};
use steersman_base::details::{Details, ResultPictures};
use steersman_base::error::Cancelled;
use steersman_base::event::{CallFailure, Event, EventContext};
use steersman_base::image::Image;
use steersman_base::limits;
use steersman_base::message::{Arguments, ToolCall};
use steersman_core::approval::{Answer, ApprovalRecord, Asker, CallPermission};
use steersman_core::tool::{CallRelease, FoundTool, OnCancel, ToolContext, ToolError, ToolReport};

/// The beginning of every observation of a recoverable failure.
const ERROR: &str = "Error: ";

/// A call as it ran in the end.
struct AnsweredCall {
    call: ToolCall,
    /// What the model is told of an answer that changed it; empty where none did.
    note: String,
    /// What hooks add for the model.
    texts: Vec<String>,
    outcome: Result<String, ToolError>,
}

impl Agent {
    /// Runs one call, emits its observation and returns it.
    pub(super) async fn run_call(
        &self,
        checked: &CheckedCall,
        note: &str,
        release: &CallRelease,
    ) -> Result<String, Cancelled> {
        let call = &checked.call;
        let started = Instant::now();
        let asker = Asker { agent: self.id.clone(), call: call.id.clone() };
        // Updates go through a channel so that events are emitted on the agent's task only.
        let (sender, receiver) = mpsc::unbounded_channel();
        let listeners = self.listeners.clone();
        let mut updates = CallUpdates { agent: self, call, receiver, refused: None, changed: None };
        let context = ToolContext {
            asker,
            cancellable: self.handles.cancellable.clone().unwrap_or_default(),
            approvals: Arc::clone(&self.tree.approvals),
            report: Arc::new(move |report| {
                // The receiver lives as long as the call; a later update has no receiver.
                let _ = sender.send(report);
            }),
            additions: self.toolbox.additions().clone(),
            images: self.toolbox.images().of_call(),
            jobs: Arc::clone(&self.tree.jobs),
            parent: self.listeners.parent().cloned(),
            release: release.clone(),
            late_report: Arc::new(move |record| listeners.emit(questions::event(record))),
        };

        let AnsweredCall { call, note: answered, texts, outcome } =
            self.work_as_answered(checked, &context, &mut updates).await;
        let call = &call;
        let refused = updates.finish();
        self.emit_images(call, &context.images.take_own());
        self.emit_job_events();
        // Also after a failure: the call may have sent data, and its error may quote the response.
        if let Some(found) = self.toolbox.find(&call.name) {
            self.tree.approvals.mark(&self.id, found.traits().taint());
        }
        let (result, fault) = match outcome {
            Ok(result) => (result, None),
            Err(ToolError::Failed(message)) => (format!("{ERROR}{message}"), Some(self.call_error(call, refused))),
            Err(ToolError::Cancelled(cancelled)) => return Err(cancelled),
        };
        let elapsed = started.elapsed();
        let by_hook = checked.note.as_deref().unwrap_or_default();
        let mut observation = format!("{by_hook}{note}{answered}{result}");
        observation = with_context(observation, &texts);
        if fault.is_none() && !result.starts_with(ERROR) {
            observation = with_context(observation, &self.check_result(call, &result).await);
        } else if fault == Some(CallFailure::Failed) {
            observation = with_context(observation, &self.check_failure(call, &result).await);
        }
        self.emit_result(call, &observation, &result, fault, elapsed);
        Ok(observation)
    }

    /// Runs a call; one whose arguments an answer changed begins again with them, under every check.
    async fn work_as_answered(
        &self,
        checked: &CheckedCall,
        context: &ToolContext,
        updates: &mut CallUpdates<'_>,
    ) -> AnsweredCall {
        let permit = |said| self.tree.approvals.permit(&context.asker, said);
        let mut permission = checked.permission.clone().map(permit);
        let (mut call, mut note, mut changes) = (checked.call.clone(), String::new(), 0);
        let mut texts = checked.context.clone();
        let outcome = loop {
            let outcome = self.work_and_tell(&call, context, updates).await;
            let is_refused = matches!(outcome, Err(ToolError::Failed(_)));
            // An operation that an answer changed was not carried out.
            let Some(changed) = updates.changed.take().filter(|_| is_refused) else { break outcome };
            updates.refused = None;
            changes += 1;
            let (said, arguments) = match self.changed_arguments(&call, changed, changes) {
                Ok(changed) => changed,
                Err(why) => break Err(ToolError::Failed(why)),
            };
            call.arguments = Arguments::Object(arguments.clone());
            // The hooks have seen another call.
            let again = match self.check_call(&call).await {
                Ok(CheckedCall { refusal: Some(why), .. }) => {
                    break Err(ToolError::Failed(why.trim_start_matches(ERROR).to_owned()));
                }
                Ok(again) => again,
                Err(cancelled) => break Err(ToolError::Cancelled(cancelled)),
            };
            let said_by_hook = match again.permission {
                Some(said @ (CallPermission::Ask(_) | CallPermission::Unseen(_))) => said,
                Some(CallPermission::Allow | CallPermission::Changed(_) | CallPermission::Template { .. }) | None => {
                    CallPermission::Changed(arguments)
                }
            };
            // The one before ends first: it would take this with it.
            permission.take();
            permission = Some(permit(said_by_hook));
            note = said + again.note.as_deref().unwrap_or_default();
            call = again.call;
            texts = again.context;
        };
        drop(permission);
        AnsweredCall { call, note, texts, outcome }
    }

    /// Runs a call and emits what it reports meanwhile.
    async fn work_and_tell(
        &self,
        call: &ToolCall,
        context: &ToolContext,
        updates: &mut CallUpdates<'_>,
    ) -> Result<String, ToolError> {
        let mut work = self.work(call, context);
        let mut questions = FuturesUnordered::new();
        let outcome = loop {
            tokio::select! {
                biased;
                Some(report) = updates.receiver.recv() => {
                    if let (ToolReport::Approval(ApprovalRecord::Asked(asked)), true) = (&report, self.tree.hooks.is_some()) {
                        questions.push(Box::pin(self.ask_about_question(call, asked.id)));
                    }
                    updates.emit(report);
                }
                outcome = &mut work => break outcome,
                Some(()) = questions.next() => {}
            }
        };
        updates.rest();
        outcome
    }

    /// Checks the arguments that an answer gives a call instead of its own; returns them with what the model is told.
    ///
    /// # Errors
    /// Why the call does not run.
    fn changed_arguments(
        &self,
        call: &ToolCall,
        changed: Map<String, Value>,
        changes: u32,
    ) -> Result<(String, Map<String, Value>), String> {
        let arguments = Arguments::Object(changed.clone());
        if let Some(fault) = self.error_of(&call.name, &arguments) {
            return Err(format!("not run, the answer changed the arguments to what the tool does not take: {fault}"));
        }
        if changes > limits::ANSWER_CHANGES {
            return Err("not run, each answer changed the arguments again".to_owned());
        }
        Ok((format!("Note: the answer changed the arguments of this call to {arguments}\n"), changed))
    }

    /// Tells of the images that a call has left for the model.
    fn emit_images(&self, call: &ToolCall, images: &[Image]) {
        if !images.is_empty() {
            self.tree.context.keep_images(images);
            let details = Details::Images(ResultPictures { images: images.iter().map(Image::facts).collect() });
            self.listeners.emit(Event::ToolDetails { id: call.id.clone(), details });
        }
    }

    /// Returns why a call failed; `refused` says that an operation of it was not carried out.
    fn call_error(&self, call: &ToolCall, refused: Option<CallFailure>) -> CallFailure {
        let is_invalid = || match self.toolbox.find(&call.name) {
            None => true,
            Some(FoundTool::Tool(tool)) => tool.spec().parameters.validate(&call.arguments).is_err(),
            Some(FoundTool::Raw(_)) => false,
        };
        match refused {
            Some(fault) => fault,
            None if is_invalid() => CallFailure::Invalid,
            None => CallFailure::Failed,
        }
    }

    /// Emits a call's observation; `result` is the observation without the note on changed arguments.
    pub(super) fn emit_result(
        &self,
        call: &ToolCall,
        content: &str,
        result: &str,
        fault: Option<CallFailure>,
        elapsed: Duration,
    ) {
        let is_error = result.starts_with(ERROR);
        if let Some(fault) = fault.or(is_error.then_some(CallFailure::Failed)) {
            self.listeners.notify_facts(&EventContext::Call { id: call.id.clone(), fault });
        }
        self.listeners.emit(Event::ToolResult {
            id: call.id.clone(),
            content: content.to_owned(),
            is_error,
            elapsed_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
        });
    }

    /// Finds the tool, checks the arguments, and runs it so that a panic and a cancel are contained.
    fn work<'a>(&'a self, call: &'a ToolCall, context: &'a ToolContext) -> BoxFuture<'a, Result<String, ToolError>> {
        let Some(found) = self.toolbox.find(&call.name) else {
            let message = format!("unknown tool '{}'; the tools are: {}", call.name, self.toolbox.names().join(", "));
            return async { Err(ToolError::Failed(message)) }.boxed();
        };
        let on_cancel = found.on_cancel();
        // One future for all of it, so that a panic before the first await is contained too.
        let work = async move {
            match &found {
                FoundTool::Tool(tool) => {
                    let args = tool.spec().parameters.validate(&call.arguments).map_err(ToolError::Failed)?;
                    tool.execute(args, context).await
                }
                FoundTool::Raw(tool) => tool.call(&call.arguments, context).await,
            }
        };
        let contained = AssertUnwindSafe(work).catch_unwind().map(|outcome| {
            outcome.unwrap_or_else(|_| {
                tracing::error!(tool = %call.name, "a tool panicked; the run goes on");
                Err(ToolError::Failed(format!("the tool '{}' broke down", call.name)))
            })
        });
        match on_cancel {
            OnCancel::Wait => contained.boxed(),
            OnCancel::Drop => async { context.cancellable.unless_cancelled(contained).await? }.boxed(),
        }
    }
}

/// The updates of a running call. Dropping it emits those that are left, such as the end of a question.
struct CallUpdates<'a> {
    agent: &'a Agent,
    call: &'a ToolCall,
    receiver: mpsc::UnboundedReceiver<ToolReport>,
    /// That an operation of the call was not carried out, and why.
    refused: Option<CallFailure>,
    /// The arguments that an answer gives it instead of its own.
    changed: Option<Map<String, Value>>,
}

impl CallUpdates<'_> {
    fn emit(&mut self, report: ToolReport) {
        let id = self.call.id.clone();
        let event = match report {
            ToolReport::Progress(text) => Event::ToolProgress { id, text },
            ToolReport::Details(details) => Event::ToolDetails { id, details },
            ToolReport::Approval(report) => {
                if let ApprovalRecord::Answered(_, Answer::Filled(arguments)) = &report {
                    self.changed = Some(arguments.clone());
                }
                questions::event(report)
            }
            ToolReport::Plan(changed) => Event::PlanChanged(*changed),
            ToolReport::Refused(fault) => {
                self.refused = Some(fault);
                return;
            }
        };
        self.agent.listeners.emit(event);
    }

    /// Emits those that are left, and returns whether an operation was not carried out.
    fn finish(mut self) -> Option<CallFailure> {
        self.rest();
        self.refused
    }

    fn rest(&mut self) {
        while let Ok(report) = self.receiver.try_recv() {
            self.emit(report);
        }
    }
}

impl Drop for CallUpdates<'_> {
    fn drop(&mut self) {
        self.rest();
    }
}

/// Puts texts of hooks behind an observation.
pub(super) fn with_context(observation: String, texts: &[String]) -> String {
    texts.iter().fold(observation, |all, text| format!("{all}\n\n{text}"))
}
