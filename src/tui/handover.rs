//! What was handed over to a loop, and whether the loop has taken it: so that a loop which does not turn any more is known
//! to those that do. For the threads of input and signals.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use steersman_base::limits;

/// The two counts.
#[derive(Debug, Default)]
pub(crate) struct Handover {
    given: AtomicU64,
    taken: AtomicU64,
}

impl Handover {
    /// Counts one more, before it is sent; returns its number.
    pub(crate) fn give(&self) -> u64 {
        self.given.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// Counts one that was received.
    pub(crate) fn count_taken(&self) {
        self.taken.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn is_taken(&self, number: u64) -> bool {
        self.taken.load(Ordering::SeqCst) >= number
    }

    /// Calls `late` when one is not taken within [`limits::EXIT_GRACE`].
    pub(crate) fn insist(self: &Arc<Self>, number: u64, late: impl FnOnce() + Send + 'static) {
        let handover = Arc::clone(self);
        // Without a thread there is nobody to insist.
        let _ = thread::Builder::new().name("insist".to_owned()).spawn(move || {
            thread::sleep(limits::EXIT_GRACE);
            if !handover.is_taken(number) {
                late();
            }
        });
    }
}
