//! What wakes the loop besides input and signals: the bell that other threads ring.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

use steersman_session::{Client, WakeReason};

/// Rung from other threads; however often, one wake-up answers all.
#[derive(Default)]
pub(super) struct Bell {
    pub notify: Notify,
    pub events: AtomicBool,
    pub answers: AtomicBool,
    pub written: AtomicBool,
    pub lost: AtomicBool,
}

impl Bell {
    pub fn ring(&self, what: &AtomicBool) {
        what.store(true, Ordering::SeqCst);
        self.notify.notify_one();
    }

    /// Rings when the client has something to take.
    pub fn listen(self: &Arc<Self>, client: &dyn Client) {
        let bell = Arc::clone(self);
        client.on_wake(Arc::new(move |waiting| match waiting {
            WakeReason::Answers => bell.ring(&bell.answers),
            WakeReason::Events => bell.ring(&bell.events),
        }));
    }
}
