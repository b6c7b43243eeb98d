//! The walk over a workspace's files that `grep` and `glob` share: sorted, with hidden files, without `.git`, under
//! the rules of `.gitignore` and `.ignore`. Symbolic links are not followed; the entries and the time are capped, more so
//! where the workspace calls for caution.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Instant;

use globset::{GlobBuilder, GlobMatcher};
use ignore::{DirEntry, Walk, WalkBuilder};

use crate::limits;
use crate::tool::ToolError;
use crate::tool::blocking::Stop;
use crate::workspace::{Caution, Workspace};

/// Resolves the optional directory or file where a search starts.
pub(super) fn start(workspace: &Workspace, path: Option<&str>) -> Result<PathBuf, ToolError> {
    let start = workspace.resolve_read(path.unwrap_or(".")).map_err(ToolError::Failed)?;
    let name = workspace.display(&start);
    if start.components().any(|part| part.as_os_str() == ".git") {
        return Err(ToolError::failed(format!("{name} is not searched: .git is left out (read shows single files)")));
    }
    match start.metadata() {
        Ok(_) => Ok(start),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(ToolError::failed(format!("{name} does not exist")))
        }
        Err(error) => Err(ToolError::failed(format!("{name} cannot be searched: {error}"))),
    }
}

/// Compiles a glob: `*` and `?` stop at `/`, `**` does not, `{a,b}` and `[a-z]` are known.
pub(super) fn matcher(pattern: &str) -> Result<GlobMatcher, ToolError> {
    match GlobBuilder::new(pattern).literal_separator(true).build() {
        Ok(glob) => Ok(glob.compile_matcher()),
        Err(error) => Err(ToolError::failed(format!("invalid glob: {error}"))),
    }
}

/// Yields the entries below a directory, sorted by path, until the cap.
pub(super) struct Entries<'a> {
    walk: Walk,
    stop: &'a Stop,
    started: Instant,
    caution: Caution,
    visited: usize,
    /// The cap that was met.
    pub(super) capped: Option<Cap>,
}

/// Is what ended a walk early.
#[derive(Debug, Clone, Copy)]
pub(super) enum Cap {
    /// So many entries were visited.
    Entries(usize),
    /// So many seconds went by.
    Seconds(u64),
}

impl Cap {
    /// Says so, for the model.
    pub(super) fn note(self) -> String {
        match self {
            Self::Entries(entries) => format!("[stopped after {entries} entries: name a path below]\n"),
            Self::Seconds(seconds) => format!("[stopped after {seconds} s: name a path below]\n"),
        }
    }
}

impl<'a> Entries<'a> {
    pub(super) fn new(directory: &Path, caution: Caution, stop: &'a Stop) -> Result<Self, ToolError> {
        if let Some(bad) = directory.ancestors().find(|directory| !has_sound_rules(directory)) {
            let text = format!("the .gitignore or .ignore in {} is not a regular file or is too large", bad.display());
            return Err(ToolError::Failed(text));
        }
        let walk = WalkBuilder::new(directory)
            .hidden(false)
            .require_git(false)
            .git_global(false)
            .follow_links(false)
            .sort_by_file_name(OsStr::cmp)
            .filter_entry(is_wanted)
            .build();
        Ok(Self { walk, stop, started: Instant::now(), caution, visited: 0, capped: None })
    }

    /// Returns the next entry below the directory; `None` at the end or at a cap. What cannot be read is passed over.
    pub(super) fn next(&mut self) -> Result<Option<DirEntry>, ToolError> {
        loop {
            self.stop.check()?;
            let Some(entry) = self.walk.next() else { return Ok(None) };
            let (entries, time) = (self.caution.entries(), self.caution.time());
            if self.visited == entries {
                self.capped = Some(Cap::Entries(entries));
                return Ok(None);
            }
            if self.started.elapsed() >= time {
                self.capped = Some(Cap::Seconds(time.as_secs()));
                return Ok(None);
            }
            self.visited += 1;
            match entry {
                Ok(entry) if entry.depth() > 0 => return Ok(Some(entry)),
                Ok(_) | Err(_) => {}
            }
        }
    }
}

fn is_wanted(entry: &DirEntry) -> bool {
    let directory = entry.file_type().is_some_and(|kind| kind.is_dir());
    entry.file_name() != ".git" && (!directory || has_sound_rules(entry.path()))
}

/// Tells whether the walk can read the rules of a directory: a FIFO in their place would hold it forever.
fn has_sound_rules(directory: &Path) -> bool {
    [".gitignore", ".ignore", ".git/info/exclude"].iter().all(|name| match directory.join(name).metadata() {
        Ok(metadata) => metadata.is_dir() || (metadata.is_file() && metadata.len() <= limits::IGNORE_FILE_BYTES),
        Err(_) => true,
    })
}
