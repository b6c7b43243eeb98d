//! The snapshot of protected files: what git or another tool runs or reads as settings in the directories that commands
//! may write in, as it was before the first of several commands.
//!
//! [`Protection`] is shared by all commands of a session and is the only way in; `journal` keeps the snapshot on
//! disk while a command runs. Always holds: nothing is changed back that was not kept whole before, nothing is
//! taken away that was not kept or cannot be named back, and nothing outside is written, whatever a command swaps
//! meanwhile.
//!
//! # Where things are
//!
//! - what no command may leave behind in a workspace: `mod.rs`; stories: `sandbox/protected.rs`,
//!   `sandbox/redirections.rs`, `sandbox/kills.rs`

mod config;
mod content;
mod find;
mod grounds;
mod harmless;
mod journal;
mod protection;
mod question;
mod restore;
mod settings_lock;
mod survivors;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rustix::fs::AtFlags;

use crate::workspace::snapshot::config::with_additions;
use crate::workspace::snapshot::content::{KeepLimits, PathContent};
use crate::workspace::snapshot::find::{ProtectedPaths, ProtectionReason, find, is_sample};
use crate::workspace::snapshot::grounds::WritableDirectories;
use crate::workspace::snapshot::harmless::is_harmless;

pub use journal::{Recovery, recover};
pub use protection::{Command, Protection};
pub use question::{Ask, Cover, Decision, Question};

/// The protected files of some directories.
#[derive(Debug, Clone, Default)]
struct Snapshot {
    grounds: WritableDirectories,
    /// Directories that were looked through.
    walked: Vec<PathBuf>,
    home: Option<PathBuf>,
    entries: BTreeMap<PathBuf, (ProtectionReason, PathContent)>,
    repositories: BTreeMap<PathBuf, u64>,
    unknown: Vec<PathBuf>,
    /// What no command can change, because a mount is in its way, with the directories that lead there.
    read_only: Vec<PathBuf>,
    ways: BTreeMap<PathBuf, u64>,
}

/// One protected file that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Difference {
    path: PathBuf,
    watch: ProtectionReason,
    before: PathContent,
    after: PathContent,
}

impl Difference {
    fn is_lost_repository(&self, repositories: &BTreeMap<PathBuf, u64>) -> bool {
        match self.before {
            PathContent::Directory { inode, .. } => {
                let is_other = !matches!(self.after, PathContent::Directory { .. });
                let is_repository = self.path.file_name().is_some_and(|name| name == ".git");
                is_other && is_repository && repositories.values().all(|known| *known != inode)
            }
            PathContent::Missing | PathContent::File { .. } | PathContent::Link(_) | PathContent::Unkept { .. } => {
                false
            }
        }
    }

    /// Returns whether it was a repository, and nothing is in its place.
    fn is_removed_repository(&self, repositories: &BTreeMap<PathBuf, u64>) -> bool {
        self.after.is_missing() && self.is_lost_repository(repositories)
    }
}

/// The result of a comparison.
#[derive(Debug, Default)]
struct Comparison {
    /// The user decides about these.
    open: Vec<Difference>,
    /// Nobody can put these back, or what was there before is not known.
    reported: Vec<Difference>,
    /// These need no word: the user's own, or harmless.
    silent: Vec<Difference>,
    /// Where each git directory is now.
    repositories: BTreeMap<PathBuf, u64>,
}

/// Returns what of a writable directory, and of the repository that it is a worktree of, no command may change, as
/// far as it is there and no link.
pub(super) fn read_only(root: &Path, grounds: &[PathBuf]) -> Vec<PathBuf> {
    let mut all = grounds.to_vec();
    all.push(root.to_owned());
    let grounds = WritableDirectories::open(&all);
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    fixed(&find(&grounds, &[root], None), &grounds)
}

