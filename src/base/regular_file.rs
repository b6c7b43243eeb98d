//! Bounded reading of regular files: how the program opens every file that others may have put there.
//!
//! A FIFO, a socket, a device or a directory is refused without waiting for it, and a file above the limit is never
//! read whole, whatever size the system reports. In a workspace links are refused; the user's own files may be
//! links.

use std::fs::{File, Metadata};
use std::io::{self, Read as _};
#[cfg(unix)]
use std::os::fd::AsFd;
use std::path::Path;

#[cfg(unix)]
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
#[cfg(unix)]
use rustix::io::Errno;

use crate::text::utf16_text;

/// Whether a symbolic link in the last part of a path is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// It is refused: the file is not trusted.
    Refused,
    /// It is followed: the path is the user's own.
    Followed,
}

/// The beginning of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The bytes that were read.
    pub bytes: Vec<u8>,
    /// The size of the whole file.
    pub size: u64,
}

impl Head {
    /// Returns whether the file is longer than what was read.
    pub fn is_truncated(&self) -> bool {
        (self.bytes.len() as u64) < self.size
    }
}

/// Opens a regular file for reading. Nothing can block the opening.
///
/// # Errors
/// That of the system, or a sentence when it is no regular file.
pub fn open(path: &Path, links: Links) -> io::Result<(File, Metadata)> {
    #[cfg(unix)]
    return open_at(CWD, path, links);
    #[cfg(not(unix))]
    {
        let kind = match links {
            Links::Refused => std::fs::symlink_metadata(path)?.file_type(),
            Links::Followed => std::fs::metadata(path)?.file_type(),
        };
        if kind.is_symlink() {
            return Err(linked());
        }
        let file = if kind.is_file() { File::open(path)? } else { return Err(irregular()) };
        let metadata = file.metadata()?;
        Ok((file, metadata))
    }
}

/// Opens a regular file like [`open`]; a relative path starts at an open directory.
///
/// # Errors
/// As [`open`].
#[cfg(unix)]
pub fn open_at(directory: impl AsFd, path: &Path, links: Links) -> io::Result<(File, Metadata)> {
    let (at_flags, open_flags) = match links {
        Links::Refused => (AtFlags::SYMLINK_NOFOLLOW, OFlags::NOFOLLOW),
        Links::Followed => (AtFlags::empty(), OFlags::empty()),
    };
    // Checked before opening, since opening a device may have effects; the opened file is checked once more below.
    let stat = rustix::fs::statat(&directory, path, at_flags)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {}
        FileType::Symlink => return Err(linked()),
        _ => return Err(irregular()),
    }
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC | open_flags;
    let file = match rustix::fs::openat(&directory, path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::LOOP) if links == Links::Refused => return Err(linked()),
        Err(error) => return Err(error.into()),
    };
    let metadata = file.metadata()?;
    if metadata.is_file() { Ok((file, metadata)) } else { Err(irregular()) }
}

/// Reads at most `most` bytes from the beginning of a file that is not trusted.
///
/// # Errors
/// As [`open`].
pub fn read_head(path: &Path, most: u64) -> io::Result<Head> {
    let (file, metadata) = open(path, Links::Refused)?;
    head(file, metadata.len(), most)
}

/// Reads at most `most` bytes from the beginning of an open file.
///
/// # Errors
/// That of the system.
pub fn head(file: File, size: u64, most: u64) -> io::Result<Head> {
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    // A file may grow meanwhile.
    let size = size.max(bytes.len() as u64);
    Ok(Head { bytes, size })
}

/// Reads the rest of an open file, which is refused when it is larger than `limit`.
///
/// # Errors
/// That of the system, or [`io::ErrorKind::FileTooLarge`] with a sentence that names the limit.
pub fn read_whole(file: File, size: u64, limit: u64) -> io::Result<Vec<u8>> {
    let too_large = |size: u64| {
        let sentence = format!("it is larger than {limit} bytes ({size} bytes)");
        io::Error::new(io::ErrorKind::FileTooLarge, sentence)
    };
    if size > limit {
        return Err(too_large(size));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    file.take(limit + 1).read_to_end(&mut bytes)?;
    let read = bytes.len() as u64;
    if read > limit { Err(too_large(size.max(read))) } else { Ok(bytes) }
}

/// Reads a file of the user's own whole; it may be a link.
///
/// # Errors
/// As [`open`] and [`read_whole`].
pub fn read_own(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    // What a shell makes of `<(…)`: only who starts the program names it.
    if path.starts_with("/dev/fd") { read_named(path, limit) } else { read_linked(path, limit) }
}

fn read_linked(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let (file, metadata) = open(path, Links::Followed)?;
    read_whole(file, metadata.len(), limit)
}

/// Reads a text file of the user's own whole, like [`read_own`]. A byte order mark at its start is no text.
///
/// # Errors
/// As [`read_own`]; a sentence that names the line when it is not UTF-8.
pub fn read_own_text(path: &Path, limit: u64) -> io::Result<String> {
    text_of(read_own(path, limit)?)
}

/// Reads what the user names on the command line whole: a file, or what comes out of a command, `<(…)`. It waits until that
/// has ended.
///
/// # Errors
/// As [`read_own`].
pub fn read_named(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;

        let kind = std::fs::metadata(path)?.file_type();
        if kind.is_fifo() || kind.is_char_device() {
            return read_whole(File::open(path)?, 0, limit);
        }
    }
    read_linked(path, limit)
}

/// Makes a text of the bytes of a file, in UTF-8 or whole in UTF-16.
///
/// # Errors
/// A sentence that names the line that is not UTF-8.
pub fn text_of(bytes: Vec<u8>) -> io::Result<String> {
    if let Some(text) = utf16_text(&bytes).filter(|text| !text.contains([char::REPLACEMENT_CHARACTER, '\0'])) {
        return Ok(text);
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = error.as_bytes().iter().take(valid).filter(|byte| **byte == b'\n').count() + 1;
        io::Error::new(io::ErrorKind::InvalidData, format!("line {line} is not UTF-8 text"))
    })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

fn linked() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is a symbolic link")
}

fn irregular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")
}
