//! The key of a session: whoever can read it may act. It lies beside the socket, in a file that only the user can read and
//! that no sandbox shows.
//!
//! Made before the session listens, gone with it. Always holds: it is compared in a time that says nothing about it.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// Random bytes of a key; it is written with two letters for each.
const BYTES: usize = 32;

/// A secret by which a session knows the user's own programs.
pub(super) struct SessionKey(String);

impl SessionKey {
    /// Makes a key, and its file in place of one that a killed program left.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
        let key: String = bytes.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = File::options().write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(key.as_bytes())?;
        Ok(Self(key))
    }

    /// Reads the key of a session that runs.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn load(path: &Path) -> io::Result<String> {
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        let file = File::options().read(true).custom_flags(flags).open(path)?;
        let mut key = String::new();
        file.take(2 * BYTES as u64).read_to_string(&mut key)?;
        Ok(key)
    }

    /// Tells whether somebody has the key.
    pub(super) fn is(&self, said: &str) -> bool {
        let (key, said) = (self.0.as_bytes(), said.as_bytes());
        // Every byte is looked at, wherever the first difference is.
        let differences = key.iter().zip(said).fold(0, |all, (one, other)| black_box(all | (one ^ other)));
        key.len() == said.len() && differences == 0
    }
}
