//! Puts one protected place back to what it was, through open directories only.
//!
//! What was there is made beside and changes places with what is there now, in one step, so nothing that anybody
//! writes meanwhile is lost. What is there now is kept outside the workspace; what is too large for that keeps the
//! name beside.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::{AtFlags, Mode, OFlags, RawMode, RenameFlags};
use rustix::io::Errno;

use crate::limits;
use crate::workspace::beneath::NameInDirectory;
use crate::workspace::snapshot::content::{KeepLimits, PathContent};
use crate::workspace::snapshot::grounds::WritableDirectories;
use crate::workspace::snapshot::settings_lock::{self, SettingsLock};
use crate::workspace::snapshot::{Difference, Snapshot};

/// The beginning of the name of a directory with changed versions.
const PREFIX: &str = "steersman-changed-";

/// What stands in the name of what is made beside a place, between its name and the mark.
const ASIDE: &str = ".changed-";

/// The longest part of a name that a name beside it begins with, bytes.
const NAME_BYTES: usize = 100;

/// The directory for changed versions.
#[derive(Debug)]
pub(super) struct ChangedVersions {
    state: Option<PathBuf>,
    /// Names what is made beside a place, so that it is found when this program is killed.
    mark: String,
    directory: Option<PathBuf>,
    count: usize,
    /// How often it is still looked whether git's locks are free.
    looks: usize,
}

impl ChangedVersions {
    /// Names a directory that is made when there is something for it.
    pub(super) fn new(state: Option<&Path>, mark: &str) -> Self {
        Self {
            state: state.map(Path::to_owned),
            mark: mark.to_owned(),
            directory: None,
            count: 0,
            looks: limits::SNAPSHOT_SETTINGS_LOOKS,
        }
    }

    /// Stores a version of a file.
    fn keep(&mut self, name: &OsStr, bytes: &[u8]) -> io::Result<PathBuf> {
        let directory = match &self.directory {
            Some(directory) => directory.clone(),
            None => self.make()?,
        };
        self.count += 1;
        let mut numbered = OsString::from(format!("{:02}-", self.count));
        numbered.push(name);
        let path = directory.join(numbered);
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        Ok(path)
    }

    fn make(&mut self) -> io::Result<PathBuf> {
        let made_in = |within: &Path| -> io::Result<PathBuf> {
            Ok(tempfile::Builder::new().prefix(PREFIX).tempdir_in(within)?.keep())
        };
        let in_state = self.state.as_ref().map(|state| {
            let within = state.join("changed");
            DirBuilder::new().recursive(true).mode(0o700).create(&within)?;
            prune(&within);
            made_in(&within)
        });
        // A full or read-only state directory must not keep what a command planted in its place.
        let made = match in_state {
            Some(Ok(made)) => made,
            Some(Err(_)) | None => made_in(&std::env::temp_dir())?,
        };
        self.directory = Some(made.clone());
        Ok(made)
    }
}

/// Removes the directories of changed versions that are old and not among the newest.
fn prune(within: &Path) {
    let mut all: Vec<(SystemTime, PathBuf)> = fs::read_dir(within)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_name().as_bytes().starts_with(PREFIX.as_bytes()))
        .filter_map(|entry| Some((entry.metadata().ok().filter(fs::Metadata::is_dir)?.modified().ok()?, entry.path())))
        .collect();
    all.sort_by(|one, other| other.cmp(one));
    let is_old = |made: &SystemTime| made.elapsed().is_ok_and(|age| age > limits::SNAPSHOT_CHANGED_AGE);
    for (_, path) in all.iter().skip(limits::SNAPSHOT_CHANGED).filter(|(made, _)| is_old(made)) {
        let _ = fs::remove_dir_all(path);
    }
}

/// Makes a place what it was; returns where the version that was there is now. Nothing is done when it is so already.
///
/// # Errors
/// `ResourceBusy` when it is not what was decided about any more: it is to be compared again.
pub(super) fn put_back(
    grounds: &WritableDirectories,
    difference: &Difference,
    repositories: &BTreeMap<PathBuf, u64>,
    shelf: &mut ChangedVersions,
) -> io::Result<Option<PathBuf>> {
    let mut tries = 0..limits::SNAPSHOT_ROUNDS;
    loop {
        match put_back_once(grounds, difference, repositories, shelf) {
            // Another program was faster.
            Err(error)
                if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists)
                    && tries.next().is_some() => {}
            done => return done,
        }
    }
}

