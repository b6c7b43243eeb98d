//! The workspace: the files that tools may read and change.
//!
//! Every path that a model names is resolved here, symbolic links and all, before a tool opens it. What is allowed
//! is decided on the real path. Existence is not its concern: a path that does not exist yet resolves too.
//! A hard link cannot be told from the file itself; so files are replaced, and written into only where all their names
//! lie in the workspace and each of them may be changed. Opening and changing goes through open directories (`files`,
//! `beneath`, `atomic`), so that what was checked is what is touched.
//!
//! # Where things are
//!
//! - tools stay in the workspace: `mod.rs`; tests: `workspace.rs`, `paths.rs`
//! - files are changed in one step, never through a link: `files.rs`, `beneath.rs`, `atomic.rs`; tests:
//!   `atomic.rs`, `swap_races.rs`, `changes.rs`
//! - undo: what the tools changed in the last turn, or since a message, for a branch: `changes.rs`,
//!   `src/session/host/undo.rs`; tests: `changes.rs`
//! - processes: how a command starts, and how all of it ends: `spawner.rs`, `guard.rs`, `processes.rs`; a
//!   command that is talked to: `job_streams.rs`; tests: `spawner.rs`, `process_trees/mod.rs`, `spawner_streams.rs`
//! - programs of the user that are run for what they print: `own_command.rs`; tests: `tests/program/keys.rs`,
//!   `tests/program/headless/permission_command.rs`
//! - the environment of commands: `environment.rs`; tests: `child_environment.rs`
//! - what runs outside of the sandbox, and from where never: `outside.rs`, `programs.rs`, `own_program.rs`; tests:
//!   `tests/program/outside.rs`, `sandbox/relied_on.rs`
//! - the scripts that are trusted with what names them, and the copies from which they run: `script.rs`,
//!   `private_copy.rs`; tests: `tests/program/hooks/pinned.rs`, `tests/program/mcp/project.rs`
//! - the files that changed while a command ran: `touched.rs`; tests: `touched.rs`, `tests/program/headless/files.rs`
//! - what git runs of a working tree: a stopped operation: `git_operations.rs`; tests: `sandbox/protected.rs`
//! - a diff as git writes it: `diff.rs`; tests: `diff.rs`
//! - the files that a rule keeps from being read, so that a sandbox can keep commands from them too: `denied_files.rs`
//! - the files of programs that a rule denies: `denied_programs.rs`
//! - programs of the user, started by a key: an editor on the terminal, a program for the clipboard: `foreground.rs`
//! - the rules of `.ignore` and `.gitignore`: `ignore_rules.rs`
//! - jobs and how they ended: `job.rs`
//! - the walk over a tree of files that the searching tools and the list behind `@` share: `walk.rs`

mod atomic;
mod beneath;
mod changes;
pub mod denied_files;
pub mod denied_programs;
mod diff;
mod environment;
mod files;
pub mod foreground;
mod git_operations;
mod guard;
mod ignore_rules;
mod job;
mod job_streams;
mod outside;
mod own_command;
mod own_program;
mod private_copy;
mod processes;
pub mod programs;
mod project;
pub mod sandbox;
mod script;
mod spawner;
mod touched;
mod walk;

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::workspace::beneath::Beneath;
use crate::workspace::files::SeenContents;
use steersman_base::limits;
use steersman_base::text::{composed, visible_line};

pub use atomic::{FileSnapshot, Names};
pub use changes::{Changes, Undoable};
pub use diff::{Difference, diff, file_diff};
pub use environment::{ChildEnvironment, is_secret};
pub use files::{RepositoryPart, SeenState};
pub use git_operations::GitOperations;
pub use guard::run_hidden;
pub use job::{Confinement, Ended, Failure, Job, Network, Placement, signal_name};
pub use job_streams::{JobErrors, JobInput, Streams};
pub use outside::{OutsideCommand, OutsideError, WORKSPACE_VARIABLE};
pub use own_command::{OwnCommand, OwnCommandError, UserCommand};
pub use own_program::OwnProgram;
pub use private_copy::{PrivateCopy, SiblingFiles};
pub use project::{directories_up_to, is_shared, project_root};
pub use sandbox::Sandbox;
pub use script::{NamedFiles, Script, replace_parts};
pub use spawner::{GUARD, Running, Spawner, TalkingJob};
pub use steersman_base::protocol::{Undo, UndoneFile};
pub use steersman_base::regular_file::read_head;
pub use touched::{ChangeMark, Touched};
pub use walk::{Bounds, Entry, EntryKind, Walk, WalkEnd};

