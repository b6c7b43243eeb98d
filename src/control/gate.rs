//! Hold and step: a gate that the agent passes at each boundary and before each tool call.
//!
//! A host closes it with [`Gate::hold`]; the agent then parks where it next comes by, shows what it would do, and waits
//! for a [`Decision`]. Nothing is open on the wire while it waits. The lock is held for a few lines.

use std::sync::{Mutex, MutexGuard};

use tokio::sync::Notify;

use crate::id::CallId;
use crate::message::ToolCall;
use crate::protocol::Decision;
use crate::sync::lock;

/// The gate of one agent: closed, it pauses the agent at its next boundary or before its next call.
///
/// ```
/// use std::sync::Arc;
///
/// use steersman::control::{Decision, Gate};
/// use steersman::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let gate = Arc::new(Gate::new());
/// gate.hold();
/// let look = FnTool::new("look", "Looks.", Parameters::default(), |_, _| async { Ok("a tree") });
/// let model = ScriptedProvider::new([Played::call("look", "{}"), Played::text("I did not look.")]);
/// let builder = Agent::with_provider(model.clone(), "You look.").tool(look).gate(gate.clone());
/// let mut running = RunningAgent::start(builder).await?;
/// running.send("What is there?")?;
/// while let Some(envelope) = running.next_event().await {
///     match envelope.event {
///         // The agent waits before a call, and behind its result.
///         Event::Parked { call: Some(call) } => {
///             gate.decide(Some(&call.id), Decision::Skip("it is dark".to_owned()));
///         }
///         Event::Parked { call: None } => gate.open(),
///         Event::TurnEnded { .. } => break,
///         _ => {}
///     }
/// }
/// assert_eq!(model.requests()[1].messages[3].content(), "Error: skipped by the user: it is dark");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct Gate {
    inner: Mutex<Inner>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct Inner {
    held: bool,
    parked: Option<Parked>,
    decision: Option<Decision>,
}

/// Where an agent waits.
#[derive(Debug, Clone, PartialEq)]
pub enum Parked {
    /// Behind the results of a batch, before the next request.
    Boundary,
    /// Before this call.
    Call(ToolCall),
}

impl Gate {
    /// Makes an open gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Closes the gate: the agent parks where it next comes by.
    pub fn hold(&self) {
        self.lock().held = true;
    }

    /// Opens the gate: a parked agent goes on and does not park again.
    pub fn open(&self) {
        self.lock().held = false;
        self.wake.notify_waiters();
    }

    /// Tells whether the gate is closed.
    pub fn is_held(&self) -> bool {
        self.lock().held
    }

    /// Returns where the agent waits; `None` while it runs.
    pub fn parked(&self) -> Option<Parked> {
        self.lock().parked.clone()
    }

    /// Decides for the agent that waits before this call (`None`: at a boundary); false when it does not wait there any
    /// more, or somebody decided already. At a boundary every decision means [`Decision::Run`].
    pub fn decide(&self, call: Option<&CallId>, decision: Decision) -> bool {
        let decided = {
            let mut inner = self.lock();
            let here = match (&inner.parked, call) {
                (Some(Parked::Boundary), None) => true,
                (Some(Parked::Call(parked)), Some(call)) => parked.id == *call,
                (Some(Parked::Boundary), Some(_)) | (Some(Parked::Call(_)), None) | (None, _) => false,
            };
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

    /// Parks at the gate; `None` when it is open. Whoever looks at the gate sees the place from here on, so that a
    /// decision that comes at once counts. For the agent.
    pub fn park(&self, place: Parked) -> Option<Parking<'_>> {
        let mut inner = self.lock();
        if !inner.held {
            return None;
        }
        inner.parked = Some(place);
        inner.decision = None;
        Some(Parking(self))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        lock(&self.inner)
    }
}

/// An agent that waits at the gate; dropping it leaves the gate.
#[derive(Debug)]
pub struct Parking<'a>(&'a Gate);

impl Parking<'_> {
    /// Waits until somebody decides or opens the gate, which means [`Decision::Run`].
    pub async fn decided(&self) -> Decision {
        loop {
            let mut wake = std::pin::pin!(self.0.wake.notified());
            wake.as_mut().enable();
            {
                let mut inner = self.0.lock();
                if let Some(decision) = inner.decision.take() {
                    return decision;
                }
                if !inner.held {
                    return Decision::Run;
                }
            }
            wake.await;
        }
    }
}

impl Drop for Parking<'_> {
    fn drop(&mut self) {
        let mut inner = self.0.lock();
        inner.parked = None;
        inner.decision = None;
    }
}
