//! Reads the beginning of a regular file that nobody vouches for: no link in its last part, no FIFO, no device, no more
//! bytes than asked for.

use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Is the beginning of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The bytes that were read.
    pub bytes: Vec<u8>,
    /// The size of the whole file.
    pub size: u64,
}

impl Head {
    /// Tells whether there is more in the file.
    pub fn is_cut(&self) -> bool {
        (self.bytes.len() as u64) < self.size
    }
}

/// Reads at most `most` bytes from the beginning of a file.
///
/// # Errors
/// What the system says; for anything but a regular file an error that says so.
pub fn read_head(path: &Path, most: u64) -> io::Result<Head> {
    // A link fails to open, and a FIFO opens at once instead of waiting for a writer.
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let flags = flags.bits().cast_signed();
    if path.symlink_metadata()?.is_symlink() {
        return Err(io::Error::other("is a symbolic link"));
    }
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("is not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    // A file may grow meanwhile.
    let size = metadata.len().max(bytes.len() as u64);
    Ok(Head { bytes, size })
}
