//! The lock of a workspace: the supervisors of two jobs, or one and a tool, must not change names at the same time, since what
//! one has compared could be moved by the other to where it is protected, or made a part of a repository.
//!
//! It is the lock of the writable directory itself, the only file that all of them share. Where a session works below the
//! directory of another they have two; so each takes besides that of a directory which a change could make a repository. A
//! job can take these too, and keeps others from making files.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode, OFlags, chmod, flock, fstat, open, stat};
use rustix::io::Errno;

use crate::protected::ProtectedPlaces;

/// How often the lock is tried, and how long between: others hold it for the length of one call.
const TRIES: usize = 20_000;
const PAUSE: Duration = Duration::from_micros(100);
/// How often it is tried to open what others close at the same time.
const OPENS: usize = 100;

/// The lock of a directory in which several processes change names.
#[derive(Debug)]
pub struct NamesLock(OwnedFd);

/// The lock while it is held.
#[derive(Debug)]
pub struct HeldLock<'a>(&'a OwnedFd);

impl NamesLock {
    /// Opens a directory for its lock.
    ///
    /// # Errors
    /// That of the system when it cannot be opened.
    pub fn new(directory: &Path) -> Result<Self, Errno> {
        open_directory(directory).map(Self)
    }

    /// Takes the lock.
    ///
    /// # Errors
    /// [`Errno::AGAIN`] when somebody keeps it.
    pub fn hold(&self) -> Result<HeldLock<'_>, Errno> {
        self.lock().map(|()| HeldLock(&self.0))
    }

    /// Takes besides the locks of the directories that a change of a path could make repositories, as far as they are there
    /// and `is_written`; `held` holds them until it is dropped, and this lock is held already.
    ///
    /// # Errors
    /// [`Errno::AGAIN`] when somebody keeps one.
    pub fn with_repositories(
        &self,
        path: &Path,
        is_written: impl Fn(&Path) -> bool,
        held: &mut Vec<Self>,
    ) -> Result<(), Errno> {
        for directory in ProtectedPlaces::possible_repositories(path).filter(|directory| is_written(directory)) {
            // One that cannot be opened is not there, or nobody works in it.
            let Ok(lock) = Self::new(directory) else { continue };
            let identity = lock.identity()?;
            let is_held = |other: &Self| other.identity().is_ok_and(|other| other == identity);
            if !is_held(self) && !held.iter().any(is_held) {
                lock.lock()?;
                held.push(lock);
            }
        }
        Ok(())
    }

    fn identity(&self) -> Result<(u64, u64), Errno> {
        fstat(&self.0).map(|found| (found.st_dev, found.st_ino))
    }

    fn lock(&self) -> Result<(), Errno> {
        for _ in 0..TRIES {
            match flock(&self.0, FlockOperation::NonBlockingLockExclusive) {
                Err(Errno::AGAIN) => thread::sleep(PAUSE),
                Err(Errno::INTR) => {}
                // Some file systems of a network have none.
                Ok(()) | Err(_) => return Ok(()),
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

/// Opens a directory for its lock. Who owns one that may not be listed lets himself for a moment, as the job could; another
/// supervisor that starts then may take that away in between.
fn open_directory(directory: &Path) -> Result<OwnedFd, Errno> {
    let opened = || open(directory, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    for _ in 0..OPENS {
        match opened() {
            Err(Errno::ACCESS) => {}
            opened => return opened,
        }
        let mode = Mode::from_raw_mode(stat(directory)?.st_mode);
        if !mode.contains(Mode::RUSR) {
            chmod(directory, mode | Mode::RUSR)?;
            let opened = opened();
            chmod(directory, mode)?;
            if opened.is_ok() {
                return opened;
            }
        }
    }
    Err(Errno::ACCESS)
}
