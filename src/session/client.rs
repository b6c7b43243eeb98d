//! The one way in which a screen, the line output or a script sees and steers a run.

use std::sync::{Arc, Mutex};

use steersman_base::protocol::{Request, Update};
use steersman_base::sync::lock;

/// Called from other threads when there is something to take. It must not block.
pub type Wake = Arc<dyn Fn(WakeReason) + Send + Sync>;

/// What waits to be taken by a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WakeReason {
    /// Replies and snapshots, which change what a key would do.
    Answers,
    /// Events and notices, which can be taken together for the next frame.
    Events,
}

/// Holds what a client gave to be called; nothing yet at first.
#[derive(Default)]
pub(super) struct Wakeable(Mutex<Option<Wake>>);

impl Wakeable {
    pub(super) fn set(&self, wake: Option<Wake>) {
        *lock(&self.0) = wake;
    }

    /// Calls it, with nothing locked.
    pub(super) fn wake(&self, waiting: WakeReason) {
        let wake = lock(&self.0).clone();
        if let Some(wake) = wake {
            wake(waiting);
        }
    }
}

/// A client of a run. Nothing is lost: what is not taken waits.
pub trait Client: Send + Sync {
    /// Sends one request. What comes of it is among the next [`Client::answers`], at once or later.
    fn send(&self, request: Request);

    /// Takes the replies to requests in their order, and behind them a snapshot of everything that changed since the last
    /// one, or that a request was about.
    fn answers(&self) -> Vec<Update>;

    /// Takes the events and notices, in order, and behind them what they cost.
    fn events(&self) -> Vec<Update>;

    /// Sets what is called when there is something to take; at once when there is something already.
    fn on_wake(&self, wake: Wake);

    /// Ends the run: nothing more is done for this client.
    fn end(&self);
}
