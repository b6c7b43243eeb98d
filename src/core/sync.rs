//! What threads and tasks share: the mutex around the queue, and the wait for a change.
//!
//! `tests/loom` compiles the queue's sources with a `sync` module of its own, whose mutex explores every order of two
//! threads; so the queue takes its mutex from here and nowhere else.

use tokio::sync::Notify;

pub use steersman_base::sync::{Mutex, MutexGuard, lock};

/// Waits until something is found; looks for it now, and each time `changed` is notified.
pub async fn until<T>(changed: &Notify, mut found: impl FnMut() -> Option<T>) -> T {
    loop {
        let mut change = std::pin::pin!(changed.notified());
        // Registered before the look: a change between the two is seen either way.
        change.as_mut().enable();
        if let Some(found) = found() {
            return found;
        }
        change.await;
    }
}
