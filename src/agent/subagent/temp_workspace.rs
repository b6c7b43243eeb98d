//! The fresh directories of children, and the children's tools bound to them.
//!
//! A directory goes when its child can no longer go on, and at the latest with the main agent. Always holds: no handle of it
//! keeps it beyond that, and a later process removes what a killed one left.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};

use crate::{AgentContext, Extension, ExtensionError};
use steersman_base::limits;
use steersman_base::sync::lock;
use steersman_core::temporary::TemporaryDirectory;
use steersman_core::tool::{Tool, ToolDirectory, ToolError};

/// The directory of one child and the child's tools that work in it. The directory is deleted with the last clone, if not
/// before.
#[derive(Clone)]
pub(super) struct Workshop {
    dir: Arc<WorkDirectory>,
    pub(super) tools: Vec<Arc<dyn Tool>>,
}

/// A directory that can be deleted while others still name it.
struct WorkDirectory {
    path: PathBuf,
    owned: Mutex<Option<TemporaryDirectory>>,
}

impl WorkDirectory {
    fn new(persona: &str) -> std::io::Result<Self> {
        let owned = TemporaryDirectory::new_in(&std::env::temp_dir(), persona)?;
        // Beside the file that the owner keeps locked.
        let path = owned.path().join("files");
        fs::create_dir(&path)?;
        Ok(Self { path, owned: Mutex::new(Some(owned)) })
    }

    fn delete(&self) {
        let owned = lock(&self.owned).take();
        drop(owned);
    }
}

impl Workshop {
    pub(super) fn path(&self) -> &Path {
        &self.dir.path
    }

    /// Deletes the directory, whoever else holds it.
    pub(super) fn delete(&self) {
        self.dir.delete();
    }

    /// Returns whether the directory is there.
    pub(super) fn is_there(&self) -> bool {
        lock(&self.dir.owned).is_some()
    }

    /// Returns what the directory takes, counted up to a little more than what may be kept.
    pub(super) fn bytes(&self) -> u64 {
        let mut bytes: u64 = 0;
        let mut directories = vec![self.path().to_owned()];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
                let Ok(metadata) = entry.metadata() else { continue };
                if metadata.is_dir() {
                    directories.push(entry.path());
                }
                bytes = bytes.saturating_add(metadata.len().max(limits::KEPT_WORKSPACE_ENTRY));
                if bytes > limits::KEPT_WORKSPACE_BYTES {
                    return bytes;
                }
            }
        }
        bytes
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

/// The directories of all children of one agent.
#[derive(Default)]
pub(super) struct Workshops(Mutex<WorkshopState>);

#[derive(Default)]
struct WorkshopState {
    is_closed: bool,
    made: Vec<Weak<WorkDirectory>>,
}

impl Workshops {
    /// Makes a directory and returns it with the tools that work in it; tools without a workspace stay as they are.
    pub(super) fn add(&self, persona: &str, tools: Vec<Arc<dyn Tool>>) -> Result<Workshop, ToolError> {
        let failed = |error: String| ToolError::failed(format!("no temporary workspace could be made: {error}"));
        let dir = Arc::new(WorkDirectory::new(persona).map_err(|error| failed(error.to_string()))?);
        {
            let mut state = lock(&self.0);
            if state.is_closed {
                return Err(failed("the agent is closed".to_owned()));
            }
            state.made.retain(|made| made.strong_count() > 0);
            state.made.push(Arc::downgrade(&dir));
        }
        let directory = ToolDirectory::new(&dir.path);
        let bound = tools.into_iter().map(|tool| tool.in_directory(&directory).unwrap_or(Ok(tool)));
        let tools = bound.collect::<Result<_, _>>().map_err(failed)?;
        Ok(Workshop { dir, tools })
    }

    /// Deletes all of them; no further one is made.
    pub(super) fn close(&self) {
        let made = {
            let mut state = lock(&self.0);
            state.is_closed = true;
            std::mem::take(&mut state.made)
        };
        for directory in made.iter().filter_map(Weak::upgrade) {
            directory.delete();
        }
    }
}

/// Tells a child that goes on that its directory is a new one.
#[derive(Default)]
pub(super) struct LostDirectory {
    is_notified: AtomicBool,
}

/// What it is told.
const LOST: &str = "Your working directory is a new one, and empty: files that you made before are gone.";

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
