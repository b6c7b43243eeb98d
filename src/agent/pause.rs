//! Pause and step: where the agent waits for the user, and how it goes on.
//!
//! It pauses at a boundary before the queue is drained, and before each call. An open gate costs one check. While it
//! waits nothing times out; a stop and a message that is to be delivered now end the wait.

use serde_json::Value;

use crate::Agent;
use crate::reply::stopped;
use steersman_base::error::{Cancelled, RunError};
use steersman_base::event::{Decided, Event};
use steersman_base::message::{Arguments, ToolCall};
use steersman_base::text::is_blank;
use steersman_core::control::{Decision, Interloper};
use steersman_core::listener::ListenerList;

/// How an agent goes on after the gate.
pub(super) enum Resume {
    Open,
    /// The user let it go on.
    Run,
    /// The call runs with these arguments.
    Edited(Arguments),
    /// The call does not run; the text is its observation.
    Skip(String),
    Message,
}

impl Agent {
    /// Waits before a call, unless the gate is open or the budget refuses the call anyway.
    pub(super) async fn pause_before_call(&self, call: &ToolCall) -> Result<Resume, RunError> {
        if self.handles.step_limit.as_ref().is_some_and(|limit| limit.step() >= limit.max()) {
            return Ok(Resume::Open);
        }
        self.pause(Some(call)).await
    }

    /// Waits at a boundary, unless the gate is open.
    pub(super) async fn pause_at_boundary(&self) -> Result<Resume, RunError> {
        self.pause(None).await
    }

    async fn pause(&self, call: Option<&ToolCall>) -> Result<Resume, RunError> {
        let Some(gate) = self.handles.gate.as_ref().filter(|gate| gate.is_paused()) else { return Ok(Resume::Open) };
        let Some(paused) = gate.wait_at(call.into()) else { return Ok(Resume::Open) };
        self.listeners.emit(Event::Paused { call: call.cloned() });
        let mut end = PauseEnd { listeners: &self.listeners, decision: Decided::Cancelled };
        // Dropped before `end`, so that the event is emitted only when the gate no longer shows the agent as paused.
        let paused = paused;
        let resume = tokio::select! {
            biased;
            () = stopped(self.handles.cancellable.as_ref()) => Err(Cancelled),
            () = urged(self.handles.interloper.as_deref()) => Ok(Resume::Message),
            decision = paused.decided() => Ok(match (decision, call) {
                (Decision::Edited(arguments), Some(call)) if arguments != call.arguments => Resume::Edited(arguments),
                (Decision::Skip(reason), Some(_)) => Resume::Skip(skipped(&reason)),
                (Decision::Run | Decision::Edited(_) | Decision::Skip(_), _) => Resume::Run,
            }),
        };
        end.decision = match &resume {
            Ok(Resume::Open | Resume::Run) => Decided::Run,
            Ok(Resume::Edited(_)) => Decided::Edited,
            Ok(Resume::Skip(_)) => Decided::Skipped,
            Ok(Resume::Message) => Decided::Message,
            Err(Cancelled) => Decided::Cancelled,
        };
        Ok(resume?)
    }
}

/// The end of a pause; dropping it emits the event, however the pause ended.
struct PauseEnd<'a> {
    listeners: &'a ListenerList,
    decision: Decided,
}

impl Drop for PauseEnd<'_> {
    fn drop(&mut self) {
        self.listeners.emit(Event::Resumed { decision: self.decision });
    }
}

/// Returns the line that tells the model of changed arguments.
pub(super) fn note(arguments: &Arguments) -> String {
    let arguments = match arguments {
        Arguments::Object(_) => arguments.to_string(),
        Arguments::Raw(text) => Value::from(text.as_str()).to_string(),
    };
    format!("Note: the user changed the arguments of this call to {arguments}\n")
}

fn skipped(reason: &str) -> String {
    let separator = if is_blank(reason) { "" } else { ": " };
    format!("Error: skipped by the user{separator}{}", reason.trim())
}

/// Waits for a message that is to be delivered now, and takes nothing; waits for ever without a queue.
async fn urged(interloper: Option<&Interloper>) {
    match interloper {
        Some(interloper) => interloper.urged().await,
        None => std::future::pending().await,
    }
}
