//! Replaces or creates a file atomically: a reader sees either the old or the new content, whole.
//!
//! Called by the workspace's writer and by undo. The new content goes to a temporary file beside the old one, to
//! the disk, and then takes its name; so a hard link's other name keeps its content, and a link is never written
//! through. After an error nothing is left behind; only a kill between the two can leave a `.steersman-….tmp`.
//! Access lists and extended attributes are not carried over. A file whose other names are to have the new content too is
//! written into instead, and gets its old content back when that fails.

use std::ffi::OsString;
use std::fs::{File, Permissions};
use std::io::{self, Seek as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::sync::Arc;

use rustix::fs::{AtFlags, Gid, Mode, OFlags, RenameFlags, Uid};
use rustix::io::Errno;

use crate::workspace::beneath::NameInDirectory;
use steersman_base::fault;
use steersman_base::regular_file;
use steersman_base::text::hex;

/// The current content, mode and owner of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSnapshot {
    /// Its whole content.
    pub bytes: Arc<[u8]>,
    pub(super) mode: u32,
    owner: (u32, u32),
    /// What tells the file from others, and how many names it has.
    pub(super) identity: (u64, u64),
    links: u64,
}

impl FileSnapshot {
    /// Returns how many names the file has.
    pub fn links(&self) -> u64 {
        self.links
    }

    /// Returns what keeps all its names, where it has several.
    pub fn names(&self) -> Names {
        if self.links > 1 { Names::Kept { identity: self.identity, links: self.links } } else { Names::Parted }
    }
}

/// What becomes of the other names of a file that is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// They keep the old content: the changed file is another one from here on.
    Parted,
    /// Each has the new content, if it is still this file with so many names: another could be put in its place meanwhile.
    Kept {
        /// What tells the file from others.
        identity: (u64, u64),
        /// The names.
        links: u64,
    },
}

/// The reason why a file was not written; it is unchanged.
#[derive(Debug, thiserror::Error)]
pub(super) enum WriteError {
    /// It does not have the content that is to be replaced.
    #[error("it was changed meanwhile")]
    Changed,
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<Errno> for WriteError {
    fn from(error: Errno) -> Self {
        Self::Io(error.into())
    }
}

/// Reads a file whole; `None` when there is none. A file above the limit is refused.
pub(super) fn look(place: &NameInDirectory, limit: u64) -> io::Result<Option<FileSnapshot>> {
    let (file, metadata) = match place.open_file() {
        Ok(opened) => opened,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let bytes = regular_file::read_whole(file, metadata.len(), limit)?;
    let owner = (metadata.uid(), metadata.gid());
    let (identity, links) = ((metadata.dev(), metadata.ino()), metadata.nlink());
    Ok(Some(FileSnapshot { bytes: bytes.into(), mode: metadata.mode() & 0o777, owner, identity, links }))
}

/// Reads a file that still has the content `before`; with `None` there must be no file.
fn unchanged(place: &NameInDirectory, before: Option<&[u8]>) -> Result<Option<FileSnapshot>, WriteError> {
    let held = match look(place, before.map_or(0, <[u8]>::len) as u64) {
        // A longer file differs.
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => return Err(WriteError::Changed),
        held => held?,
    };
    if held.as_ref().map(|held| &*held.bytes) == before { Ok(held) } else { Err(WriteError::Changed) }
}

/// Replaces a file that still has the content `before`, or creates one where there is none.
///
/// The permissions are those that the file has now; those of a new file are the usual ones.
pub(super) fn replace(
    place: &NameInDirectory,
    before: Option<&[u8]>,
    bytes: &[u8],
    names: Names,
) -> Result<(), WriteError> {
    let held = unchanged(place, before)?;
    if let (Some(held), Names::Kept { .. }) = (&held, names) {
        return if held.names() == names { overwrite(place, held, bytes) } else { Err(WriteError::Changed) };
    }
    let temporary = TemporaryFile::write(place, bytes, held.as_ref())?;
    match before {
        Some(before) => temporary.put(before),
        None => temporary.create(),
    }
}

/// Writes into a file that is this one; a failure gives it its content back.
fn overwrite(place: &NameInDirectory, held: &FileSnapshot, bytes: &[u8]) -> Result<(), WriteError> {
    let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::openat(&place.dir, &*place.name, flags, Mode::empty())?);
    let metadata = file.metadata()?;
    if (metadata.dev(), metadata.ino()) != held.identity || metadata.nlink() != held.links {
        return Err(WriteError::Changed);
    }
    let mut put = |bytes: &[u8]| -> io::Result<()> {
        file.rewind()?;
        file.write_all(bytes)?;
        file.set_len(bytes.len() as u64)?;
        file.sync_all()
    };
    if let Err(error) = put(bytes) {
        // Nothing more can be done about it.
        let _ = put(&held.bytes);
        return Err(error.into());
    }
    fault::step();
    Ok(())
}

/// Removes a file that still holds `before`.
pub(super) fn remove(place: &NameInDirectory, before: &[u8]) -> Result<(), WriteError> {
    unchanged(place, Some(before))?;
    Ok(rustix::fs::unlinkat(&place.dir, &*place.name, AtFlags::empty())?)
}

/// A temporary file, which is removed unless it gets its final name.
struct TemporaryFile<'a> {
    place: &'a NameInDirectory,
    name: OsString,
}

