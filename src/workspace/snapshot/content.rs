//! The content of one protected path, read through open directories and never through a link.
//!
//! Always holds: nothing is read that is no regular file, and no more of a file than is kept.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{FileType, RawMode, Stat};
use serde::{Deserialize, Serialize};

use crate::limits;
use crate::workspace::beneath::{Beneath, NameInDirectory};
use crate::workspace::snapshot::journal::base64_text;

/// The content of a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum PathContent {
    Missing,
    /// A file, with what it holds and its permissions.
    File {
        #[serde(with = "base64_text")]
        bytes: Vec<u8>,
        mode: RawMode,
    },
    /// A symbolic link, with its target.
    Link(#[serde(with = "base64_text")] Vec<u8>),
    /// A directory; which one it is matters only when it has to be found again.
    Directory {
        mode: RawMode,
        inode: u64,
    },
    /// Something that is not kept: too large, unreadable, or no file. It is known by its identity.
    Unkept {
        inode: u64,
        size: u64,
        changed: i64,
    },
}

/// The bytes and entries that may still be kept.
pub(super) struct KeepLimits {
    pub(super) bytes: u64,
    pub(super) entries: usize,
}

impl KeepLimits {
    pub(super) fn new() -> Self {
        Self { bytes: limits::SNAPSHOT_BYTES, entries: limits::SNAPSHOT_ENTRIES }
    }

    /// Returns room for one file.
    pub(super) fn for_one() -> Self {
        Self { bytes: limits::SNAPSHOT_FILE_BYTES, entries: 1 }
    }
}

impl PathContent {
    /// Looks at a place below an open directory. What cannot be reached is not there.
    pub(super) fn look(ground: &Beneath, relative: &Path, room: &mut KeepLimits) -> Self {
        ground.place(relative).map_or(Self::Missing, |place| Self::of(&place, room))
    }

    /// Looks at a name in an open directory.
    pub(super) fn of(place: &NameInDirectory, room: &mut KeepLimits) -> Self {
        let Ok(stat) = place.stat() else { return Self::Missing };
        let unkept = unkept(&stat);
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => Self::Directory { mode: stat.st_mode & 0o7777, inode: stat.st_ino },
            FileType::Symlink => match rustix::fs::readlinkat(&place.dir, &*place.name, Vec::new()) {
                Ok(target) => Self::Link(target.into_bytes()),
                Err(_) => unkept,
            },
            FileType::RegularFile => {
                let Ok((file, metadata)) = place.open_file() else { return unkept };
                let most = room.bytes.min(limits::SNAPSHOT_FILE_BYTES);
                if metadata.len() > most {
                    return unkept;
                }
                match read(file, most) {
                    Some(bytes) => {
                        room.bytes = room.bytes.saturating_sub(bytes.len() as u64);
                        Self::File { bytes, mode: stat.st_mode & 0o7777 }
                    }
                    None => unkept,
                }
            }
            _ => unkept,
        }
    }

    /// Returns whether git and other tools would see no difference.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Directory { mode, .. }, Self::Directory { mode: other, .. }) => mode == other,
            _ => self == other,
        }
    }

    pub(super) fn is_missing(&self) -> bool {
        *self == Self::Missing
    }

    /// Returns the text of a file, or the target of a link.
    pub(super) fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::File { bytes, .. } | Self::Link(bytes) => Some(bytes),
            Self::Missing | Self::Directory { .. } | Self::Unkept { .. } => None,
        }
    }

    /// Returns a short description.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Missing => "nothing".to_owned(),
            Self::File { mode, .. } if mode & 0o111 != 0 => "an executable file".to_owned(),
            Self::File { .. } => "a file".to_owned(),
            Self::Link(target) => {
                let target = Path::new(std::ffi::OsStr::from_bytes(target)).to_string_lossy().into_owned();
                format!("a link to {}", crate::text::visible_line(&target))
            }
            Self::Directory { .. } => "a directory".to_owned(),
            Self::Unkept { size, .. } => format!("something too large to keep, or no file ({size} bytes)"),
        }
    }
}

/// Reads a file whole; `None` when it holds more.
fn read(file: File, most: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= most).then_some(bytes)
}

fn unkept(stat: &Stat) -> PathContent {
    let size = u64::try_from(stat.st_size).unwrap_or(0);
    let nanos = i64::try_from(stat.st_ctime_nsec).unwrap_or(0);
    let changed = stat.st_ctime.wrapping_mul(1_000_000_000).wrapping_add(nanos);
    PathContent::Unkept { inode: stat.st_ino, size, changed }
}
