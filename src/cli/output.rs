//! Standard output of `exec`, as a writer that never fails: a listener cannot do anything about a closed pipe.
//!
//! What went wrong is kept here; `exec` awaits it and stops the run.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

/// Writes to standard output until that fails; from then on it swallows. Clones share the state.
#[derive(Debug, Clone, Default)]
pub struct Output {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    failure: Mutex<Option<io::ErrorKind>>,
    wake: Notify,
}

impl Output {
    /// Returns what went wrong, if anything did.
    pub fn failure(&self) -> Option<io::ErrorKind> {
        *self.shared.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until writing has failed.
    pub async fn failed(&self) -> io::ErrorKind {
        loop {
            let mut wake = std::pin::pin!(self.shared.wake.notified());
            wake.as_mut().enable();
            if let Some(kind) = self.failure() {
                return kind;
            }
            wake.await;
        }
    }

    fn keep_failure(&self, result: io::Result<()>) {
        let Err(error) = result else { return };
        *self.shared.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.kind());
        self.shared.wake.notify_waiters();
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.failure().is_none() {
            self.keep_failure(io::stdout().write_all(bytes));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.failure().is_none() {
            self.keep_failure(io::stdout().flush());
        }
        Ok(())
    }
}