fn fixed(found: &ProtectedPaths, grounds: &WritableDirectories) -> Vec<PathBuf> {
    let is_fixed = |path: &&PathBuf| {
        matches!(
            grounds.look(path, &mut KeepLimits { bytes: 0, entries: 0 }),
            PathContent::Directory { .. } | PathContent::File { .. } | PathContent::Unkept { .. }
        )
    };
    let runs = found.places.iter().filter(|(_, watch)| **watch == ProtectionReason::Runs).map(|(path, _)| path);
    // Git writes in its directory; what lies there has places of its own.
    let runs = runs.filter(|path| !found.repositories.contains_key(*path)).filter(is_fixed);
    runs.filter(|path| !is_socket_or_pipe(path)).cloned().collect()
}

fn is_socket_or_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    path.symlink_metadata().is_ok_and(|found| found.file_type().is_fifo() || found.file_type().is_socket())
}

impl Snapshot {
    /// Takes everything as it is. Blocks.
    fn take(roots: &[PathBuf], more: &[PathBuf], home: Option<&Path>, cover: Cover) -> Self {
        let grounds = WritableDirectories::open(&[roots, more].concat());
        let walked = WritableDirectories::open(roots).iter().map(|ground| ground.path.clone()).collect();
        let mut snapshot = Self { grounds, walked, home: home.map(Path::to_owned), ..Self::default() };
        let found = find(&snapshot.grounds, &snapshot.walked, home);
        let mut room = KeepLimits::new();
        for (path, watch) in &found.places {
            snapshot.keep(path, *watch, &found, &mut room);
        }
        match cover {
            Cover::ReadOnly => snapshot.remember_ways(fixed(&found, &snapshot.grounds)),
            Cover::Nothing => {}
        }
        snapshot.repositories = found.repositories;
        snapshot.unknown.extend(found.unknown);
        snapshot
    }

    /// Records a path with everything below it.
    fn keep(&mut self, path: &Path, watch: ProtectionReason, found: &ProtectedPaths, room: &mut KeepLimits) {
        if room.entries == 0 {
            self.unknown.push(path.to_owned());
            return;
        }
        room.entries -= 1;
        let content = self.grounds.look(path, room);
        // Git's own directory is kept by its places.
        let is_tree = matches!(content, PathContent::Directory { .. }) && !found.repositories.contains_key(path);
        self.entries.insert(path.to_owned(), (watch, content));
        if is_tree && watch != ProtectionReason::Exists {
            match self.grounds.list(path, room.entries) {
                Ok((names, is_all)) => {
                    if !is_all {
                        self.unknown.push(path.to_owned());
                    }
                    for (name, _) in names {
                        let below = path.join(name);
                        if !is_sample(&below) && !self.entries.contains_key(&below) {
                            self.keep(&below, watch, found, room);
                        }
                    }
                }
                Err(_) => self.unknown.push(path.to_owned()),
            }
        }
    }

    fn remember_ways(&mut self, read_only: Vec<PathBuf>) {
        for path in read_only {
            for way in ways(&self.grounds, &path) {
                if let PathContent::Directory { inode, .. } = self.grounds.look(&way, &mut KeepLimits::for_one()) {
                    self.ways.insert(way, inode);
                }
            }
            self.read_only.push(path);
        }
    }

    /// Adds the directories of another command; what is known already stands.
    fn add(&mut self, other: Self) {
        self.grounds.add(&other.grounds);
        self.walked.extend(other.walked.into_iter().filter(|path| !self.walked.contains(path)).collect::<Vec<_>>());
        for (path, entry) in other.entries {
            self.entries.entry(path).or_insert(entry);
        }
        for (path, inode) in other.repositories {
            self.repositories.entry(path).or_insert(inode);
        }
        for (path, inode) in other.ways {
            self.ways.entry(path).or_insert(inode);
        }
        self.unknown.extend(other.unknown);
        self.read_only.extend(other.read_only);
    }

    fn covers(&self, roots: &[PathBuf]) -> bool {
        roots.iter().all(|root| self.walked.contains(root) || !root.is_dir())
    }

