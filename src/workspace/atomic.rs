//! Replaces or creates a file in one step: whoever looks sees the old content or the new one, whole (fault F3).
//!
//! Called by the workspace's writer and by undo. The new content goes to a temporary file beside the old one, to the disk,
//! and then takes its name; so a hard link's other name keeps its content, and a link is never written through. After an
//! error nothing is left behind; only a kill between the two can leave a `.steersman-….tmp`. Access lists and extended
//! attributes are not carried over.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;

use rustix::fs::{AtFlags, Gid, Mode, OFlags, RenameFlags, Uid};
use rustix::io::Errno;

use crate::regular_file;
use crate::workspace::beneath::Place;

/// Is a file as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// Its whole content.
    pub bytes: Arc<[u8]>,
    /// Its permissions.
    pub(super) mode: u32,
    owner: (u32, u32),
}

/// Says why a file was not written; it is as it was.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unwritten {
    /// It does not hold (any more) what is to be replaced.
    #[error("it was changed meanwhile")]
    Changed,
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<Errno> for Unwritten {
    fn from(error: Errno) -> Self {
        Self::Io(error.into())
    }
}

/// Reads a file whole; `None` when there is none of that name. One over the limit is refused.
pub(super) fn look(place: &Place, limit: u64) -> io::Result<Option<Held>> {
    let (file, metadata) = match place.open_file() {
        Ok(opened) => opened,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let bytes = regular_file::read_whole(file, metadata.len(), limit)?;
    let owner = (metadata.uid(), metadata.gid());
    Ok(Some(Held { bytes: bytes.into(), mode: metadata.mode() & 0o777, owner }))
}

/// Reads a file that still holds `before`; with `None` there must be no file.
fn unchanged(place: &Place, before: Option<&[u8]>) -> Result<Option<Held>, Unwritten> {
    let held = match look(place, before.map_or(0, <[u8]>::len) as u64) {
        // What outgrew it differs.
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => return Err(Unwritten::Changed),
        held => held?,
    };
    if held.as_ref().map(|held| &*held.bytes) == before { Ok(held) } else { Err(Unwritten::Changed) }
}

/// Puts `bytes` in the place of a file that still holds `before`, or where there is none.
///
/// The permissions are those that the file has now; those of a new file are the usual ones.
pub(super) fn replace(place: &Place, before: Option<&[u8]>, bytes: &[u8]) -> Result<(), Unwritten> {
    let held = unchanged(place, before)?;
    let temporary = Temporary::write(place, bytes, held.as_ref())?;
    match before {
        Some(before) => temporary.put(before),
        None => temporary.create(),
    }
}

/// Removes a file that still holds `before`.
pub(super) fn remove(place: &Place, before: &[u8]) -> Result<(), Unwritten> {
    unchanged(place, Some(before))?;
    Ok(rustix::fs::unlinkat(&place.dir, &*place.name, AtFlags::empty())?)
}

/// Is a file without its final name; goes away unless it gets that.
struct Temporary<'a> {
    place: &'a Place,
    name: OsString,
}

impl<'a> Temporary<'a> {
    fn write(place: &'a Place, bytes: &[u8], like: Option<&Held>) -> Result<Self, Unwritten> {
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
            rustix::fs::fchmod(&file, Mode::from_raw_mode(like.mode))?;
        }
        file.sync_all()?;
        Ok(temporary)
    }

    /// Takes the name of the file that is there, if that still holds `before`: writing took its time.
    fn put(mut self, before: &[u8]) -> Result<(), Unwritten> {
        unchanged(self.place, Some(before))?;
        rustix::fs::renameat(&self.place.dir, &self.name, &self.place.dir, &*self.place.name)?;
        self.done();
        Ok(())
    }

    /// Takes a name that nothing has.
    fn create(mut self) -> Result<(), Unwritten> {
        let Place { dir, name } = self.place;
        match rustix::fs::renameat_with(dir, &self.name, dir, &**name, RenameFlags::NOREPLACE) {
            Ok(()) => self.done(),
            Err(Errno::EXIST) => return Err(Unwritten::Changed),
            // Not every file system knows it; then a second name does it, which never replaces either.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                match rustix::fs::linkat(dir, &self.name, dir, &**name, AtFlags::empty()) {
                    Ok(()) => sync(dir),
                    Err(Errno::EXIST) => return Err(Unwritten::Changed),
                    Err(error) => return Err(error.into()),
                }
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn done(&mut self) {
        self.name.clear();
        sync(&self.place.dir);
    }
}

impl Drop for Temporary<'_> {
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
            // Another's file becomes ours, as with every editor; its group may still be kept.
            let _ = rustix::fs::fchown(file, None, Some(Gid::from_raw(group)));
        }
    }
}

/// Sends a directory's names to the disk. A failure costs no content: old and new are both whole.
fn sync(dir: &OwnedFd) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    if let Ok(opened) = rustix::fs::openat(dir, ".", flags, Mode::empty()) {
        let _ = rustix::fs::fsync(opened);
    }
}

fn temporary_name() -> io::Result<OsString> {
    let mut random = [0_u8; 8];
    getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
    let mut name = String::from(".steersman-");
    for byte in random {
        // Writing to a string cannot fail.
        let _ = write!(name, "{byte:02x}");
    }
    name.push_str(".tmp");
    Ok(name.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    use crate::workspace::beneath::Beneath;

    fn place(dir: &Path) -> Place {
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
            let temporary = Temporary::write(&place, b"after", None).unwrap();
            fs::write(&path, theirs).unwrap();
            assert!(matches!(temporary.put(b"before"), Err(Unwritten::Changed)), "{theirs:?}");
            assert_eq!(fs::read_to_string(&path).unwrap(), theirs);
        }
        fs::write(&path, "before").unwrap();
        let temporary = Temporary::write(&place, b"after", None).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(matches!(temporary.put(b"before"), Err(Unwritten::Changed)), "it was removed meanwhile");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is left behind");
    }

    #[test]
    fn a_file_that_appears_while_a_new_one_goes_to_the_disk_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let place = place(dir.path());
        let temporary = Temporary::write(&place, b"ours", None).unwrap();
        fs::write(dir.path().join("file"), "theirs").unwrap();
        assert!(matches!(temporary.create(), Err(Unwritten::Changed)));
        assert_eq!(fs::read_to_string(dir.path().join("file")).unwrap(), "theirs");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left behind");
    }
}
