//! What threads and tasks share: the mutex around the queue, the wait for a change, and what keeps a stop away from the start
//! of a process.
//!
//! `tests/loom` compiles the queue's sources with a `sync` module of its own, whose mutex explores every order of two
//! threads; so the queue takes its mutex from here and nowhere else.

use std::sync::PoisonError;

pub use std::sync::{Mutex, MutexGuard};

use tokio::sync::Notify;

/// Locks a mutex, also where a thread panicked that held it: what our mutexes guard is whole between any two statements.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

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

/// Held while a process is started, and while the group is stopped.
static SPAWN_LOCK: Mutex<()> = Mutex::new(());

/// Does something while no other process is being started. Everything that starts a process in the group of this program,
/// and the stop of that group, goes through here: a stop that met a child between `vfork` and `exec` would never be
/// complete, as the thread that waits for that child cannot stop, and the shell would not be told.
pub fn with_spawn_lock<T>(act: impl FnOnce() -> T) -> T {
    let _lock = lock(&SPAWN_LOCK);
    act()
}
