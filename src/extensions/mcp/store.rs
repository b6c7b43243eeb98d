//! What is known about servers between sessions: a file each, in the state directory, for the user alone.
//!
//! The definitions in it are those that the user has seen or accepted: they are what a model is told until a change of
//! theirs is accepted too. A file that cannot be read is none, and one that cannot be written is said once.

use std::fs::{DirBuilder, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::mcp::catalog::Catalog;
use crate::mcp::definition::ServerDefinition;
use steersman_base::limits;
use steersman_base::regular_file::read_head;

/// The directory of these files; none where nothing is kept.
#[derive(Debug, Clone, Default)]
pub struct Store(Option<PathBuf>);

impl Store {
    /// Keeps what is known in the state directory.
    pub fn at(state: &Path) -> Self {
        Self(Some(state.join("mcp")))
    }

    /// Reads what is known about a server.
    pub fn load(&self, server: &ServerDefinition) -> Option<Catalog> {
        let head = read_head(&self.path(server)?, limits::MCP_KNOWN_BYTES).ok()?;
        if head.is_truncated() {
            return None;
        }
        serde_json::from_slice(&head.bytes).ok()
    }

    /// Writes what is known about a server.
    ///
    /// # Errors
    /// The error of the file system.
    pub fn write(&self, server: &ServerDefinition, catalog: &Catalog) -> io::Result<()> {
        let (Some(directory), Some(path)) = (&self.0, self.path(server)) else { return Ok(()) };
        let text = serde_json::to_vec_pretty(catalog)?;
        write_own(directory, &path, &text)
    }

    pub(super) fn login_path(&self, server: &ServerDefinition) -> Option<PathBuf> {
        Some(self.0.as_ref()?.join(format!("{}-{}.login.json", server.name, server.identity())))
    }

    fn path(&self, server: &ServerDefinition) -> Option<PathBuf> {
        Some(self.0.as_ref()?.join(format!("{}-{}.json", server.name, server.identity())))
    }
}

/// Writes a file of the user's alone, in one step.
pub(super) fn write_own(directory: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    std::fs::set_permissions(directory, Permissions::from_mode(0o700))?;
    let mut file = tempfile::Builder::new().prefix(".mcp").tempfile_in(directory)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
