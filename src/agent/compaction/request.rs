//! What the user asks of the agent beside the turns: to compact its conversation before its next request.
//!
//! A host writes, the agent takes it. Asking never waits and never disturbs a request that runs.

use std::sync::Mutex;

use steersman_base::sync::lock;

/// The wish until the agent takes it.
#[derive(Debug, Default)]
pub struct CompactionRequest(Mutex<Option<RequestedCompaction>>);

#[derive(Debug)]
pub(crate) struct RequestedCompaction {
    /// What the summary is to keep in mind.
    pub(crate) words: Option<String>,
}

impl CompactionRequest {
    /// Asks for a compaction; `words` are what its summary is to keep in mind.
    pub fn ask(&self, words: Option<String>) {
        *lock(&self.0) = Some(RequestedCompaction { words });
    }

    /// Returns whether one was asked for and not begun.
    pub fn is_requested(&self) -> bool {
        lock(&self.0).is_some()
    }

    pub(crate) fn take_request(&self) -> Option<RequestedCompaction> {
        lock(&self.0).take()
    }
}
