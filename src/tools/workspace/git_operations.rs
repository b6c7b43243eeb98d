//! The stopped operations of git in a working tree.

use std::path::PathBuf;

use crate::workspace::read_head;
use steersman_base::limits;
use steersman_base::protected::settings::git_directory;
use steersman_base::text::visible_line;

/// The files of a repository that say how an operation goes on.
const STEPS: [&str; 5] = [
    "rebase-merge/git-rebase-todo",
    "rebase-merge/strategy",
    "rebase-apply/strategy",
    "sequencer/todo",
    "sequencer/opts",
];

/// The stopped operations of the repository at some directories, as they are at one moment: git itself writes what a rebase, a
/// cherry-pick or a revert does next, so that no sandbox can close it; a line there may run a command, or name a program that
/// merges. Asked by the tools that run commands, before and behind one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GitOperations(Vec<(PathBuf, Vec<u8>)>);

impl GitOperations {
    /// Looks at directories. Blocks.
    pub fn find(roots: &[PathBuf]) -> Self {
        let files = roots.iter().map(|root| git_directory(root)).flat_map(|git| STEPS.map(|name| git.join(name)));
        let read = |file: PathBuf| Some((read_head(&file, limits::GIT_SETTINGS_BYTES).ok()?.bytes, file));
        Self(files.filter_map(read).map(|(bytes, file)| (file, bytes)).collect())
    }

    /// Returns what there is to say when an operation can be continued now that could not, or not so, before.
    pub fn new_since(&self, before: &Self) -> Option<String> {
        let (file, _) = self.0.iter().find(|found| !before.0.contains(found))?;
        Some(format!(
            "[an operation of git was stopped here: --continue does what {} says, which may be to run commands; the user \
             should read it first]",
            visible_line(&file.to_string_lossy())
        ))
    }
}
