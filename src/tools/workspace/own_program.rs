//! This program's own executable, for its hidden sub-commands: opened once, and started by that descriptor.
//!
//! A file that takes its place later (an update, or a command of an agent where it lies in a workspace) is never run. Where
//! there is no `/proc` it is started by its path.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The executable of the process that reads it.
pub(super) const ITSELF: &str = "/proc/self/exe";

/// The word that stands in a command line for this program where it is to be inherited as an open file: the guard puts the
/// name of that file there.
pub(super) const INHERITED: &str = "/proc/self/fd/steersman";

/// The executable of this program.
#[derive(Debug, Clone)]
pub struct OwnProgram {
    path: PathBuf,
    /// `None` where it cannot be opened, or not be started so.
    opened: Option<Arc<File>>,
}

impl OwnProgram {
    /// Returns the program of this process.
    ///
    /// # Errors
    /// The error of the system when the program does not find its own file.
    pub fn of_process() -> io::Result<Self> {
        if cfg!(target_os = "linux") { Ok(Self::from(ITSELF)) } else { std::env::current_exe().map(Self::from) }
    }

    /// Returns what starts it.
    pub(super) fn command(&self) -> OsString {
        let opened = self.opened.as_ref().map(|file| format!("/proc/self/fd/{}", file.as_raw_fd()).into());
        opened.unwrap_or_else(|| self.path.clone().into())
    }

    /// Returns how a process of this program, as the guard is one, starts itself.
    pub(super) fn itself(&self) -> OsString {
        if cfg!(target_os = "linux") { ITSELF.into() } else { self.path.clone().into() }
    }
}

impl<P: AsRef<Path>> From<P> for OwnProgram {
    fn from(path: P) -> Self {
        let path = path.as_ref().to_owned();
        let opened = if cfg!(target_os = "linux") { File::open(&path).ok().map(Arc::new) } else { None };
        Self { path, opened }
    }
}

/// Opens this process's own executable for the process that it starts next, when a command line wants that: puts its name
/// into the line, and returns the file, which is to be kept until then.
pub(super) fn inherit(line: &[OsString]) -> io::Result<Option<(Vec<OsString>, OwnedFd)>> {
    if !line.iter().any(|word| word == INHERITED) {
        return Ok(None);
    }
    let opened = File::open(ITSELF)?;
    rustix::io::fcntl_setfd(&opened, rustix::io::FdFlags::empty())?;
    let name = OsString::from(format!("/proc/self/fd/{}", opened.as_raw_fd()));
    // The program, and its argument; what the job itself is made of comes behind them.
    let mut left = 2;
    let line = line.iter().map(|word| {
        if left > 0 && word == INHERITED {
            left -= 1;
            name.clone()
        } else {
            word.clone()
        }
    });
    Ok(Some((line.collect(), opened.into())))
}
