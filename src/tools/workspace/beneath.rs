//! A directory that is opened once; all paths below it are opened from there, name by name, never through a link.
//!
//! Called by whatever opens or changes a file of a workspace. A path that was checked by name can be swapped for a link
//! before it is opened; a walk over open directories cannot, so no swap leads outside. Each step is one `openat`
//! with `O_NOFOLLOW`, which works on every kernel.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use steersman_base::regular_file::{self, Links};
use steersman_base::sync::lock;

/// The flags that open a directory for `openat`, also one that cannot be listed.
#[cfg(target_os = "linux")]
const STEP: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// The flags that open a directory for `openat`.
#[cfg(not(target_os = "linux"))]
const STEP: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The flags that open a directory for listing.
const LIST: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NONBLOCK).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// An open directory from which all access starts.
#[derive(Debug)]
pub(super) struct Beneath {
    root: OwnedFd,
    /// One writer at a time, so that the compared file is the replaced one.
    writing: Mutex<()>,
}

/// A name in an open directory.
#[derive(Debug)]
pub(super) struct NameInDirectory {
    pub(super) dir: OwnedFd,
    pub(super) name: Box<OsStr>,
}

impl Beneath {
    pub(super) fn open(real: &Path) -> io::Result<Self> {
        Ok(Self { root: rustix::fs::open(real, STEP, Mode::empty())?, writing: Mutex::new(()) })
    }

    /// Waits until no other writer is active.
    pub(super) fn writing(&self) -> MutexGuard<'_, ()> {
        lock(&self.writing)
    }

    /// Opens the directory of a file, which must exist.
    pub(super) fn place(&self, relative: &Path) -> io::Result<NameInDirectory> {
        let (above, name) = split(relative)?;
        let mut dir = self.root.try_clone()?;
        for step in above {
            dir = enter(&dir, step)?;
        }
        Ok(NameInDirectory { dir, name: name.into() })
    }

    /// Opens the directory of a file; makes missing directories and lists them in `made`, also after an error.
    pub(super) fn place_made(&self, relative: &Path, made: &mut Vec<PathBuf>) -> io::Result<NameInDirectory> {
        let (above, name) = split(relative)?;
        let mut dir = self.root.try_clone()?;
        let mut at = PathBuf::new();
        for step in above {
            at.push(step);
            dir = match enter(&dir, step) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    match rustix::fs::mkdirat(&dir, step, Mode::from_raw_mode(0o777)) {
                        Ok(()) => made.push(at.clone()),
                        // Another program made it meanwhile.
                        Err(Errno::EXIST) => {}
                        Err(error) => return Err(error.into()),
                    }
                    enter(&dir, step)?
                }
                entered => entered?,
            };
        }
        Ok(NameInDirectory { dir, name: name.into() })
    }

    /// Removes directories that were made, the deepest first, as far as they are empty.
    pub(super) fn unmake(&self, made: &[PathBuf]) {
        for directory in made.iter().rev() {
            if let Ok(place) = self.place(directory) {
                // One that is in use stays.
                let _ = rustix::fs::unlinkat(&place.dir, &*place.name, AtFlags::REMOVEDIR);
            }
        }
    }

    /// Opens a directory to be listed: the root itself for an empty path.
    pub(super) fn directory(&self, relative: &Path) -> io::Result<OwnedFd> {
        if relative.as_os_str().is_empty() {
            return Ok(rustix::fs::openat(&self.root, ".", LIST, Mode::empty())?);
        }
        self.place(relative)?.directory()
    }

    /// Opens a regular file for reading; anything else is refused, and nothing can block the opening.
    pub(super) fn open_file(&self, relative: &Path) -> io::Result<(File, Metadata)> {
        self.place(relative)?.open_file()
    }
}

impl NameInDirectory {
    /// Opens the directory of this name to be listed.
    pub(super) fn directory(&self) -> io::Result<OwnedFd> {
        Ok(rustix::fs::openat(&self.dir, &*self.name, LIST, Mode::empty())?)
    }

    /// As [`Beneath::open_file`].
    pub(super) fn open_file(&self) -> io::Result<(File, Metadata)> {
        regular_file::open_at(&self.dir, Path::new(&self.name), Links::Refused)
    }
}

/// Splits a path into the directories on the way and the name at its end.
fn split(relative: &Path) -> io::Result<(Vec<&OsStr>, &OsStr)> {
    let mut steps = Vec::new();
    for part in relative.components() {
        match part {
            Component::Normal(step) => steps.push(step),
            Component::CurDir | Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path does not only go down"));
            }
        }
    }
    let name = steps.pop().ok_or_else(|| io::Error::new(io::ErrorKind::IsADirectory, "it is the directory itself"))?;
    Ok((steps, name))
}

fn enter(dir: &OwnedFd, step: &OsStr) -> io::Result<OwnedFd> {
    match rustix::fs::openat(dir, step, STEP, Mode::empty()) {
        Ok(entered) => Ok(entered),
        Err(Errno::NOTDIR | Errno::LOOP) => {
            let shown = step.to_string_lossy();
            Err(io::Error::new(io::ErrorKind::NotADirectory, format!("{shown} on the way is no directory, or a link")))
        }
        Err(error) => Err(error.into()),
    }
}
