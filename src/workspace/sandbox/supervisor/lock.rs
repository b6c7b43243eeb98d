//! The lock of a workspace: the supervisors of two jobs must not change names at the same time, since what one has compared
//! could be moved by the other to where it is protected.
//!
//! It is the lock of the writable directory itself, the only file that all of them share. A job can take it too, and keeps
//! nobody but other jobs from making files.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use rustix::io::Errno;

/// How often the lock is tried, and how long between: others hold it for the length of one call.
const TRIES: usize = 20_000;
const PAUSE: Duration = Duration::from_micros(100);

pub(super) struct NamesLock(OwnedFd);

/// The lock while it is held.
pub(super) struct HeldLock<'a>(&'a OwnedFd);

impl NamesLock {
    pub(super) fn new(directory: &Path) -> Result<Self, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(open(directory, flags, Mode::empty())?))
    }

    /// Takes the lock.
    ///
    /// # Errors
    /// [`Errno::AGAIN`] when somebody keeps it.
    pub(super) fn hold(&self) -> Result<HeldLock<'_>, Errno> {
        for _ in 0..TRIES {
            match flock(&self.0, FlockOperation::NonBlockingLockExclusive) {
                Err(Errno::AGAIN) => thread::sleep(PAUSE),
                Err(Errno::INTR) => {}
                // Some file systems of a network have none.
                Ok(()) | Err(_) => return Ok(HeldLock(&self.0)),
            }
        }
        Err(Errno::AGAIN)
    }
}

impl Drop for HeldLock<'_> {
    fn drop(&mut self) {
        let _ = flock(self.0, FlockOperation::Unlock);
    }
}
