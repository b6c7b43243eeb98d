//! Temporary directories of this process: each is removed with its owner, at the latest when the process ends ([`remove_all`]),
//! and by a later process where this one was killed.
//!
//! Each holds a file that its process keeps locked; the system takes the lock from a process that has ended, however it
//! ended. Only directories of the same user with such a file are removed, and no link is followed.

use std::collections::hash_map::RandomState;
use std::fs::{self, DirBuilder, DirEntry, File, OpenOptions};
use std::hash::{BuildHasher as _, Hasher as _};
use std::io;
#[cfg(unix)]
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once};
use std::time::Duration;

use steersman_base::limits;
use steersman_base::sync::lock;

/// How the names of all such directories begin.
const PREFIX: &str = "steersman-";
/// The file that is locked as long as its directory is in use.
const LOCK: &str = ".steersman-lock";

/// The directories that are in use, so that the end of the process removes those whose owners are still there.
static IN_USE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A private temporary directory.
#[derive(Debug)]
pub struct TemporaryDirectory {
    path: PathBuf,
    _lock: File,
}

impl TemporaryDirectory {
    /// Makes a directory with this purpose in its name. The first one of a process lets a thread remove what killed
    /// processes left in the same place.
    ///
    /// # Errors
    /// The error of the file system.
    pub fn new_in(parent: &Path, purpose: &str) -> io::Result<Self> {
        static SWEPT: Once = Once::new();
        SWEPT.call_once(|| {
            let parent = parent.to_owned();
            // Without a thread they stay until the next time.
            let _ = std::thread::Builder::new()
                .name("abandoned-files".to_owned())
                .spawn(move || remove_abandoned(&parent, limits::ABANDONED_DIRECTORY_AGE));
        });
        let path = create_directory(parent, purpose)?;
        let locked = || {
            let lock = create_private(&path.join(LOCK))?;
            lock.try_lock()?;
            Ok((path.canonicalize()?, lock))
        };
        let (path, lock) = locked().inspect_err(|_: &io::Error| remove(&path))?;
        in_use(|directories| directories.push(path.clone()));
        Ok(Self { path, _lock: lock })
    }

    /// Returns its real path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        in_use(|directories| directories.retain(|path| *path != self.path));
        remove(&self.path);
    }
}

/// Removes the directories whose owners are still there when the process ends.
pub fn remove_all() {
    for path in in_use(std::mem::take) {
        remove(&path);
    }
}

/// Creates a directory that the user alone can read, under a name that nobody has taken and nobody can foresee.
fn create_directory(parent: &Path, purpose: &str) -> io::Result<PathBuf> {
    #[allow(unused_mut, reason = "only Unix has modes")]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    builder.mode(0o700);
    let mut attempts = 0;
    loop {
        // A random number of the standard library: its keys come from the system.
        let number = RandomState::new().build_hasher().finish();
        let path = parent.join(format!("{PREFIX}{purpose}-{number:016x}"));
        attempts += 1;
        match builder.create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempts < limits::DIRECTORY_NAMES => {}
            created => return created.map(|()| path),
        }
    }
}

fn in_use<T>(change: impl FnOnce(&mut Vec<PathBuf>) -> T) -> T {
    change(&mut lock(&IN_USE))
}

fn remove(path: &Path) {
    if let Err(error) = fs::remove_dir_all(path)
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!("the temporary directory {} stays: {error}", path.display());
    }
}

/// Removes the directories in `parent` that nobody uses any more and that are older than `age`: another process may be about
/// to lock a new one.
fn remove_abandoned(parent: &Path, age: Duration) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    for entry in entries {
        if entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()) && is_abandoned(&entry, age) {
            remove(&entry.path());
        }
    }
}

fn is_abandoned(entry: &DirEntry, age: Duration) -> bool {
    // Not behind a link: that is no directory.
    if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
        return false;
    }
    let Ok(lock) = open_lock(&entry.path().join(LOCK)) else { return false };
    let is_old_and_own = lock.metadata().is_ok_and(|metadata| {
        let is_old = metadata.modified().is_ok_and(|at| at.elapsed().is_ok_and(|elapsed| elapsed >= age));
        #[cfg(unix)]
        let is_old = is_old && metadata.uid() == rustix::process::geteuid().as_raw();
        is_old && metadata.is_file()
    });
    is_old_and_own && lock.try_lock().is_ok()
}

/// Opens what may be a lock without waiting for anything.
fn open_lock(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    options.custom_flags((rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits().cast_signed());
    options.open(path)
}

/// Creates a file that the user alone can read; there must be none.
///
/// # Errors
/// The error of the file system.
pub fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    options.mode(0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_private_and_goes_away_with_its_owner() {
        let parent = tempfile::tempdir().unwrap();
        let directory = TemporaryDirectory::new_in(parent.path(), "tmp").unwrap();
        assert_eq!(fs::metadata(directory.path()).unwrap().mode() & 0o777, 0o700);
        fs::write(directory.path().join("file"), "text").unwrap();
        drop(directory);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_what_is_in_use_stays() {
        let parent = tempfile::tempdir().unwrap();
        let used = TemporaryDirectory::new_in(parent.path(), "tmp").unwrap();
        for name in ["steersman-tmp-killed", "steersman-output-killed", "steersman-of-the-user", "another-program"] {
            fs::create_dir_all(parent.path().join(name).join("within")).unwrap();
            if name != "steersman-of-the-user" {
                fs::write(parent.path().join(name).join(LOCK), "").unwrap();
            }
        }
        std::os::unix::fs::symlink(parent.path().join("another-program"), parent.path().join("steersman-link"))
            .unwrap();
        let names = || {
            let entries = fs::read_dir(parent.path()).unwrap().map(|entry| entry.unwrap().path());
            let mut entries: Vec<PathBuf> = entries.filter(|path| path != used.path()).collect();
            entries.sort();
            entries.iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        remove_abandoned(parent.path(), Duration::from_hours(1));
        assert_eq!(names().len(), 5, "they are new");
        remove_abandoned(parent.path(), Duration::ZERO);
        assert_eq!(names(), ["another-program", "steersman-link", "steersman-of-the-user"]);
        assert!(used.path().is_dir() && parent.path().join("another-program/within").is_dir());
    }
}
