//! File work of a tool, off the async threads.
//!
//! The work polls its [`Stop`]: it ends soon after a cancel, and after its call was dropped for any other reason.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::control::Cancellable;
use crate::error::Cancelled;
use crate::tool::{ToolContext, ToolError};

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
pub(super) async fn run(
    context: &ToolContext,
    work: impl FnOnce(&Stop) -> Result<String, ToolError> + Send + 'static,
) -> Result<String, ToolError> {
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

/// Opens a regular file for reading; anything else is refused, and nothing can block the opening (a FIFO, a device).
pub(super) fn open_regular(path: &Path) -> io::Result<(File, Metadata)> {
    let irregular = || io::Error::new(io::ErrorKind::InvalidInput, "not a regular file");
    if !path.symlink_metadata()?.is_file() {
        return Err(irregular());
    }
    // The path is resolved already: a link that stands there now was put there since.
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
    let flags = i32::try_from(flags.bits()).map_err(|_| irregular())?;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() { Ok((file, metadata)) } else { Err(irregular()) }
}
