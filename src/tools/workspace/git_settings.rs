//! What git runs of a working tree: an operation that was stopped, and the files that its settings name: directories of hooks, files that are included, programs. Commands do not change
//! them, as they do not change the settings themselves.
//!
//! Asked for each command, since the user may change the settings meanwhile. Reads too much rather than too little: what
//! could be a path is taken for one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::workspace::read_head;
use steersman_base::limits;
use steersman_base::paths::without_dots;
use steersman_base::text::visible_line;

/// Settings whose whole value is a path, and what is in a directory there runs.
const PATHS: [&str; 4] = ["core.attributesfile", "core.hookspath", "include.path", "init.templatedir"];

/// Settings that name no program, whose values may look as if they did.
const HARMLESS: [&str; 10] =
    ["advice", "branch", "core.worktree", "gc", "push", "pull", "remote", "submodule", "url", "user"];

/// Returns what the settings of the user and of a working tree name within the tree.
pub(super) fn named(tree: &Path, home: Option<&Path>) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let of_user = home.into_iter().flat_map(|home| [home.join(".gitconfig"), home.join(".config/git/config")]);
    let git = git_directory(tree);
    // A worktree shares the settings of its repository.
    let common = line(&git.join("commondir")).map_or_else(|| git.clone(), |common| git.join(common));
    let files = of_user.chain([common.join("config"), git.join("config.worktree")]);
    let mut open: Vec<(PathBuf, usize)> = files.map(|file| (file, 0)).collect();
    while let Some((file, depth)) = open.pop() {
        let Ok(head) = read_head(&file, limits::GIT_SETTINGS_BYTES) else { continue };
        for (name, value) in settings(&String::from_utf8_lossy(&head.bytes)) {
            let beside = file.parent().unwrap_or(&file);
            if name == "include.path" {
                let included = plain(&beside.join(&value));
                if depth < limits::GIT_INCLUDES {
                    open.push((included.clone(), depth + 1));
                }
                found.insert(included);
            } else if PATHS.contains(&name.as_str()) {
                found.insert(plain(&tree.join(&value)));
            } else if !HARMLESS.iter().any(|harmless| name.starts_with(harmless)) {
                let is_between = |c: char| c.is_whitespace() || "!\"';&|()<>=$`".contains(c);
                let words = value.split(is_between).filter(|word| !word.is_empty());
                let paths = words.map(|word| plain(&tree.join(word)));
                // A word alone is a program of the search path, unless a file of that name is there.
                found.extend(paths.filter(|path| path.starts_with(tree) && path.symlink_metadata().is_ok()));
            }
        }
    }
    // A directory that holds the whole tree says nothing.
    found.retain(|path| path.starts_with(tree) && path != tree);
    found
}

/// Returns the settings of a file by their names in lower case, without what stands in quotes behind the first part.
fn settings(text: &str) -> Vec<(String, String)> {
    let text = text.replace("\\\r\n", "").replace("\\\n", "");
    let mut section = String::new();
    let mut all = Vec::new();
    for line in text.lines() {
        let mut line = line.trim_start_matches('\u{feff}').trim();
        if let Some(rest) = line.strip_prefix('[') {
            let (header, behind) = rest.rsplit_once(']').unwrap_or((rest, ""));
            let name = header.split([' ', '\t', '"', '.']).next().unwrap_or_default();
            // One that holds under a condition counts as one that always does.
            section = name.to_ascii_lowercase().replace("includeif", "include");
            line = behind.trim();
        }
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        let value = value.trim().trim_matches('"').replace("\\\"", "\"").replace("\\\\", "\\");
        all.push((format!("{section}.{}", key.trim().to_ascii_lowercase()), value));
    }
    all
}

fn line(file: &Path) -> Option<String> {
    let head = read_head(file, limits::GIT_SETTINGS_BYTES).ok()?;
    String::from_utf8(head.bytes).ok().map(|text| text.trim().to_owned())
}

/// Returns a path without `.` and `..`, and without the links that are there now.
fn plain(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| without_dots(path))
}

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
    pub fn of(roots: &[PathBuf]) -> Self {
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

/// Returns where git keeps the repository of a working tree.
fn git_directory(tree: &Path) -> PathBuf {
    let git = tree.join(".git");
    let head = read_head(&git, limits::GIT_SETTINGS_BYTES).ok();
    let named = head.and_then(|head| String::from_utf8(head.bytes).ok());
    match named.as_deref().and_then(|text| text.strip_prefix("gitdir:")) {
        Some(named) => tree.join(named.trim()),
        None => git,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_settings_name_in_the_tree_is_found_and_nothing_else() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let (tree, home) = (root.join("tree"), root.join("home"));
        fs::create_dir_all(tree.join(".git")).unwrap();
        fs::create_dir(&home).unwrap();
        fs::write(tree.join("tool.sh"), "").unwrap();
        fs::write(home.join(".gitconfig"), "[core]\n\thooksPath = \"scripts/hooks\"\n[user]\n\tname = tool.sh\n")
            .unwrap();
        let own = "[core]\n\tbare = false\n\tfsmonitor = ./tool.sh --fast\n[includeIf \"gitdir:/\"] path = ../shared/git\n\
                   [alias]\n\tst = !git status\n[filter \"x\"]\n\tclean = missing.sh\n[include]\n\tpath = /elsewhere\n";
        fs::write(tree.join(".git/config"), own).unwrap();
        let found = named(&tree, Some(&home));
        let wanted = ["scripts/hooks", "shared/git", "tool.sh"].map(|name| tree.join(name));
        assert_eq!(found, BTreeSet::from(wanted));
    }
}
