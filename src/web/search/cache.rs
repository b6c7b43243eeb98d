//! What was found, kept on disk for some hours: one file of JSON per query, named by its hash.
//!
//! The directory is the user's alone (0700), so are the files (0600). What cannot be read is as if it were not there,
//! and what cannot be written is not kept: a search never fails because of its cache.

use std::fmt::Write as _;
use std::fs::{self, DirBuilder};
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;

use super::Results;
use crate::limits;
use crate::regular_file::{self, Links};

#[derive(Debug, Clone)]
pub(super) struct Cache(PathBuf);

impl Cache {
    pub(super) fn new(directory: PathBuf) -> Self {
        Self(directory)
    }

    /// Returns what was kept and is fresh.
    pub(super) async fn get(&self, services: &[String], query: &str, limit: usize) -> Option<Results> {
        let path = self.path(services, query, limit);
        tokio::task::spawn_blocking(move || read(&path)).await.ok()?
    }

    /// Keeps what was found.
    pub(super) async fn put(&self, services: &[String], query: &str, limit: usize, results: &Results) {
        let (directory, path) = (self.0.clone(), self.path(services, query, limit));
        let Ok(text) = serde_json::to_vec(results) else { return };
        let written = tokio::task::spawn_blocking(move || {
            write(&directory, &path, &text)?;
            prune(&directory)
        });
        if let Ok(Err(error)) = written.await {
            tracing::debug!(%error, "a search was not kept");
        }
    }

    fn path(&self, services: &[String], query: &str, limit: usize) -> PathBuf {
        let mut hash = Sha256::new();
        for field in services.iter().map(String::as_str).chain(["", query, &limit.to_string()]) {
            hash.update((field.len() as u64).to_le_bytes());
            hash.update(field);
        }
        let mut name = String::with_capacity(64);
        for byte in hash.finalize() {
            // Writing to a string cannot fail.
            let _ = write!(name, "{byte:02x}");
        }
        self.0.join(name)
    }
}

fn read(path: &Path) -> Option<Results> {
    let (file, metadata) = regular_file::open(path, Links::Refused).ok()?;
    if !is_fresh(metadata.modified().ok()?) {
        return None;
    }
    let text = regular_file::read_whole(file, metadata.len(), limits::SEARCH_CACHE_BYTES).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Tells whether a file is young; one of the future is not.
fn is_fresh(modified: SystemTime) -> bool {
    modified.elapsed().is_ok_and(|age: Duration| age < limits::SEARCH_CACHE_TIME)
}

fn write(directory: &Path, path: &Path, text: &[u8]) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    // It makes the file for its owner alone.
    let mut file = NamedTempFile::new_in(directory)?;
    file.write_all(text)?;
    file.persist(path)?;
    Ok(())
}

/// Removes what is too old, and of the rest the oldest, until it is small enough.
fn prune(directory: &Path) -> io::Result<()> {
    let mut files: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
    for entry in fs::read_dir(directory)?.filter_map(Result::ok) {
        let metadata = entry.metadata()?;
        let modified = metadata.modified()?;
        if !metadata.is_file() {
            continue;
        }
        if is_fresh(modified) {
            files.push((modified, metadata.len(), entry.path()));
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    files.sort();
    let mut whole: u64 = files.iter().map(|(_, size, _)| size).sum();
    let mut count = files.len();
    for (_, size, path) in files {
        if whole <= limits::SEARCH_CACHE_BYTES && count <= limits::SEARCH_CACHE_FILES {
            break;
        }
        fs::remove_file(path)?;
        whole -= size;
        count -= 1;
    }
    Ok(())
}
