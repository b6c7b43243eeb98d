//! Repositories within directories that commands write: git of the user is started in these too, and obeys their settings.
//!
//! They are looked for by their names, through at most [`limits::NESTED_NAMES`] of these, those that lie least deep first.
//! Neither a command nor a tool makes one unasked, so what is found holds for a while, the longer the longer it took to
//! look: a large tree costs each command little.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::names::DEPENDENCIES;
use super::repository;
use super::settings::git_directory;
use crate::limits;
use crate::sync::{Mutex, lock};

/// A repository within a directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RepositoryPlace {
    /// The directory in which git is started.
    pub tree: PathBuf,
    /// Where git keeps the repository: in the directory, beside it, or the directory itself.
    pub git: PathBuf,
}

/// The last look at each directory.
static LOOKS: Mutex<BTreeMap<PathBuf, Look>> = Mutex::new(BTreeMap::new());

#[derive(Debug, Clone)]
struct Look {
    ended: Instant,
    lasted: Duration,
    found: BTreeSet<RepositoryPlace>,
}

impl Look {
    fn holds(&self) -> bool {
        self.ended.elapsed() < self.lasted.saturating_mul(limits::NESTED_REST).min(limits::NESTED_REST_MOST)
    }
}

/// Returns the repositories within a directory, itself left out. Blocks.
pub(super) fn repositories(root: &Path) -> BTreeSet<RepositoryPlace> {
    let before = lock(&LOOKS).get(root).cloned();
    if let Some(look) = before.as_ref().filter(|look| look.holds()) {
        return look.found.clone();
    }
    let began = Instant::now();
    let mut found = find(root, limits::NESTED_NAMES, began);
    // Whoever fills the directories above one with names hides none that was found before.
    let is_there = |known: &RepositoryPlace| known.git.symlink_metadata().is_ok();
    found.extend(before.into_iter().flat_map(|look| look.found).filter(is_there));
    let look = Look { ended: Instant::now(), lasted: began.elapsed(), found: found.clone() };
    let mut looks = lock(&LOOKS);
    if looks.len() >= limits::NESTED_LOOKS {
        looks.clear();
    }
    looks.insert(root.to_owned(), look);
    found
}

fn find(root: &Path, most: usize, began: Instant) -> BTreeSet<RepositoryPlace> {
    let (mut found, mut names) = (BTreeSet::new(), 0);
    let mut open = VecDeque::from([root.to_owned()]);
    while let Some(directory) = open.pop_front() {
        let mut here = BTreeSet::<OsString>::new();
        let mut below = Vec::new();
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            names += 1;
            if names > most || found.len() >= limits::NESTED_REPOSITORIES || began.elapsed() > limits::NESTED_TIME {
                return found;
            }
            let name = entry.file_name();
            // A link leads to what is found elsewhere, or lies outside.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) && !is_passed_over(&name) {
                below.push(entry.path());
            }
            here.insert(name);
        }
        let is_root = directory == root;
        let is_bare = repository::is_one(&directory, &|path| path.file_name().is_some_and(|name| here.contains(name)));
        if !is_root && is_bare {
            found.insert(RepositoryPlace { tree: directory.clone(), git: directory });
            continue;
        }
        if !is_root && here.contains(OsStr::new(".git")) {
            found.insert(RepositoryPlace { git: git_directory(&directory), tree: directory });
        }
        open.extend(below);
    }
    found
}

/// Tells whether nobody works below a directory: git itself, and what a package manager has unpacked.
fn is_passed_over(name: &OsStr) -> bool {
    name == ".git" || name.to_str().is_some_and(|name| DEPENDENCIES.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(root: &Path, found: BTreeSet<RepositoryPlace>) -> Vec<String> {
        let name = |path: &Path| path.strip_prefix(root).map(|path| path.to_string_lossy().into_owned()).unwrap();
        found.into_iter().map(|found| format!("{}: {}", name(&found.tree), name(&found.git))).collect()
    }

    #[test]
    fn repositories_are_found_however_deep_and_none_twice_or_where_nobody_works() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        for directory in [
            ".git/modules/part",
            "one/.git",
            "one/deep/two/.git",
            "part",
            "bare/objects",
            "bare/refs/.git",
            "node_modules/left/.git",
            "plain/objects",
        ] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        fs::write(root.join("bare/HEAD"), "").unwrap();
        fs::write(root.join("part/.git"), "gitdir: ../.git/modules/part\n").unwrap();
        std::os::unix::fs::symlink("one", root.join("link")).unwrap();
        let found = names(&root, find(&root, usize::MAX, Instant::now()));
        assert_eq!(
            found,
            ["bare: bare", "one: one/.git", "one/deep/two: one/deep/two/.git", "part: part/../.git/modules/part"]
        );
    }

    #[test]
    fn what_was_found_is_not_hidden_by_names_that_are_made_before_it() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("a/b/c/.git")).unwrap();
        assert_eq!(find(&root, 4, Instant::now()).len(), 1);
        assert_eq!(find(&root, 3, Instant::now()).len(), 0, "the bound holds");
        assert_eq!(repositories(&root).len(), 1);
        fs::rename(root.join("a"), root.join("away")).unwrap();
        lock(&LOOKS).remove(&root);
        assert_eq!(names(&root, repositories(&root)), ["away/b/c: away/b/c/.git"]);
        // A look that is too old is made anew, and what is gone is not kept.
        fs::remove_dir_all(root.join("away")).unwrap();
        if let Some(look) = lock(&LOOKS).get_mut(&root) {
            look.lasted = Duration::ZERO;
        }
        assert!(repositories(&root).is_empty());
    }
}