fn put_back_once(
    grounds: &WritableDirectories,
    difference: &Difference,
    repositories: &BTreeMap<PathBuf, u64>,
    shelf: &mut ChangedVersions,
) -> io::Result<Option<PathBuf>> {
    let Difference { path, before, after, .. } = difference;
    let place = grounds.place(path)?;
    let now = PathContent::of(&place, &mut KeepLimits::for_one());
    if now.is_same(before) {
        return Ok(None);
    }
    let is_git = path.file_name().is_some_and(|name| name == ".git");
    let mut moved = None;
    let made = free_name(&place, &shelf.mark)?;
    let is_made = match before {
        PathContent::Missing => false,
        PathContent::File { bytes, mode } => write(&place, &made, bytes, *mode).map(|()| true)?,
        PathContent::Link(to) => rustix::fs::symlinkat(OsStr::from_bytes(to), &place.dir, &*made).map(|()| true)?,
        PathContent::Directory { mode, .. } if matches!(now, PathContent::Directory { .. }) => {
            rustix::fs::fchmod(place.directory()?, Mode::from_raw_mode(*mode))?;
            return Ok(None);
        }
        PathContent::Directory { mode, inode } => {
            moved = repositories.iter().find(|(_, found)| *found == inode).map(|(from, _)| from);
            let is_new = moved.is_none() && !is_git;
            is_new && rustix::fs::mkdirat(&place.dir, &*made, Mode::from_raw_mode(*mode)).map(|()| true)?
        }
        PathContent::Unkept { .. } => return Err(io::Error::other("what was there is too large to be kept")),
    };
    let _lock = SettingsLock::take(&place, &shelf.mark, &mut shelf.looks);
    let now = PathContent::of(&place, &mut KeepLimits::for_one());
    let is_other = after.bytes().is_some() && now.bytes().is_some() && now != *after;
    let changed = match (is_made, now.is_missing()) {
        // What was decided about is something else by now.
        _ if is_other => Err(Errno::BUSY),
        (true, true) => rename(&place, &made, &place, &place.name).map(|()| None),
        (true, false) => exchange(&place, &made, &shelf.mark).map(Some),
        (false, true) => Ok(None),
        (false, false) => rename(&place, &place.name, &place, &made).map(|()| Some(made.clone())),
    };
    if changed.is_err() && is_made {
        remove(&place, &made);
    }
    let kept = changed?.and_then(|aside| keep_aside(&place, &aside, path, shelf));
    match moved {
        Some(from) => {
            let from = grounds.place(from)?;
            rename(&from, &from.name, &place, &place.name)?;
        }
        None if is_git && matches!(before, PathContent::Directory { .. }) => {
            return Err(io::Error::other("the repository that was there is gone"));
        }
        None => {}
    }
    Ok(kept)
}

/// Stores a version that was put aside; returns its path.
fn keep_aside(place: &NameInDirectory, aside: &OsStr, path: &Path, shelf: &mut ChangedVersions) -> Option<PathBuf> {
    let beside = path.with_file_name(aside);
    let dir = place.dir.try_clone().ok()?;
    match PathContent::of(&NameInDirectory { dir, name: aside.into() }, &mut KeepLimits::for_one()) {
        PathContent::Missing => None,
        PathContent::File { bytes, .. } | PathContent::Link(bytes) => match shelf.keep(&place.name, &bytes) {
            Ok(kept) => {
                remove(place, aside);
                Some(kept)
            }
            Err(_) => Some(beside),
        },
        PathContent::Directory { .. } | PathContent::Unkept { .. } => Some(beside),
    }
}

/// Removes what a program that was killed while it put something back had made beside; returns each place whose changed
/// version was still there, with where that is kept.
pub(super) fn sweep(
    snapshot: &Snapshot,
    directories: &BTreeSet<PathBuf>,
    shelf: &mut ChangedVersions,
) -> Vec<(PathBuf, PathBuf)> {
    let mut kept = Vec::new();
    for directory in directories {
        let (names, _) = snapshot.grounds.list(directory, limits::SNAPSHOT_WALK_ENTRIES).unwrap_or_default();
        for (name, _) in names {
            let Some(of) = name_of_aside(&name, &shelf.mark) else {
                sweep_lock(&snapshot.grounds, &directory.join(&name), &shelf.mark);
                continue;
            };
            let path = directory.join(of);
            let Ok(place) = snapshot.grounds.place(&path) else { continue };
            let before = snapshot.entries.get(&path).and_then(|(_, before)| before.bytes()).unwrap_or_default();
            match snapshot.grounds.look(&directory.join(&name), &mut KeepLimits::for_one()) {
                // Nobody's but the program's own: a part of what was there before, or a lock that was not put in
                // its place.
                PathContent::File { bytes, .. } | PathContent::Link(bytes)
                    if before.starts_with(&bytes) || shelf.mark.as_bytes().starts_with(&bytes) =>
                {
                    remove(&place, &name);
                }
                PathContent::File { .. } | PathContent::Link(_) => {
                    kept.extend(keep_aside(&place, &name, &path, shelf).map(|now| (path, now)));
                }
                PathContent::Missing => {}
                // An empty directory was only made; anything else may not have been named to the user yet.
                PathContent::Directory { .. } | PathContent::Unkept { .. } => {
                    let aside = directory.join(&name);
                    remove_empty_directory(&place, &name);
                    let now = snapshot.grounds.look(&aside, &mut KeepLimits::for_one());
                    kept.extend((!now.is_missing()).then_some((path, aside)));
                }
            }
        }
    }
    kept
}