    /// Takes over what is decided about.
    fn adopt(&mut self, difference: &Difference) {
        self.entries.insert(difference.path.clone(), (difference.watch, difference.after.clone()));
    }

    /// Removes the directory of a path when it was not there before and nothing is in it.
    fn remove_empty(&self, path: &Path) {
        for above in path.ancestors().skip(1) {
            if !matches!(self.entries.get(above), Some((_, PathContent::Missing))) {
                return;
            }
            let Ok(place) = self.grounds.place(above) else { return };
            let _ = rustix::fs::unlinkat(&place.dir, &*place.name, AtFlags::REMOVEDIR);
        }
    }

    /// Compares with what is there now. Blocks.
    fn compare(&self) -> Comparison {
        let found = find(&self.grounds, &self.walked, self.home.as_deref());
        let mut now = Self { grounds: self.grounds.clone(), ..Self::default() };
        let mut room = KeepLimits::new();
        for (path, watch) in &found.places {
            now.keep(path, *watch, &found, &mut room);
        }
        let moved = self.moved(&found);
        let mut all = Vec::new();
        for (path, (watch, before)) in &self.entries {
            let mut after = self.grounds.look(path, &mut KeepLimits::for_one());
            // What was not kept for want of room is the same by its identity.
            if matches!((&after, before), (PathContent::File { .. }, PathContent::Unkept { .. })) {
                after = self.grounds.look(path, &mut KeepLimits { bytes: 0, entries: 0 });
            }
            if is_changed(*watch, before, &after) && !self.is_gone(path, &after) {
                all.push(Difference { path: path.clone(), watch: *watch, before: before.clone(), after });
            }
        }
        for (path, (watch, after)) in &now.entries {
            if self.entries.contains_key(path) {
                continue;
            }
            let before = moved.get(path).cloned().unwrap_or(PathContent::Missing);
            if is_changed(*watch, &before, after) {
                all.push(Difference {
                    path: path.clone(),
                    watch: *watch,
                    before: PathContent::Missing,
                    after: after.clone(),
                });
            }
        }
        all.sort_by(|left, right| left.path.cmp(&right.path));
        self.sort(all, found)
    }

    /// Returns whether a place is gone together with its repository or work tree, so that nothing runs there.
    fn is_gone(&self, path: &Path, after: &PathContent) -> bool {
        let is_directory = |path: &Path| matches!(self.grounds.look_at_directory(path), PathContent::Directory { .. });
        match path.parent().filter(|_| path.file_name().is_some_and(|name| name == ".git")) {
            // While its work tree stands, git takes that for a part of what is above.
            Some(tree) => after.is_missing() && !is_directory(tree),
            None => {
                after.is_missing() && self.repositories.keys().any(|git| path.starts_with(git) && !is_directory(git))
            }
        }
    }

    /// Returns what the files of moved repositories held where they were before.
    fn moved(&self, found: &ProtectedPaths) -> BTreeMap<PathBuf, PathContent> {
        let mut moved = BTreeMap::new();
        for (git, inode) in found.repositories.iter().filter(|(git, _)| !self.repositories.contains_key(*git)) {
            let Some((before, _)) = self.repositories.iter().find(|(_, known)| *known == inode) else { continue };
            for (path, (_, content)) in self.entries.range(before.clone()..) {
                let Ok(below) = path.strip_prefix(before) else { break };
                moved.insert(git.join(below), content.clone());
            }
        }
        moved
    }

