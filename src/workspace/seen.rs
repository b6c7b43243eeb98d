//! Which contents of files the model has seen in this session, as fingerprints (fault F5).
//!
//! Written by `read`, `write` and `edit`, asked by `edit`. Only the content counts: a new time stamp on the same bytes
//! changes nothing, and other bytes under the old time stamp do.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::limits;
use crate::workspace::changes::{Hash, hash};

/// Remembers contents by path, the latest ones up to a limit.
#[derive(Debug, Default)]
pub(super) struct Seen {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    files: HashMap<PathBuf, (u64, Hash)>,
    count: u64,
}

/// Says how a file stands to what the model saw of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The model has not looked at it.
    Unread,
    /// It holds something else now.
    Changed,
    /// It is as the model knows it.
    Known,
}

impl Seen {
    /// Remembers what a file holds.
    pub(super) fn note(&self, path: &Path, content: &[u8]) {
        let hash = hash(content);
        let mut inner = self.lock();
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
    pub(super) fn standing(&self, path: &Path, content: &[u8]) -> Standing {
        match self.lock().files.get(path) {
            None => Standing::Unread,
            Some((_, seen)) if *seen == hash(content) => Standing::Known,
            Some(_) => Standing::Changed,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
