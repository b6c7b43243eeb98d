//! File work of a tool, off the async threads.
//!
//! The work polls its [`Stop`]: it ends soon after a cancel, and after its call was dropped for any other reason.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use steersman_base::error::Cancelled;
use steersman_core::control::Cancellable;
use steersman_core::tool::{ToolContext, ToolError};

/// Tells blocking work when to end.
#[derive(Debug, Clone)]
pub(super) struct Stop {
    cancellable: Cancellable,
    dropped: Arc<AtomicBool>,
}

impl Stop {
    /// Passes unless the work should end.
    pub(super) fn check(&self) -> Result<(), Cancelled> {
        if self.dropped.load(Ordering::Relaxed) { Err(Cancelled) } else { self.cancellable.check() }
    }
}

/// Runs blocking work and waits for it.
pub(super) async fn run<T: Send + 'static>(
    context: &ToolContext,
    work: impl FnOnce(&Stop) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    context.cancellable.check()?;
    let stop = Stop { cancellable: context.cancellable.clone(), dropped: Arc::default() };
    let _guard = SetOnDrop(Arc::clone(&stop.dropped));
    match tokio::task::spawn_blocking(move || work(&stop)).await {
        Ok(result) => result,
        Err(error) => Err(ToolError::failed(format!("the tool failed inside: {error}"))),
    }
}

struct SetOnDrop(Arc<AtomicBool>);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
