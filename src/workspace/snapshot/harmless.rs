//! Changes that cannot make git run anything, so that the user need not be asked.
//!
//! Always holds: what is not listed here, or could be read in another way, is not harmless.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::workspace::snapshot::Difference;
use crate::workspace::snapshot::config::Settings;
use crate::workspace::snapshot::content::{KeepLimits, PathContent};
use crate::workspace::snapshot::find::{ProtectedPaths, ProtectionReason};
use crate::workspace::snapshot::grounds::{WritableDirectories, resolve};

/// The instructions of `git rebase --interactive` that run no command (git-rebase(1)), with their letters.
const STEPS: &[&str] = &[
    "#",
    "b",
    "break",
    "d",
    "drop",
    "e",
    "edit",
    "f",
    "fixup",
    "l",
    "label",
    "m",
    "merge",
    "noop",
    "p",
    "pick",
    "r",
    "reset",
    "reword",
    "s",
    "squash",
    "t",
    "u",
    "update-ref",
];

/// Returns whether a change runs nothing, as that by a fresh repository or by a plain rebase.
pub(super) fn is_harmless(difference: &Difference, found: &ProtectedPaths, grounds: &WritableDirectories) -> bool {
    if difference.watch == ProtectionReason::Steps {
        return are_steps_harmless(difference);
    }
    if !difference.before.is_missing() {
        return false;
    }
    let path = &difference.path;
    let name = path.file_name().unwrap_or_default();
    let git = path.parent().filter(|git| found.repositories.contains_key(*git));
    match &difference.after {
        PathContent::Directory { .. } | PathContent::Missing => true,
        PathContent::File { bytes, .. } if name == "config" => git.is_some_and(|git| is_plain(bytes, git, grounds)),
        PathContent::File { .. } if git.is_some() && name == "gitdir" => true,
        PathContent::File { bytes, .. } if name == "commondir" => {
            let is_worktree = git.and_then(Path::parent).is_some_and(|all| all.ends_with("worktrees"));
            is_worktree && bytes.trim_ascii() == b"../.."
        }
        // It leads to a repository that is looked at itself.
        PathContent::File { bytes, .. } if name == ".git" => {
            found.repositories.contains_key(&resolve(path.parent().unwrap_or(path), named(bytes)))
        }
        PathContent::File { .. } | PathContent::Link(_) | PathContent::Unkept { .. } => false,
    }
}

/// Returns whether the settings of a new repository are; those of a submodule name the work tree that names it back.
fn is_plain(bytes: &[u8], git: &Path, grounds: &WritableDirectories) -> bool {
    let settings = Settings::read(bytes);
    let is_own = |tree: &str| {
        let tree = resolve(git, Path::new(tree));
        let content = grounds.look(&tree.join(".git"), &mut KeepLimits::for_one());
        matches!(content, PathContent::File { bytes, .. } if resolve(&tree, named(&bytes)) == git)
    };
    settings.is_harmless_but(|setting| setting.name == "core.worktree" && is_own(&setting.value))
}

/// Returns the path in a file that stands for a git directory; an empty one when there is none.
fn named(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes.strip_prefix(b"gitdir:").map(<[u8]>::trim_ascii).unwrap_or_default()))
}

/// Returns whether an operation of git that is to be continued runs nothing but git, or what it ran before.
fn are_steps_harmless(difference: &Difference) -> bool {
    let before = difference.before.bytes().unwrap_or_default();
    let known = |line: &[u8]| before.split(|byte| *byte == b'\n').any(|known| known == line);
    let is_todo = difference.path.file_name().is_some_and(|name| name == "git-rebase-todo");
    let is_harmless = |line: &[u8]| {
        let Ok(line) = std::str::from_utf8(line) else { return false };
        // A strategy of merging with a slash in its name is a program of the directory that git is called in.
        let word = line.split_ascii_whitespace().next();
        if is_todo {
            word.is_none_or(|word| word.starts_with('#') || STEPS.contains(&word))
        } else {
            !line.contains('/')
        }
    };
    match &difference.after {
        PathContent::Missing => true,
        PathContent::File { bytes, .. } => {
            bytes.split(|byte| *byte == b'\n').all(|line| known(line) || is_harmless(line))
        }
        PathContent::Directory { .. } | PathContent::Link(_) | PathContent::Unkept { .. } => false,
    }
}