/// A root directory to which tools are confined, with more directories for reading. Clones share what was read and
/// changed.
#[derive(Debug, Clone)]
pub struct Workspace {
    /// Real and absolute, as are all that follow.
    root: PathBuf,
    beneath: Arc<Beneath>,
    readable: Vec<(PathBuf, Arc<Beneath>)>,
    /// Those of them in which files may be changed too.
    changeable: Vec<(PathBuf, Arc<Beneath>)>,
    seen: Arc<SeenContents>,
    changes: Arc<Changes>,
    caution: Caution,
    temporary: bool,
}

/// The limits of searches in a workspace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Caution {
    /// Enough for a large project.
    #[default]
    Project,
    /// Smaller ones: the workspace is a home directory, or the whole machine.
    Broad,
}

impl Caution {
    /// Returns how many directory entries one search visits.
    pub fn entries(self) -> usize {
        match self {
            Self::Project => limits::WALK_ENTRIES,
            Self::Broad => limits::BROAD_WALK_ENTRIES,
        }
    }

    /// Returns how long one search takes.
    pub fn time(self) -> Duration {
        match self {
            Self::Project => limits::WALK_TIME,
            Self::Broad => limits::BROAD_WALK_TIME,
        }
    }
}

impl Workspace {
    /// Makes a workspace of an existing directory.
    ///
    /// # Errors
    /// The error of the file system when the directory cannot be resolved or is none.
    pub fn new(root: &Path) -> io::Result<Self> {
        let (root, beneath) = real_directory(root)?;
        Ok(Self {
            root,
            beneath,
            readable: Vec::new(),
            changeable: Vec::new(),
            seen: Arc::default(),
            changes: Arc::default(),
            caution: Caution::default(),
            temporary: false,
        })
    }

    /// Sets the change log, which the host shares.
    #[must_use]
    pub fn with_changes(mut self, changes: Arc<Changes>) -> Self {
        self.changes = changes;
        self
    }

    /// Sets the limits of searches.
    #[must_use]
    pub fn with_caution(mut self, caution: Caution) -> Self {
        self.caution = caution;
        self
    }

    /// Marks it as temporary, without files of the user.
    #[must_use]
    pub fn temporary(mut self) -> Self {
        self.temporary = true;
        self
    }

    /// Returns whether it is temporary, without files of the user.
    pub fn is_temporary(&self) -> bool {
        self.temporary
    }

    /// Allows reading, not writing, in further directories.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_readable<P: AsRef<Path>>(mut self, directories: impl IntoIterator<Item = P>) -> io::Result<Self> {
        for directory in directories {
            self.readable.push(real_directory(directory.as_ref())?);
        }
        Ok(self)
    }

    /// Allows reading and changing files in further directories.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_added<P: AsRef<Path>>(mut self, directories: impl IntoIterator<Item = P>) -> io::Result<Self> {
        for directory in directories {
            let added = real_directory(directory.as_ref())?;
            self.readable.push(added.clone());
            self.changeable.push(added);
        }
        Ok(self)
    }

    /// Returns the real, absolute root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns what the tools changed.
    pub fn changes(&self) -> &Arc<Changes> {
        &self.changes
    }

    /// Returns the limits of searches.
    pub fn caution(&self) -> Caution {
        self.caution
    }

    /// Resolves a path that is to be read: relative to the root, to a real and absolute path.
    ///
    /// # Errors
    /// One sentence for the model when the path leads outside, or cannot be resolved.
    pub fn resolve_read(&self, path: &str) -> Result<PathBuf, String> {
        let real = self.resolve(path)?;
        if self.may_read(&real) { Ok(real) } else { Err(self.outside(path, &real)) }
    }

    /// Resolves a path that is to be written, as [`Self::resolve_read`]. The file and its directories may be missing.
    ///
    /// # Errors
    /// As [`Self::resolve_read`].
    pub fn resolve_write(&self, path: &str) -> Result<PathBuf, String> {
        let real = self.resolve(path)?;

        if real.starts_with(&self.root) { Ok(real) } else { Err(self.outside(path, &real)) }
    }

    /// Resolves the path of a file that is to be changed, as [`Self::resolve_write`], also in a directory that was added.
    ///
    /// # Errors
    /// As [`Self::resolve_read`].
    pub fn resolve_change(&self, path: &str) -> Result<PathBuf, String> {
        let real = self.resolve(path)?;
        if self.changeable_part(&real).is_some() { Ok(real) } else { Err(self.outside(path, &real)) }
    }

    /// Finds the open directory that a file is changed in, and the path from there.
    fn changeable_part<'a>(&'a self, real: &'a Path) -> Option<(&'a Path, &'a Arc<Beneath>)> {
        let within = std::iter::once((&self.root, &self.beneath));
        let mut within = within.chain(self.changeable.iter().map(|(directory, beneath)| (directory, beneath)));
        within.find_map(|(base, beneath)| Some((real.strip_prefix(base).ok()?, beneath)))
    }

    /// Returns whether a path that a model names leads through a symbolic link of the workspace.
    pub fn is_through_link(&self, path: &str) -> bool {
        let whole = self.root.join(path);
        let is_within = |path: &&Path| *path == whole || (path.starts_with(&self.root) && *path != self.root);
        let mut parts = whole.ancestors().take_while(is_within);
        parts.any(|part| part.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink()))
    }

    /// Returns whether reading is allowed at a path without links.
    pub fn may_read(&self, real: &Path) -> bool {
        real.starts_with(&self.root) || self.readable.iter().any(|(directory, _)| real.starts_with(directory))
    }

    /// Returns a path as it is shown: relative to the root (`.` for the root itself), on one line, nothing hidden.
    pub fn display(&self, path: &Path) -> String {
        let shown = match path.strip_prefix(&self.root) {
            Ok(relative) if relative.as_os_str().is_empty() => Path::new("."),
            Ok(relative) => relative,
            Err(_) => path,
        };
        visible_line(&shown.to_string_lossy()).into_owned()
    }

    /// Finds the real path. The part that exists is resolved by the file system; the rest may only go down.
    fn resolve(&self, path: &str) -> Result<PathBuf, String> {
        if path.len() > limits::WALK_PATH_BYTES {
            return Err(format!("the path is longer than {} bytes", limits::WALK_PATH_BYTES));
        }
        let named = visible_line(path);
        if path.is_empty() {
            return Err("the path is empty".to_owned());
        }
        if path.contains('\0') {
            return Err(format!("{named} is not a path: it contains a NUL character"));
        }
        if path.starts_with('~') {
            return Err(format!(
                "{named}: ~ is not expanded; name a path within the workspace (./{named} if it is a name)"
            ));
        }
        resolve_whole(&self.root.join(path), &named)
    }

    fn outside(&self, path: &str, real: &Path) -> String {
        let real = visible_line(&real.to_string_lossy()).into_owned();
        let root = visible_line(&self.root.to_string_lossy()).into_owned();
        format!("{} is outside the workspace: it is {real}, the workspace is {root}", visible_line(path))
    }
}

