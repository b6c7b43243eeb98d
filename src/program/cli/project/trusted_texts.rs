//! What questions showed of contents that the user then trusted, so that a later question can show what has changed: one file
//! each in the state directory, 0600, named by the hash of the content.
//!
//! Always holds: there are at most so many of a bounded length. One that is missing costs the comparison, never a question.

use std::fs::{self, DirBuilder};
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use steersman_base::limits;
use steersman_base::regular_file::read_own_text;

/// The texts of a state directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::program::cli) struct TrustedTexts {
    directory: PathBuf,
}

impl TrustedTexts {
    pub(in crate::program::cli) fn at(state: &Path) -> Self {
        Self { directory: state.join("trusted") }
    }

    /// Returns the text of a content; `None` when it was not kept.
    pub(in crate::program::cli) fn read(&self, hash: &str) -> Option<String> {
        read_own_text(&self.path(hash)?, limits::TRUSTED_TEXT_BYTES).ok()
    }

    /// Keeps the text of a content, as far as it can be kept.
    pub(in crate::program::cli) fn keep(&self, hash: &str, text: &str) {
        // Without it the next question shows the whole new text.
        let _ = self.write(hash, text);
    }

    fn write(&self, hash: &str, text: &str) -> io::Result<()> {
        let Some(path) = self.path(hash).filter(|_| text.len() as u64 <= limits::TRUSTED_TEXT_BYTES) else {
            return Ok(());
        };
        DirBuilder::new().recursive(true).mode(0o700).create(&self.directory)?;
        let mut file = tempfile::Builder::new().prefix(".text").tempfile_in(&self.directory)?;
        file.write_all(text.as_bytes())?;
        file.persist(&path).map_err(|error| error.error)?;
        self.remove_oldest()
    }

    fn remove_oldest(&self) -> io::Result<()> {
        let mut files = Vec::new();
        for entry in self.directory.read_dir()? {
            let entry = entry?;
            files.push((entry.metadata()?.modified()?, entry.path()));
        }
        files.sort();
        for (_, path) in files.iter().rev().skip(limits::TRUSTED_TEXTS) {
            fs::remove_file(path)?;
        }
        Ok(())
    }

    /// Returns the place of a text; `None` for what is no hash.
    fn path(&self, hash: &str) -> Option<PathBuf> {
        let is_hash = !hash.is_empty() && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hash.then(|| self.directory.join(hash))
    }
}
