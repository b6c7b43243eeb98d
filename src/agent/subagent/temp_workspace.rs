//! The fresh directory of one child, and the child's tools bound to it.
//!
//! The directory is owned by a guard from the moment it exists, so it is deleted whatever fails later.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};

use crate::{AgentContext, Extension, ExtensionError};
use steersman_core::tool::{Tool, ToolDirectory, ToolError};

/// The directory of one child and the child's tools that work in it. The directory is deleted with the last clone.
#[derive(Clone)]
pub(super) struct Workshop {
    dir: Arc<dyn AsRef<Path> + Send + Sync>,
    pub(super) tools: Vec<Arc<dyn Tool>>,
}

impl Workshop {
    pub(super) fn path(&self) -> &Path {
        (*self.dir).as_ref()
    }
}

impl fmt::Debug for Workshop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Workshop({})", self.path().display())
    }
}

impl PartialEq for Workshop {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.dir, &other.dir)
    }
}

/// Tells a child that goes on after a restart of the program that its directory is a new one.
#[derive(Default)]
pub(super) struct LostDirectory {
    is_notified: AtomicBool,
}

/// What it is told.
const LOST: &str = "The program was started again since: your working directory is a new one, and empty. Files that you \
made before are gone.";

impl Extension for LostDirectory {
    fn name(&self) -> &'static str {
        "lost_directory"
    }

    fn on_user_message<'a>(
        &'a self,
        _: &'a AgentContext<'_>,
        _: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, ExtensionError>> {
        let is_notified = self.is_notified.swap(true, Ordering::Relaxed);
        ready(Ok((!is_notified).then(|| LOST.to_owned()))).boxed()
    }
}

/// Makes the directory and returns it with the tools that work in it; tools without a workspace stay as they
/// are.
pub(super) fn rebind(persona: &str, tools: Vec<Arc<dyn Tool>>) -> Result<Workshop, ToolError> {
    let failed = |error: String| ToolError::failed(format!("no temporary workspace could be made: {error}"));
    let dir = tempfile::Builder::new().prefix(&format!("steersman-{persona}-")).tempdir();
    let dir = dir.map_err(|error| failed(error.to_string()))?;
    let directory = ToolDirectory::new(dir.path());
    let bound = tools.into_iter().map(|tool| tool.in_directory(&directory).unwrap_or(Ok(tool)));
    let tools = bound.collect::<Result<_, _>>().map_err(failed)?;
    Ok(Workshop { dir: Arc::new(dir), tools })
}
