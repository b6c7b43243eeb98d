//! Puts one protected place back to what it was, through open directories only.
//!
//! What is there is kept first, outside the workspace; what is too large for that gets another name beside its own.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::{AtFlags, Mode, OFlags};

use crate::limits;
use crate::workspace::beneath::Place;
use crate::workspace::snapshot::content::{Content, Room};
use crate::workspace::snapshot::grounds::Grounds;

/// The beginning of the name of a directory with changed versions.
const PREFIX: &str = "steersman-changed-";

/// Where the changed versions go.
#[derive(Debug)]
pub(super) struct Shelf {
    state: Option<PathBuf>,
    directory: Option<PathBuf>,
    count: usize,
}

impl Shelf {
    /// Names a directory that is made when there is something for it.
    pub(super) fn new(state: Option<&Path>) -> Self {
        Self { state: state.map(Path::to_owned), directory: None, count: 0 }
    }

    /// Keeps a version of a file.
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
        let within = match &self.state {
            Some(state) => {
                let within = state.join("changed");
                DirBuilder::new().recursive(true).mode(0o700).create(&within)?;
                prune(&within);
                within
            }
            None => std::env::temp_dir(),
        };
        let made = tempfile::Builder::new().prefix(PREFIX).tempdir_in(within)?.keep();
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
pub(super) fn put_back(
    grounds: &Grounds,
    path: &Path,
    before: &Content,
    repositories: &BTreeMap<PathBuf, u64>,
    shelf: &mut Shelf,
) -> io::Result<Option<PathBuf>> {
    let place = grounds.place(path)?;
    let now = Content::of(&place, &mut Room::for_one());
    if now.is_same(before) {
        return Ok(None);
    }
    if let (Content::Directory { mode, .. }, Content::Directory { .. }) = (before, &now) {
        rustix::fs::fchmod(place.directory()?, Mode::from_raw_mode(*mode))?;
        return Ok(None);
    }
    let kept = match &now {
        Content::Missing => None,
        Content::File { bytes, .. } | Content::Link(bytes) => Some(shelf.keep(&place.name, bytes)?),
        Content::Directory { .. } | Content::Unkept { .. } => {
            let name = free_name(&place)?;
            rustix::fs::renameat(&place.dir, &*place.name, &place.dir, &*name)?;
            Some(path.with_file_name(name))
        }
    };
    let remove = || match rustix::fs::unlinkat(&place.dir, &*place.name, AtFlags::empty()) {
        Ok(()) | Err(rustix::io::Errno::NOENT) => Ok(()),
        Err(error) => Err(io::Error::from(error)),
    };
    match before {
        Content::Missing => remove()?,
        Content::File { bytes, mode } => write(&place, bytes, *mode)?,
        Content::Link(target) => {
            remove()?;
            rustix::fs::symlinkat(OsStr::from_bytes(target), &place.dir, &*place.name)?;
        }
        Content::Directory { mode, inode } => {
            remove()?;
            match repositories.iter().find(|(_, found)| *found == inode) {
                // It was only moved away.
                Some((from, _)) => {
                    let from = grounds.place(from)?;
                    rustix::fs::renameat(&from.dir, &*from.name, &place.dir, &*place.name)?;
                }
                None if path.file_name().is_some_and(|name| name == ".git") => {
                    return Err(io::Error::other("the directory that was there is gone"));
                }
                None => rustix::fs::mkdirat(&place.dir, &*place.name, Mode::from_raw_mode(*mode))?,
            }
        }
        Content::Unkept { .. } => return Err(io::Error::other("what was there is too large to be kept")),
    }
    Ok(kept)
}

/// Writes a file and puts it in its place at once.
fn write(place: &Place, bytes: &[u8], mode: u32) -> io::Result<()> {
    let name = free_name(place)?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::openat(&place.dir, &*name, flags, Mode::from_raw_mode(0o600))?);
    let written = file
        .write_all(bytes)
        .and_then(|()| Ok(rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?))
        .and_then(|()| file.sync_all())
        .and_then(|()| Ok(rustix::fs::renameat(&place.dir, &*name, &place.dir, &*place.name)?));
    if written.is_err() {
        let _ = rustix::fs::unlinkat(&place.dir, &*name, AtFlags::empty());
    }
    written
}

/// Returns a name beside a place that nothing has.
fn free_name(place: &Place) -> io::Result<OsString> {
    let mut number = [0; 8];
    getrandom::fill(&mut number).map_err(|error| io::Error::other(error.to_string()))?;
    let mut name = OsString::from(".");
    name.push(&*place.name);
    name.push(format!(".changed-{:016x}", u64::from_le_bytes(number)));
    Ok(name)
}
