//! The lock between the start of a process and the stop of this program's process group.
//!
//! A stop that met a child between `vfork` and `exec` would never be complete: the thread that waits for that child cannot
//! stop, and the shell would not be told. So whatever starts a process in this group holds the lock meanwhile, and so does
//! whatever stops the group.

use std::sync::{Mutex, PoisonError};

static SPAWN_LOCK: Mutex<()> = Mutex::new(());

/// Does something while no other process is being started.
pub fn with_spawn_lock<T>(act: impl FnOnce() -> T) -> T {
    let _lock = SPAWN_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    act()
}