/// Finds the real path of an absolute one; `named` is what the model calls it.
fn resolve_whole(whole: &Path, named: &str) -> Result<PathBuf, String> {
    let mut parts: Vec<Component<'_>> = whole.components().take(limits::PATH_PARTS + 1).collect();
    if parts.len() > limits::PATH_PARTS {
        return Err(format!("the path has more than {} parts", limits::PATH_PARTS));
    }
    let mut missing: Vec<Component<'_>> = Vec::new();
    loop {
        let existing: PathBuf = parts.iter().collect();
        match existing.canonicalize() {
            Ok(mut real) => {
                // The name that is there may be spelled in another way.
                if let Some(name) = missing.last().and_then(|part| other_spelling(&real, part.as_os_str())) {
                    missing.pop();
                    let whole: PathBuf = existing.join(name).components().chain(missing.into_iter().rev()).collect();
                    return resolve_whole(&whole, named);
                }
                real.extend(missing.iter().rev());
                return Ok(real);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(format!("{named} cannot be resolved: {error}")),
        }
        // Only a symbolic link that leads nowhere is there and yet not found.
        if existing.symlink_metadata().is_ok() {
            let target = existing.read_link().unwrap_or_default();
            let target = visible_line(&target.to_string_lossy()).into_owned();
            return Err(format!("{named} is a symbolic link that leads nowhere (to {target})"));
        }
        match parts.pop() {
            Some(part @ Component::Normal(_)) => missing.push(part),
            Some(Component::ParentDir) => {
                return Err(format!("{named} goes up (..) from a directory that does not exist"));
            }
            Some(Component::CurDir | Component::RootDir | Component::Prefix(_)) | None => {
                return Err(format!("{named} cannot be resolved"));
            }
        }
    }
}

/// Returns the name in a directory that is spelled with other characters than the one that is wanted, and looks the same.
fn other_spelling(directory: &Path, wanted: &OsStr) -> Option<OsString> {
    let wanted = wanted.to_str().filter(|wanted| !wanted.is_ascii()).map(composed)?;
    let entries = directory.read_dir().ok()?.take(limits::WALK_ENTRIES).filter_map(Result::ok);
    let mut names = entries.map(|entry| entry.file_name());
    names.find(|name| name.to_str().is_some_and(|name| composed(name) == wanted))
}

fn real_directory(path: &Path) -> io::Result<(PathBuf, Arc<Beneath>)> {
    let real = path.canonicalize()?;
    if real.is_dir() {
        let beneath = Beneath::open(&real)?;
        Ok((real, Arc::new(beneath)))
    } else {
        Err(io::Error::new(io::ErrorKind::NotADirectory, format!("{} is not a directory", real.display())))
    }
}