/// Removes a lock that a program with this mark held.
fn sweep_lock(grounds: &WritableDirectories, path: &Path, mark: &str) {
    if let (Ok(place), PathContent::File { bytes, .. }) =
        (grounds.place(path), grounds.look(path, &mut KeepLimits::for_one()))
        && settings_lock::is_ours(&place.name, &bytes, mark)
    {
        remove(&place, &place.name);
    }
}

/// Moves a name to where nothing is.
fn rename(from: &NameInDirectory, name: &OsStr, to: &NameInDirectory, new: &OsStr) -> rustix::io::Result<()> {
    match rustix::fs::renameat_with(&from.dir, name, &to.dir, new, RenameFlags::NOREPLACE) {
        // A file system that cannot.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => rustix::fs::renameat(&from.dir, name, &to.dir, new),
        done => done,
    }
}

/// Changes places with what was made beside; returns the name of what was there.
fn exchange(place: &NameInDirectory, made: &OsStr, mark: &str) -> rustix::io::Result<OsString> {
    match rustix::fs::renameat_with(&place.dir, made, &place.dir, &*place.name, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(made.to_owned()),
        // A file system that cannot.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            let aside = free_name(place, mark).map_err(|_| Errno::IO)?;
            rename(place, &place.name, place, &aside)?;
            rename(place, made, place, &place.name)?;
            Ok(aside)
        }
        Err(error) => Err(error),
    }
}

/// Removes a file, a link or an empty directory.
pub(super) fn remove(place: &NameInDirectory, name: &OsStr) {
    let _ = rustix::fs::unlinkat(&place.dir, name, AtFlags::empty());
    remove_empty_directory(place, name);
}

/// Removes an empty directory and nothing else.
fn remove_empty_directory(place: &NameInDirectory, name: &OsStr) {
    let _ = rustix::fs::unlinkat(&place.dir, name, AtFlags::REMOVEDIR);
}

/// Writes a new file.
pub(super) fn write(place: &NameInDirectory, name: &OsStr, bytes: &[u8], mode: RawMode) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::openat(&place.dir, name, flags, Mode::from_raw_mode(0o600))?);
    let written = file
        .write_all(bytes)
        .and_then(|()| Ok(rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?))
        .and_then(|()| file.sync_all());
    if written.is_err() {
        remove(place, name);
    }
    written
}

/// Returns a name beside a place that nothing has.
pub(super) fn free_name(place: &NameInDirectory, mark: &str) -> io::Result<OsString> {
    let mut number = [0; 8];
    getrandom::fill(&mut number).map_err(|error| io::Error::other(error.to_string()))?;
    let name = place.name.as_bytes();
    let mut free = OsString::from(".");
    free.push(OsStr::from_bytes(name.get(..NAME_BYTES).unwrap_or(name)));
    free.push(format!("{ASIDE}{mark}-{:016x}", u64::from_le_bytes(number)));
    Ok(free)
}

/// Returns the name of the place beside which a program with this mark made a file of this name.
fn name_of_aside(name: &OsStr, mark: &str) -> Option<OsString> {
    let bytes = name.as_bytes().strip_prefix(b".")?;
    let ending = format!("{ASIDE}{mark}-").into_bytes();
    let at = bytes.len().checked_sub(ending.len() + 16)?;
    let is_ours = !mark.is_empty() && bytes.get(at..).is_some_and(|rest| rest.starts_with(&ending));
    bytes.get(..at).filter(|_| is_ours).map(|of| OsStr::from_bytes(of).to_owned())
}
