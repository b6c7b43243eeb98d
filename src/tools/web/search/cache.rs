//! The cache of search results, kept on disk for some hours: one JSON file per query, named by its hash.
//!
//! The directory (0700) and the files (0600) are the user's alone. An unreadable file counts as missing, and a
//! failed write is ignored: a search never fails because of its cache.

use std::fs::{self, DirBuilder};
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;

use super::SearchResults;
use steersman_base::limits;
use steersman_base::regular_file::{self, Links};
use steersman_base::text::hex;

#[derive(Debug, Clone)]
pub(super) struct Cache(PathBuf);

impl Cache {
    pub(super) fn new(directory: PathBuf) -> Self {
        Self(directory)
    }

    /// Returns the cached results, if they are fresh.
    pub(super) async fn get(&self, services: &[String], query: &str, limit: usize) -> Option<SearchResults> {
        let path = self.path(services, query, limit);
        tokio::task::spawn_blocking(move || load(&path)).await.ok()?
    }

    pub(super) async fn put(&self, services: &[String], query: &str, limit: usize, results: &SearchResults) {
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
        self.0.join(hex(&hash.finalize()))
    }
}

fn load(path: &Path) -> Option<SearchResults> {
    let (file, metadata) = regular_file::open(path, Links::Refused).ok()?;
    if !is_fresh(metadata.modified().ok()?) {
        return None;
    }
    let text = regular_file::read_whole(file, metadata.len(), limits::SEARCH_CACHE_BYTES).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Returns whether a file is young enough; one from the future is not.
fn is_fresh(modified: SystemTime) -> bool {
    modified.elapsed().is_ok_and(|age: Duration| age < limits::SEARCH_CACHE_TIME)
}

fn write(directory: &Path, path: &Path, text: &[u8]) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    // The temporary file is readable by its owner only.
    let mut file = NamedTempFile::new_in(directory)?;
    file.write_all(text)?;
    file.persist(path)?;
    Ok(())
}

/// Removes old files, then the oldest of the rest until the cache is small enough.
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
