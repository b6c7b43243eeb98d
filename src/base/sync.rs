//! What threads share: the mutex around the queue, and what keeps a stop away from the start of a process.

use std::sync::PoisonError;

pub use std::sync::{Mutex, MutexGuard};

/// Locks a mutex, also where a thread panicked that held it: what our mutexes guard is whole between any two statements.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
