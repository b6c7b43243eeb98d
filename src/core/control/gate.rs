//! Pause and step: a gate that the agent passes at each boundary and before each tool call.
//!
//! A host closes it with [`PauseGate::pause`]; the agent then waits where it next comes by, shows what it would do, and goes
//! on after a [`Decision`]. Nothing is open on the wire while it waits. The lock is held for a few lines.

use std::sync::{Mutex, MutexGuard};

use tokio::sync::Notify;

use crate::sync::{lock, until};
use steersman_base::id::CallId;
use steersman_base::protocol::{Decision, PausePlace};

/// The gate at which one agent can be paused: at its next boundary or before its next call.
///
/// Example: "A pause before a call" in the documentation of `steersman::prelude`.
#[derive(Debug, Default)]
pub struct PauseGate {
    inner: Mutex<Inner>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct Inner {
    paused: bool,
    waiting: Option<PausePlace>,
    decision: Option<Decision>,
}

impl PauseGate {
    /// Makes an open gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Pauses the agent where it next comes by.
    pub fn pause(&self) {
        self.lock().paused = true;
    }

    /// Lets the agent go on; it does not wait again.
    pub fn resume(&self) {
        self.lock().paused = false;
        self.wake.notify_waiters();
    }

    /// Tells whether the agent is paused, or will be where it next comes by.
    pub fn is_paused(&self) -> bool {
        self.lock().paused
    }

    /// Waits until the agent is not paused.
    pub async fn opened(&self) {
        until(&self.wake, || (!self.is_paused()).then_some(())).await;
    }

    /// Returns where the agent waits; `None` while it runs.
    pub fn paused_at(&self) -> Option<PausePlace> {
        self.lock().waiting.clone()
    }

    /// Decides for the agent that waits before this call (`None`: at a boundary); false when it does not wait there any
    /// more, or somebody decided already. At a boundary every decision means [`Decision::Run`].
    pub fn decide(&self, call: Option<&CallId>, decision: Decision) -> bool {
        let decided = {
            let mut inner = self.lock();
            let here = inner.waiting.as_ref().is_some_and(|place| place.call() == call);
            let decided = here && inner.decision.is_none();
            if decided {
                inner.decision = Some(decision);
            }
            decided
        };
        if decided {
            self.wake.notify_waiters();
        }
        decided
    }

    /// Pauses the agent at this place; `None` when the gate is open. Whoever looks at the gate sees the place from here
    /// on, so that a decision that comes at once counts. For the agent.
    pub fn wait_at(&self, place: PausePlace) -> Option<PauseGuard<'_>> {
        let mut inner = self.lock();
        if !inner.paused {
            return None;
        }
        inner.waiting = Some(place);
        inner.decision = None;
        Some(PauseGuard(self))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        lock(&self.inner)
    }
}

/// An agent that waits at its gate; dropping it leaves the gate.
#[derive(Debug)]
pub struct PauseGuard<'a>(&'a PauseGate);

impl PauseGuard<'_> {
    /// Waits until somebody decides or resumes the agent, which means [`Decision::Run`].
    pub async fn decided(&self) -> Decision {
        until(&self.0.wake, || {
            let mut inner = self.0.lock();
            let resumed = (!inner.paused).then_some(Decision::Run);
            inner.decision.take().or(resumed)
        })
        .await
    }
}

impl Drop for PauseGuard<'_> {
    fn drop(&mut self) {
        let mut inner = self.0.lock();
        inner.waiting = None;
        inner.decision = None;
    }
}
