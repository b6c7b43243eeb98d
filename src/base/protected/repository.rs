//! Directories that git takes for a repository although they are not called `.git`: whoever enters one and runs git
//! obeys its configuration, which names programs.
//!
//! Source: `is_git_directory` and `get_common_dir` of git's setup.c, gitrepository-layout(5). A directory is one as soon
//! as it has a `HEAD`, and `objects` and `refs`, or a `commondir` that says where those are; in which order they came is
//! up to whoever writes them, so the one that completes them counts, and every later one.

use std::path::{Component, Path, PathBuf};

use super::{fold_case, is_listed};

/// What git reads in a repository, in small letters.
const PARTS: &str = "\
    head config config.worktree objects refs commondir gitdir hooks info modules worktrees index packed-refs logs \
    shallow branches remotes description reftable";

pub(super) const PART: &str = "part of what Git takes for a repository";

/// Tells whether a path has a name that a part of a repository has.
pub(super) fn may_be_part(path: &Path) -> bool {
    path.components().any(is_part)
}

/// Returns each directory above a path that could be a repository, with what of the path is below it.
pub(super) fn parts(path: &Path) -> impl Iterator<Item = (&Path, &Path)> {
    let below = move |directory| Some((directory, path.strip_prefix(directory).ok()?));
    let directories = path.ancestors().skip(1).filter_map(below);
    directories.filter(|(_, rest)| rest.components().next().is_some_and(is_part))
}

/// Tells whether a path lies in what is a repository on disk, or is one once these paths exist too.
pub(super) fn is_part_of_one(path: &Path, planned: &[PathBuf]) -> bool {
    parts(path).any(|(directory, _)| {
        let first = |path: &Path| {
            let name = path.strip_prefix(directory).ok()?.components().next()?;
            Some(fold_case(&name.as_os_str().to_string_lossy()))
        };
        let planned: Vec<String> = planned.iter().filter_map(|path| first(path)).collect();
        let is_planned = |path: &Path| first(path).is_some_and(|name| planned.contains(&name));
        is_one(directory, &|path| is_planned(path) || path.symlink_metadata().is_ok())
    })
}

/// Tells whether a directory is a repository, given what exists.
pub(super) fn is_one(directory: &Path, exists: &dyn Fn(&Path) -> bool) -> bool {
    let has = |name: &str| exists(&directory.join(name));
    has("HEAD") && (has("commondir") || has("objects") && has("refs"))
}

fn is_part(component: Component<'_>) -> bool {
    matches!(component, Component::Normal(name) if is_listed(PARTS, &fold_case(&name.to_string_lossy())))
}
