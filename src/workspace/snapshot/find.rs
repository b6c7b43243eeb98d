//! Where git and other tools look for what they run or read as settings, in the directories that commands may write in.
//!
//! The list is that of git's own pages gitrepository-layout(5), git-config(1), git-worktree(1), gitsubmodules(7),
//! githooks(5) and git-rebase(1): what of a git directory names programs, holds them, or says where the rest of it
//! is or where a remote is. Indexes, objects and references run nothing, nor does `sequencer/todo`, in which git
//! allows only `pick` and `revert`. Used for the snapshot, and for what a sandbox makes read-only.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use rustix::fs::FileType;

use crate::limits;
use crate::workspace::snapshot::config::{Setting, Settings};
use crate::workspace::snapshot::content::{KeepLimits, PathContent};
use crate::workspace::snapshot::grounds::{WritableDirectories, resolve};

/// What of a git directory says which programs git runs, or where the rest of it is.
const GIT: [&str; 10] = [
    "branches",
    "commondir",
    "config",
    "config.worktree",
    "gitdir",
    "hooks",
    "info/attributes",
    // lazygit, Config: commands for keys.
    "lazygit.yml",
    "objects/info/alternates",
    "remotes",
];

/// What of a git directory says how an operation goes on that was stopped: commands of `exec`, in the others a
/// strategy of merging (`read_populate_opts` of git's sequencer.c), which is a program.
const STEPS: [&str; 3] = ["rebase-merge/git-rebase-todo", "rebase-merge/strategy", "sequencer/opts"];

/// What else of a project is run or read as settings: this program's own directory, and the settings of other version
/// control (hgrc(5); Jujutsu, Config files).
const PROJECT: [&str; 3] = [".steersman", ".hg/hgrc", ".jj/repo/config.toml"];

/// Files whose text instructs agents, or starts programs once the user allows it; a command may change them, and
/// that is said.
const INSTRUCTS: [&str; 14] = [
    "AGENTS.md",
    "AGENTS.override.md",
    "CLAUDE.md",
    "CLAUDE.local.md",
    ".claude/CLAUDE.md",
    ".claude/rules",
    ".claude/skills",
    ".claude/commands",
    ".claude/agents",
    ".agents/skills",
    ".mcp.json",
    ".envrc",
    ".vscode",
    ".husky",
];

/// The reason why a path is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub(super) enum ProtectionReason {
    /// It instructs agents or editors.
    Instructs,
    /// It makes a directory a repository by being there.
    Exists,
    /// Git writes it by itself, and may run what it names.
    Steps,
    /// Git or this program runs it, reads settings from it or is led elsewhere by it.
    Runs,
}

/// The protected paths that were found.
#[derive(Debug, Default)]
pub(super) struct ProtectedPaths {
    pub(super) places: BTreeMap<PathBuf, ProtectionReason>,
    /// Every git directory that there is.
    pub(super) repositories: BTreeMap<PathBuf, u64>,
    /// Directories that were not looked through to their end.
    pub(super) unknown: Vec<PathBuf>,
}

/// Looks through these directories, whole; `home` is where the user's own settings of git are.
pub(super) fn find(grounds: &WritableDirectories, walked: &[PathBuf], home: Option<&Path>) -> ProtectedPaths {
    let deadline = Instant::now() + limits::SNAPSHOT_TIME;
    let entries = limits::SNAPSHOT_WALK_ENTRIES;
    let mut finder = PathFinder { grounds, found: ProtectedPaths::default(), entries, deadline, read: HashSet::new() };
    for root in walked {
        for name in PROJECT {
            finder.place(&root.join(name), ProtectionReason::Runs);
        }
        for name in INSTRUCTS {
            finder.place(&root.join(name), ProtectionReason::Instructs);
        }
        // Settings of the user name places of every project, as `core.hooksPath = .githooks`.
        for file in home.iter().flat_map(|home| [home.join(".gitconfig"), home.join(".config/git/config")]) {
            if let Ok(head) = crate::workspace::read_head(&file, limits::SNAPSHOT_FILE_BYTES) {
                finder.named(&head.bytes, &file, Some(root), 0);
            }
        }
        finder.walk(root);
    }
    finder.found
}