impl<'a> TemporaryFile<'a> {
    fn write(place: &'a NameInDirectory, bytes: &[u8], like: Option<&FileSnapshot>) -> Result<Self, WriteError> {
        // A new file gets what the user's mask leaves of it; one that takes over a mode is closed until it has that.
        let first = if like.is_none() { 0o666 } else { 0o600 };
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let name = temporary_name()?;
        let file = rustix::fs::openat(&place.dir, &name, flags, Mode::from_raw_mode(first))?;
        let temporary = Self { place, name };
        let mut file = File::from(file);
        file.write_all(bytes)?;
        if let Some(like) = like {
            keep_owner(&file, like.owner);
            file.set_permissions(Permissions::from_mode(like.mode))?;
        }
        file.sync_all()?;
        fault::step();
        Ok(temporary)
    }

    /// Takes the name of the existing file, if that still has the content `before`.
    fn put(mut self, before: &[u8]) -> Result<(), WriteError> {
        unchanged(self.place, Some(before))?;
        rustix::fs::renameat(&self.place.dir, &self.name, &self.place.dir, &*self.place.name)?;
        self.done();
        Ok(())
    }

    /// Takes a name that no file has.
    fn create(mut self) -> Result<(), WriteError> {
        let NameInDirectory { dir, name } = self.place;
        match rustix::fs::renameat_with(dir, &self.name, dir, &**name, RenameFlags::NOREPLACE) {
            Ok(()) => self.done(),
            Err(Errno::EXIST) => return Err(WriteError::Changed),
            // Not every file system knows it; then a second name does it, which never replaces either.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                match rustix::fs::linkat(dir, &self.name, dir, &**name, AtFlags::empty()) {
                    Ok(()) => sync(dir),
                    Err(Errno::EXIST) => return Err(WriteError::Changed),
                    Err(error) => return Err(error.into()),
                }
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn done(&mut self) {
        fault::step();
        self.name.clear();
        sync(&self.place.dir);
    }
}

impl Drop for TemporaryFile<'_> {
    fn drop(&mut self) {
        if !self.name.is_empty() {
            // Nothing more can be done about it.
            let _ = rustix::fs::unlinkat(&self.place.dir, &self.name, AtFlags::empty());
        }
    }
}

/// Gives the new file the old one's owner, where that is allowed and makes a difference.
fn keep_owner(file: &File, (user, group): (u32, u32)) {
    let Ok(metadata) = file.metadata() else { return };
    if (metadata.uid(), metadata.gid()) != (user, group) {
        let both = rustix::fs::fchown(file, Some(Uid::from_raw(user)), Some(Gid::from_raw(group)));
        if both.is_err() {
            // A file of another user becomes the user's own, as with every editor; its group may still be kept.
            let _ = rustix::fs::fchown(file, None, Some(Gid::from_raw(group)));
        }
    }
}

/// Syncs a directory to disk. A failure loses no content: old and new are both whole.
fn sync(dir: &OwnedFd) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    if let Ok(opened) = rustix::fs::openat(dir, ".", flags, Mode::empty()) {
        let _ = rustix::fs::fsync(opened);
    }
}

fn temporary_name() -> io::Result<OsString> {
    let mut random = [0_u8; 8];
    getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(format!(".steersman-{}.tmp", hex(&random)).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    use crate::workspace::beneath::Beneath;

    fn place(dir: &Path) -> NameInDirectory {
        Beneath::open(dir).unwrap().place(Path::new("file")).unwrap()
    }

    #[test]
    fn what_is_written_to_a_file_while_its_new_content_goes_to_the_disk_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, "before").unwrap();
        let place = place(dir.path());
        for theirs in ["theirs", "theirs, and longer", ""] {
            fs::write(&path, "before").unwrap();
            let temporary = TemporaryFile::write(&place, b"after", None).unwrap();
            fs::write(&path, theirs).unwrap();
            assert!(matches!(temporary.put(b"before"), Err(WriteError::Changed)), "{theirs:?}");
            assert_eq!(fs::read_to_string(&path).unwrap(), theirs);
        }
        fs::write(&path, "before").unwrap();
        let temporary = TemporaryFile::write(&place, b"after", None).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(matches!(temporary.put(b"before"), Err(WriteError::Changed)), "it was removed meanwhile");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is left behind");
    }

    #[test]
    fn a_file_that_appears_while_a_new_one_goes_to_the_disk_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let place = place(dir.path());
        let temporary = TemporaryFile::write(&place, b"ours", None).unwrap();
        fs::write(dir.path().join("file"), "theirs").unwrap();
        assert!(matches!(temporary.create(), Err(WriteError::Changed)));
        assert_eq!(fs::read_to_string(dir.path().join("file")).unwrap(), "theirs");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left behind");
    }
}
