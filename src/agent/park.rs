//! Hold and step: where the agent waits for the user, and how it goes on.
//!
//! It parks at a boundary before the queue is drained, and before each call. A gate that is open costs one look. While
//! it waits nothing times out; a stop and a message that is to be delivered now end the wait.

use serde_json::Value;

use crate::agent::Agent;
use crate::agent::reply::stopped;
use crate::control::{Decision, Interloper, Parked};
use crate::error::{Cancelled, RunError};
use crate::event::{Decided, Event};
use crate::listener::ListenerList;
use crate::message::{Arguments, ToolCall};
use crate::text::is_blank;

/// Says how the agent goes on.
pub(super) enum Pass {
    /// The gate was open.
    Open,
    /// The user let it go on.
    Run,
    /// The call runs with these arguments.
    Edited(Arguments),
    /// The call does not run; this is what the model is told.
    Skip(String),
    /// A message is to go now.
    Message,
}

impl Agent {
    /// Waits before a call, unless the gate is open or the budget refuses the call anyway.
    pub(super) async fn park_at_call(&self, call: &ToolCall) -> Result<Pass, RunError> {
        if self.step_limit.as_ref().is_some_and(|limit| limit.step() >= limit.max()) {
            return Ok(Pass::Open);
        }
        self.park(Some(call)).await
    }

    /// Waits at a boundary, unless the gate is open.
    pub(super) async fn park_at_boundary(&self) -> Result<Pass, RunError> {
        self.park(None).await
    }

    async fn park(&self, call: Option<&ToolCall>) -> Result<Pass, RunError> {
        let Some(gate) = self.gate.as_ref().filter(|gate| gate.is_held()) else { return Ok(Pass::Open) };
        let place = call.map_or(Parked::Boundary, |call| Parked::Call(call.clone()));
        let Some(parking) = gate.park(place) else { return Ok(Pass::Open) };
        self.listeners.emit(Event::Parked { call: call.cloned() });
        let mut unparked = Unparked { listeners: &self.listeners, decision: Decided::Cancelled };
        // Dropped before it: nobody is told that the agent goes on while the gate still shows it.
        let parking = parking;
        let pass = tokio::select! {
            biased;
            () = stopped(self.cancellable.as_ref()) => Err(Cancelled),
            () = urged(self.interloper.as_deref()) => Ok(Pass::Message),
            decision = parking.decided() => Ok(match (decision, call) {
                (Decision::Edited(arguments), Some(call)) if arguments != call.arguments => Pass::Edited(arguments),
                (Decision::Skip(reason), Some(_)) => Pass::Skip(skipped(&reason)),
                (Decision::Run | Decision::Edited(_) | Decision::Skip(_), _) => Pass::Run,
            }),
        };
        unparked.decision = match &pass {
            Ok(Pass::Open | Pass::Run) => Decided::Run,
            Ok(Pass::Edited(_)) => Decided::Edited,
            Ok(Pass::Skip(_)) => Decided::Skipped,
            Ok(Pass::Message) => Decided::Message,
            Err(Cancelled) => Decided::Cancelled,
        };
        Ok(pass?)
    }
}

/// The end of a wait at the gate, which is told however it comes about.
struct Unparked<'a> {
    listeners: &'a ListenerList,
    decision: Decided,
}

impl Drop for Unparked<'_> {
    fn drop(&mut self) {
        self.listeners.emit(Event::Unparked { decision: self.decision });
    }
}

/// Says to the model that its call ran with other arguments, in one line.
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

/// Waits for a message that is to go now, and takes nothing; for ever without a queue.
async fn urged(interloper: Option<&Interloper>) {
    match interloper {
        Some(interloper) => interloper.urged().await,
        None => std::future::pending().await,
    }
}