struct PathFinder<'a> {
    grounds: &'a WritableDirectories,
    found: ProtectedPaths,
    /// Directory entries that may still be looked at.
    entries: usize,
    deadline: Instant,
    /// Files of settings that were read, and from where.
    read: HashSet<(PathBuf, PathBuf)>,
}

impl PathFinder<'_> {
    /// Looks for repositories in a directory, the nearest first.
    fn walk(&mut self, root: &Path) {
        let mut open = VecDeque::from([root.to_owned()]);
        while let Some(directory) = open.pop_front() {
            if self.entries == 0 || Instant::now() > self.deadline {
                // Whatever is further down.
                self.found.unknown.push(root.to_owned());
                return;
            }
            let Some(names) = self.list(&directory) else { continue };
            if names.iter().any(|(name, _)| name == ".git") {
                self.dot_git(&directory);
            }
            if names.iter().any(|(name, _)| name == "HEAD") {
                // As git sees it, a directory with these is a repository, whatever its name.
                self.place(&directory.join("HEAD"), ProtectionReason::Exists);
                if names.iter().any(|(name, _)| name == "objects" || name == "commondir") {
                    self.git_directory(&directory, None);
                }
            }
            let below = names.into_iter().filter(|(name, kind)| *kind == FileType::Directory && name != ".git");
            open.extend(below.map(|(name, _)| directory.join(name)));
        }
    }

    /// Lists a directory; `None` when it cannot be, which is remembered.
    fn list(&mut self, directory: &Path) -> Option<Vec<(OsString, FileType)>> {
        if let Ok((names, is_all)) = self.grounds.list(directory, self.entries) {
            self.entries = self.entries.saturating_sub(names.len());
            if !is_all {
                self.found.unknown.push(directory.to_owned());
            }
            return Some(names);
        }
        let is_directory = matches!(self.look(directory), PathContent::Directory { .. });
        if is_directory || self.grounds.iter().any(|ground| ground.path == directory) {
            self.found.unknown.push(directory.to_owned());
        }
        None
    }

    fn look(&self, path: &Path) -> PathContent {
        self.grounds.look(path, &mut KeepLimits::for_one())
    }

    fn name(&mut self, path: &Path, watch: ProtectionReason) {
        let is_below = self.grounds.hold(path) && self.grounds.iter().all(|ground| ground.path != path);
        if is_below {
            let known = self.found.places.entry(path.to_owned()).or_insert(watch);
            *known = watch.max(*known);
        }
    }

    /// Takes a place, and what it leads to when it is a link.
    fn place(&mut self, path: &Path, watch: ProtectionReason) {
        self.name(path, watch);
        if matches!(self.look(path), PathContent::Link(_)) {
            let target = resolve(path, Path::new(""));
            if target != path && self.grounds.hold(&target) && !self.found.places.contains_key(&target) {
                self.place(&target, watch);
            }
        }
    }

    /// Takes what is called `.git`: a directory, a file that names one, or a link to either.
    fn dot_git(&mut self, tree: &Path) {
        let path = tree.join(".git");
        self.name(&path, ProtectionReason::Runs);
        let real = resolve(&path, Path::new(""));
        match self.look(&real) {
            PathContent::Directory { .. } => self.git_directory(&real, Some(tree)),
            PathContent::File { bytes, .. } => {
                if let Some(named) = line(&bytes, b"gitdir:") {
                    self.git_directory(&resolve(tree, &named), Some(tree));
                }
            }
            PathContent::Missing | PathContent::Link(_) | PathContent::Unkept { .. } => {}
        }
    }

    fn git_directory(&mut self, git: &Path, tree: Option<&Path>) {
        let PathContent::Directory { inode, .. } = self.grounds.look_at_directory(git) else { return };
        if self.found.repositories.insert(git.to_owned(), inode).is_none() {
            self.name(git, ProtectionReason::Runs);
            for name in GIT {
                self.place(&git.join(name), ProtectionReason::Runs);
            }
            for name in STEPS {
                self.place(&git.join(name), ProtectionReason::Steps);
            }
            // The hooks themselves may be links.
            self.links(&git.join("hooks"));
            for name in self.list(&git.join("worktrees")).unwrap_or_default() {
                self.git_directory(&git.join("worktrees").join(name.0), None);
            }
            self.modules(&git.join("modules"));
            if let PathContent::File { bytes, .. } = self.look(&git.join("commondir"))
                && let Some(common) = line(&bytes, b"")
            {
                self.git_directory(&resolve(git, &common), tree);
            }
        }
        for name in ["config", "config.worktree"] {
            self.settings(&resolve(&git.join(name), Path::new("")), git, tree, 0);
        }
    }

    /// Takes the repositories of submodules, whatever these are called.
    fn modules(&mut self, directory: &Path) {
        let mut open = vec![directory.to_owned()];
        while let Some(directory) = open.pop() {
            let names = self.list(&directory).unwrap_or_default();
            let is_repository = names.iter().any(|(name, _)| name == "HEAD" || name == "config" || name == "commondir");
            if is_repository {
                self.git_directory(&directory, None);
            }
            for (name, kind) in names {
                // What git keeps there has no repositories below it, unless the directory is none.
                let is_own = is_repository && (name == "objects" || name == "refs" || name == "modules");
                if kind == FileType::Directory && !is_own {
                    open.push(directory.join(name));
                }
            }
        }
    }

    fn links(&mut self, directory: &Path) {
        for (name, kind) in self.list(directory).unwrap_or_default() {
            if kind == FileType::Symlink {
                self.place(&directory.join(name), ProtectionReason::Runs);
            }
        }
    }

    /// Takes what the settings of a repository name.
    fn settings(&mut self, file: &Path, git: &Path, tree: Option<&Path>, depth: usize) {
        let from = tree.unwrap_or(git);
        if depth > limits::SNAPSHOT_INCLUDES || !self.read.insert((file.to_owned(), from.to_owned())) {
            return;
        }
        if let PathContent::File { bytes, .. } = self.look(file) {
            self.named(&bytes, file, Some(from), depth);
        }
    }

    fn named(&mut self, bytes: &[u8], file: &Path, tree: Option<&Path>, depth: usize) {
        let beside = file.parent().unwrap_or(file);
        let from = tree.unwrap_or(beside);
        for setting in Settings::read(bytes).all.iter().filter(|setting| !setting.is_harmless()) {
            if setting.is_include() {
                let included = resolve(beside, Path::new(&setting.value));
                self.place(&included, ProtectionReason::Runs);
                self.settings(&included, beside, tree, depth + 1);
            } else if setting.is_path() {
                let named = resolve(from, Path::new(&setting.value));
                // Those of a work tree are the whole of it.
                if !setting.value.is_empty() && !from.starts_with(&named) {
                    self.place(&named, ProtectionReason::Runs);
                    self.links(&named);
                }
            } else if setting.name != "core.worktree" {
                self.programs(setting, from);
            }
        }
    }

    /// Takes the files that a command line of a setting names.
    fn programs(&mut self, setting: &Setting, from: &Path) {
        let is_between = |c: char| c.is_whitespace() || "!\"';&|()<>=$`".contains(c);
        for word in setting.value.split(is_between).filter(|word| !word.is_empty()) {
            let named = resolve(from, Path::new(word));
            match self.look(&named) {
                PathContent::File { .. } | PathContent::Link(_) | PathContent::Unkept { .. } => {
                    self.place(&named, ProtectionReason::Runs);
                }
                // It could be made.
                PathContent::Missing if word.contains('/') && !word.contains("://") && self.grounds.hold(&named) => {
                    self.place(&named, ProtectionReason::Runs);
                }
                PathContent::Missing | PathContent::Directory { .. } => {}
            }
        }
    }
}

/// Returns the path in a file of one line, behind a word.
fn line(bytes: &[u8], word: &[u8]) -> Option<PathBuf> {
    let rest = bytes.strip_prefix(word)?;
    let rest = rest.trim_ascii();
    (!rest.is_empty()).then(|| PathBuf::from(OsString::from_vec(rest.to_vec())))
}

/// Returns whether git runs a file of this name in a directory of hooks.
pub(super) fn is_sample(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_bytes().ends_with(b".sample"))
}
