//! The contents of files that the model has seen in this session, as hashes.
//!
//! Written by `read`, `write` and `edit`, asked by `edit`. Only the content counts: a new time stamp on the same bytes
//! changes nothing, and other bytes under the old time stamp do.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::workspace::changes::{Hash, hash};
use steersman_base::limits;
use steersman_base::sync::lock;

/// The hashes of seen contents by path, the latest ones up to a limit.
#[derive(Debug, Default)]
pub(super) struct SeenContents {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    files: HashMap<PathBuf, (u64, Hash)>,
    count: u64,
}

/// Whether the model has seen the current content of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeenState {
    /// The model has not looked at it.
    Unread,
    /// Its content differs from what the model saw.
    Changed,
    /// It is as the model saw it.
    Known,
}

impl SeenContents {
    /// Remembers what a file holds.
    pub(super) fn note(&self, path: &Path, content: &[u8]) {
        let hash = hash(content);
        let mut inner = lock(&self.inner);
        inner.count += 1;
        let count = inner.count;
        inner.files.insert(path.to_owned(), (count, hash));
        if inner.files.len() > limits::SEEN_FILES {
            let oldest = inner.files.iter().min_by_key(|(_, (count, _))| *count).map(|(path, _)| path.clone());
            if let Some(oldest) = oldest {
                inner.files.remove(&oldest);
            }
        }
    }

    /// Compares what a file holds with what was remembered.
    pub(super) fn seen_state(&self, path: &Path, content: &[u8]) -> SeenState {
        match lock(&self.inner).files.get(path) {
            None => SeenState::Unread,
            Some((_, seen)) if *seen == hash(content) => SeenState::Known,
            Some(_) => SeenState::Changed,
        }
    }
}
