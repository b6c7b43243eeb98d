//! What wakes the loop besides input and signals: the bell that other threads ring.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

use crate::host::Handle;

/// Rung from other threads; however often, one wake-up answers all.
#[derive(Default)]
pub(super) struct Bell {
    pub notify: Notify,
    pub mail: AtomicBool,
    pub queue: AtomicBool,
    pub approvals: AtomicBool,
    pub written: AtomicBool,
    pub lost: AtomicBool,
}

impl Bell {
    pub fn ring(&self, what: &AtomicBool) {
        what.store(true, Ordering::SeqCst);
        self.notify.notify_one();
    }

    /// Rings at mail, at changes of a queue, and at changes of what waits for approval.
    pub fn listen(self: &Arc<Self>, handle: &Handle) {
        let bell = Arc::clone(self);
        handle.mailbox().on_wake(Arc::new(move || bell.ring(&bell.mail)));
        let bell = Arc::clone(self);
        handle.watch(move || bell.ring(&bell.queue));
        let bell = Arc::clone(self);
        handle.approvals().watch(Arc::new(move || bell.ring(&bell.approvals)));
    }
}
