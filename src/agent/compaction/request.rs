//! What the user asks of the agent beside the turns: to compact its conversation before its next request.
//!
//! A host writes, the agent takes it. Asking never waits and never disturbs a request that runs.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The wish until the agent takes it.
#[derive(Debug, Default)]
pub struct CompactionRequest(Mutex<Option<Wish>>);

#[derive(Debug)]
pub(in crate::agent) struct Wish {
    /// What the summary is to keep in mind.
    pub(in crate::agent) words: Option<String>,
}

impl CompactionRequest {
    /// Asks for a compaction; `words` are what its summary is to keep in mind.
    pub fn ask(&self, words: Option<String>) {
        *self.lock() = Some(Wish { words });
    }

    /// Returns whether one was asked for and not begun.
    pub fn is_asked(&self) -> bool {
        self.lock().is_some()
    }

    pub(in crate::agent) fn take(&self) -> Option<Wish> {
        self.lock().take()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Wish>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
