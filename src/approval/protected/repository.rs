//! Directories that git takes for a repository although they are not called `.git`: whoever enters one and runs git
//! obeys its configuration, which names programs.
//!
//! Source: `is_git_directory` and `get_common_dir` of git's setup.c, gitrepository-layout(5). A directory is one as soon
//! as it has a `HEAD`, and `objects` and `refs`, or a `commondir` that says where those are; in which order they came is
//! up to whoever writes them, so the one that completes them counts, and every later one.

use std::path::{Component, Path, PathBuf};

use super::fold;
use crate::approval::pattern::lists;

/// What git reads in a repository, in small letters.
const PARTS: &str = "\
    head config config.worktree objects refs commondir gitdir hooks info modules worktrees index packed-refs logs \
    shallow branches remotes description reftable";

pub(super) const PART: &str = "part of what Git takes for a repository";

/// Tells whether a path has a name that a part of a repository has.
pub(super) fn may_be_part(path: &Path) -> bool {
    path.components().any(|component| is_part(component))
}

/// Tells whether a path lies in what is a repository on disk, or is one once these paths exist too.
pub(super) fn is_part_of_one(path: &Path, planned: &[PathBuf]) -> bool {
    path.ancestors().skip(1).any(|directory| {
        let name = path.strip_prefix(directory).ok().and_then(|below| below.components().next());
        name.is_some_and(is_part) && is_repository(directory, planned)
    })
}

fn is_part(component: Component<'_>) -> bool {
    matches!(component, Component::Normal(name) if lists(PARTS, &fold(&name.to_string_lossy())))
}

fn is_repository(directory: &Path, planned: &[PathBuf]) -> bool {
    let is_planned = |name: &str| {
        planned.iter().any(|path| {
            let below = path.strip_prefix(directory).ok().and_then(|below| below.components().next());
            below.is_some_and(|first| fold(&first.as_os_str().to_string_lossy()) == name.to_lowercase())
        })
    };
    let has = |name: &str| is_planned(name) || directory.join(name).symlink_metadata().is_ok();
    has("HEAD") && (has("commondir") || has("objects") && has("refs"))
}
