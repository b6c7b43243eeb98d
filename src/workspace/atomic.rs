//! Replaces or creates a file in one step: whoever looks sees the old content or the new one, whole (fault F3).
//!
//! Called by the workspace's writer and by undo. The new content goes to a temporary file beside the old one, to the disk,
//! and then takes its name; so a hard link's other name keeps its content, and a link is never written through. After an
//! error nothing is left behind; only a kill between the two can leave a `.steersman-….tmp`. Access lists and extended
//! attributes are not carried over.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;

use rustix::fs::{AtFlags, Gid, Mode, OFlags, RenameFlags, Uid};
use rustix::io::Errno;

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
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len().min(limit)).unwrap_or_default());
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("it is larger than {limit} bytes ({} bytes)", metadata.len()),
        ));
    }
    let owner = (metadata.uid(), metadata.gid());
    Ok(Some(Held { bytes: bytes.into(), mode: metadata.mode() & 0o777, owner }))
}

/// Puts `bytes` in the place of a file that still holds `before`, or where there is none.
///
/// The permissions are those of the file, or `mode`; those of a new file are the usual ones.
pub(super) fn replace(place: &Place, before: Option<&[u8]>, bytes: &[u8], mode: Option<u32>) -> Result<(), Unwritten> {
    let limit = before.map_or(0, <[u8]>::len) as u64;
    let same = |held: Option<&Held>| held.map(|held| &*held.bytes) == before;
    // What outgrew the limit differs.
    let seen = || match look(place, limit) {
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Err(Unwritten::Changed),
        seen => Ok(seen?),
    };
    let held = seen()?;
    if !same(held.as_ref()) {
        return Err(Unwritten::Changed);
    }
    let temporary = Temporary::write(place, bytes, held.as_ref(), mode)?;
    if before.is_none() {
        return temporary.create();
    }
    // Writing took its time.
    if !same(seen()?.as_ref()) {
        return Err(Unwritten::Changed);
    }
    temporary.put()
}

/// Removes a file that still holds `before`.
pub(super) fn remove(place: &Place, before: &[u8]) -> Result<(), Unwritten> {
    match look(place, before.len() as u64) {
        Ok(Some(held)) if *held.bytes == *before => {}
        Ok(_) => return Err(Unwritten::Changed),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => return Err(Unwritten::Changed),
        Err(error) => return Err(error.into()),
    }
    Ok(rustix::fs::unlinkat(&place.dir, &*place.name, AtFlags::empty())?)
}

/// Is a file without its final name; goes away unless it gets that.
struct Temporary<'a> {
    place: &'a Place,
    name: OsString,
}

impl<'a> Temporary<'a> {
    fn write(place: &'a Place, bytes: &[u8], like: Option<&Held>, mode: Option<u32>) -> Result<Self, Unwritten> {
        // A new file gets what the user's mask leaves of it; one with a mode of its own is closed until it has that.
        let first = if like.is_none() && mode.is_none() { 0o666 } else { 0o600 };
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let name = temporary_name()?;
        let file = rustix::fs::openat(&place.dir, &name, flags, Mode::from_raw_mode(first))?;
        let temporary = Self { place, name };
        let mut file = File::from(file);
        file.write_all(bytes)?;
        if let Some(like) = like {
            keep_owner(&file, like.owner);
        }
        if let Some(mode) = mode.or(like.map(|like| like.mode)) {
            rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?;
        }
        file.sync_all()?;
        Ok(temporary)
    }

    /// Takes the name of the file that is there.
    fn put(mut self) -> Result<(), Unwritten> {
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