    fn sort(&self, all: Vec<Difference>, found: ProtectedPaths) -> Comparison {
        let are_ways_kept = |path: &Path| {
            ways(&self.grounds, path).iter().all(|way| {
                match (self.grounds.look_at_directory(way), self.ways.get(way)) {
                    (PathContent::Directory { inode, .. }, Some(known)) => inode == *known,
                    _ => false,
                }
            })
        };
        let covering = |path: &Path| {
            let covering = self.read_only.iter().find(|fixed| path.starts_with(fixed));
            covering.filter(|fixed| are_ways_kept(fixed))
        };
        let all = all.into_iter().filter_map(|mut difference| {
            if let Some(fixed) = covering(&difference.path) {
                if self.is_same_directory(fixed) {
                    // What only the user can have done is the truth from now on.
                    difference.before = difference.after.clone();
                } else if difference.path == *fixed {
                    add_users_part(&mut difference);
                    // It is compared anew each time: git writes a new section in several steps.
                    return (difference.before != difference.after).then_some(difference);
                }
            }
            Some(difference)
        });
        let all: Vec<Difference> = all.collect();
        let is_users = |difference: &Difference| difference.before.is_same(&difference.after);
        let hostile: Vec<&Difference> =
            all.iter().filter(|difference| !is_harmless(difference, &found, &self.grounds)).collect();
        let made = |git: &Path| {
            let is_inside = |difference: &&&Difference| {
                difference.path.starts_with(git) && difference.watch == ProtectionReason::Runs && !is_users(difference)
            };
            hostile.iter().filter(is_inside).count() > 0
        };
        let is_new_bare = |git: &PathBuf| {
            let is_named = git.components().any(|part| part.as_os_str() == ".git");
            !is_named && !self.repositories.contains_key(git)
        };
        let bare: Vec<PathBuf> = found.repositories.keys().filter(|git| is_new_bare(git)).cloned().collect();
        let mut compared = Comparison::default();
        for difference in &all {
            let within = bare.iter().find(|git| difference.path.starts_with(git));
            let is_head = difference.watch == ProtectionReason::Exists;
            let is_open = match within {
                // Its other files may have been there before; without its `HEAD` it is no repository.
                Some(git) if is_head => made(git),
                Some(_) => false,
                None => !is_head && hostile.contains(&difference),
            };
            let is_known = !difference.before.is_missing() || !self.is_unknown(&difference.path);
            let can_be_kept = !matches!(difference.before, PathContent::Unkept { .. });
            let list = match () {
                () if is_users(difference) => &mut compared.silent,
                () if difference.watch == ProtectionReason::Instructs => &mut compared.reported,
                () if difference.is_removed_repository(&found.repositories) => &mut compared.reported,
                () if !is_open => &mut compared.silent,
                () if is_known && can_be_kept => &mut compared.open,
                () => &mut compared.reported,
            };
            list.push(difference.clone());
        }
        compared.repositories = found.repositories;
        compared
    }

    /// Returns whether a directory is the very one that a mount covers.
    fn is_same_directory(&self, path: &Path) -> bool {
        match (self.entries.get(path), self.grounds.look_at_directory(path)) {
            (Some((_, PathContent::Directory { inode, .. })), PathContent::Directory { inode: now, .. }) => {
                *inode == now
            }
            _ => false,
        }
    }

    fn is_unknown(&self, path: &Path) -> bool {
        self.unknown.iter().any(|directory| path.starts_with(directory))
    }
}

/// Takes over what was only added to a file that a mount covered. Who replaces a file takes the mount off it for
/// everybody, so from then on the command could have changed the rest.
fn add_users_part(difference: &mut Difference) {
    if let (PathContent::File { bytes, .. }, PathContent::File { bytes: after, .. }) =
        (&mut difference.before, &difference.after)
    {
        *bytes = with_additions(bytes, after);
    }
}

/// Returns the directories that lead to a path from the ground that holds it.
fn ways(grounds: &WritableDirectories, path: &Path) -> Vec<PathBuf> {
    let above = path.ancestors().skip(1);
    above.take_while(|way| grounds.iter().all(|ground| ground.path != *way)).map(Path::to_owned).collect()
}

/// Returns whether somebody has to hear of a difference.
fn is_changed(watch: ProtectionReason, before: &PathContent, after: &PathContent) -> bool {
    match watch {
        // A branch that is switched is none.
        ProtectionReason::Exists => before.is_missing() && !after.is_missing(),
        ProtectionReason::Instructs | ProtectionReason::Steps | ProtectionReason::Runs => !before.is_same(after),
    }
}
