//! The directory that the tools of one sub-agent share.

use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// A directory, with what its tools work in (a workspace), which the first of them makes.
#[derive(Debug)]
pub struct ToolDirectory {
    path: PathBuf,
    shared: OnceLock<Result<Arc<dyn Any + Send + Sync>, String>>,
}

impl ToolDirectory {
    /// Names a directory that is there.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), shared: OnceLock::new() }
    }

    /// Returns where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns what all its tools share; the first call makes it.
    ///
    /// # Errors
    /// Why it could not be made, or that another tool made something else.
    pub fn shared<T: Any + Send + Sync>(
        &self,
        make: impl FnOnce(&Path) -> Result<Arc<T>, String>,
    ) -> Result<Arc<T>, String> {
        let made =
            self.shared.get_or_init(|| make(&self.path).map(|made| made as Arc<dyn Any + Send + Sync>)).clone()?;
        made.downcast().map_err(|_| "its tools work in different kinds of workspaces".to_owned())
    }
}
