//! How a running call is released before its end: the call returns, and what it waits for goes on without it.
//!
//! A tool offers that while it can do it; the loop asks for it when a text for the agent would otherwise wait for the calls
//! of a reply. Always holds: an offer ends with the future that made it, and a request is heard by an offer that comes later.

use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use crate::sync::{lock, until};

/// Which texts for the agent release a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReleasedBy {
    /// Every text that is due at the boundary behind the call.
    AnyText,
    /// A text that is to be delivered now.
    UrgentText,
}

/// How far a call has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CallStage {
    /// It is to run.
    #[default]
    Waiting,
    /// It runs.
    Running,
    /// It has a result.
    Ended,
}

/// The release of one call. Clones are of the same call.
#[derive(Debug, Clone, Default)]
pub struct CallRelease {
    call: Arc<Call>,
    /// Notified when a call of the same reply has changed.
    changed: Arc<Notify>,
}

#[derive(Debug, Default)]
struct Call {
    state: Mutex<State>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct State {
    stage: CallStage,
    offer: Option<ReleasedBy>,
    is_requested: bool,
}

impl CallRelease {
    /// Makes the releases of calls that run beside each other.
    pub fn for_calls(count: usize) -> Vec<Self> {
        let changed: Arc<Notify> = Arc::default();
        (0..count).map(|_| Self { call: Arc::default(), changed: Arc::clone(&changed) }).collect()
    }

    /// Offers the release for such texts and waits until it is asked for; dropping the future takes the offer back. For the
    /// tool.
    pub async fn requested(&self, by: ReleasedBy) {
        let _offer = Offer::new(self, by);
        until(&self.call.wake, || lock(&self.call.state).is_requested.then_some(())).await;
    }

    /// Returns how far the call has come, and what it offers. For the loop.
    pub fn stage(&self) -> (CallStage, Option<ReleasedBy>) {
        let state = lock(&self.call.state);
        (state.stage, state.offer)
    }

    /// Notes how far the call has come. For the loop.
    pub fn set_stage(&self, stage: CallStage) {
        lock(&self.call.state).stage = stage;
        self.changed.notify_waiters();
    }

    /// Asks for the release. For the loop.
    pub fn request(&self) {
        lock(&self.call.state).is_requested = true;
        self.call.wake.notify_waiters();
    }

    /// Tells whether the release was asked for. For the loop.
    pub fn is_requested(&self) -> bool {
        lock(&self.call.state).is_requested
    }

    /// Waits until something is found; looks for it now, and each time that a call of the same reply has changed. For the
    /// loop.
    pub async fn until<T>(&self, found: impl FnMut() -> Option<T>) -> T {
        until(&self.changed, found).await
    }
}

/// An offer that stands.
struct Offer<'a>(&'a CallRelease);

impl<'a> Offer<'a> {
    fn new(release: &'a CallRelease, by: ReleasedBy) -> Self {
        lock(&release.call.state).offer = Some(by);
        release.changed.notify_waiters();
        Self(release)
    }
}

impl Drop for Offer<'_> {
    fn drop(&mut self) {
        lock(&self.0.call.state).offer = None;
        self.0.changed.notify_waiters();
    }
}
