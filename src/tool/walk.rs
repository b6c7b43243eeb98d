//! The walk over a workspace's files that `grep` and `glob` share: sorted, with hidden files, without `.git`, under
//! the rules of `.gitignore` and `.ignore`. Symbolic links are not followed, and the number of entries is capped.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use ignore::{DirEntry, Walk, WalkBuilder};

use crate::limits;
use crate::tool::ToolError;
use crate::tool::blocking::Stop;
use crate::workspace::Workspace;

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
    left: usize,
    /// True once the cap was met.
    pub(super) capped: bool,
}

impl<'a> Entries<'a> {
    pub(super) fn new(directory: &Path, stop: &'a Stop) -> Result<Self, ToolError> {
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
        Ok(Self { walk, stop, left: limits::WALK_ENTRIES, capped: false })
    }

    /// Returns the next entry below the directory; `None` at the end or at the cap. What cannot be read is passed over.
    pub(super) fn next(&mut self) -> Result<Option<DirEntry>, ToolError> {
        loop {
            self.stop.check()?;
            let Some(entry) = self.walk.next() else { return Ok(None) };
            if self.left == 0 {
                self.capped = true;
                return Ok(None);
            }
            self.left -= 1;
            match entry {
                Ok(entry) if entry.depth() > 0 => return Ok(Some(entry)),
                Ok(_) | Err(_) => {}
            }
        }
    }
}

/// Says that the walk was cut.
pub(super) fn cap_note() -> String {
    format!("[stopped after {} entries: name a path below]\n", limits::WALK_ENTRIES)
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
