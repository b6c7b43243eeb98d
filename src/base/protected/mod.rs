//! The protected places: what runs code later, or steers agents and programs (S4). One table for `write`, for commands,
//! for background jobs and for the manual.
//!
//! Names are compared as the most forgiving file system would: without case, without what is invisible, without dots and
//! blanks at the end, without the width of letters. A file that is yet to be made counts as one that is there; of a
//! repository without a `.git`, whose parts have ordinary names, the part that completes it. `build.rs`,
//! `Makefile` and the like are sources: they are what the work is about, and run only when somebody builds.
//!
//! [`ProtectedPlaces::what`] says what a path is: `write` and `edit` ask about all of these. A command may besides write
//! in a repository what plain work with it writes ([`ProtectedPlaces::refuses`], [`ProtectedPlaces::decide`]). These
//! list no directory.
//!
//! # Where things are
//!
//! - places that a change always asks about, and that no command in a sandbox changes: `mod.rs`, `names.rs`,
//!   `repository.rs`, `version_control.rs`; tests: `tests/core/protected/mod.rs`, `tests/core/protected/commands.rs`
//! - the index of git: which files it writes where somebody restores them: `index.rs`
//! - repositories within directories that commands write: `nested.rs`
//! - what lies in a working tree and is obeyed from outside of it, such as hooks and included files: `settings.rs`

mod index;
mod names;
mod nested;
mod repository;
pub mod settings;
mod version_control;

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use self::names::{DEEP, DEPENDENCIES, GIT_DATA, GIT_HOOKS, listed, listed_in, lists_in};
use crate::text::is_invisible;

pub use index::is_harmless_index;
pub use names::table;

/// The role of a directory that the places are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirectoryRole {
    /// Commands may write in it.
    Writable,
    /// Commands may write anything in it: it is gone with the session, and nobody else looks there.
    Free,
    /// The home directory of a user: what begins with a dot there is the configuration of a program.
    Home,
    /// A directory of this program's own: configuration, state or what lives while it runs.
    Own,
    /// A directory of configurations, of state or of what lives while programs run, of the user's programs together.
    Settings,
    /// A directory in which git keeps a repository, whatever its name.
    Repository,
    /// A file or directory that the user's settings of git name.
    Named,
}

impl DirectoryRole {
    const ALL: [Self; 7] =
        [Self::Writable, Self::Free, Self::Home, Self::Own, Self::Settings, Self::Repository, Self::Named];

    /// Returns the flag under which the hidden sub-command is told of such a directory.
    fn flag(self) -> &'static str {
        match self {
            Self::Writable => "--protect-in",
            Self::Free => "--protect-not-in",
            Self::Home => "--protect-home",
            Self::Own => "--protect-own",
            Self::Settings => "--protect-settings",
            Self::Repository => "--protect-repository",
            Self::Named => "--protect-named",
        }
    }
}

/// The protected places of some writable directories and one user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProtectedPlaces {
    directories: Vec<NamedDirectory>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct NamedDirectory {
    role: DirectoryRole,
    path: PathBuf,
    names: Vec<String>,
}

/// What a command does to a name in a directory. Paths are absolute, and their directories are real.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameChange<'a> {
    /// A file is removed, a directory made or removed, or the rights of one are changed.
    Write(&'a Path),
    /// A file is opened to write in it, or made.
    Fill(&'a Path),
    /// A link, a pipe, a socket or a device is made.
    Special(&'a Path),
    /// A file gets a second name.
    HardLink(&'a Path, &'a Path),
    /// Something is moved. An exchange is two of them, and both must be allowed.
    Move(&'a Path, &'a Path, MovedKind),
}

impl<'a> NameChange<'a> {
    /// Returns what is changed.
    pub fn paths(&self) -> impl Iterator<Item = &'a Path> + use<'a> {
        let (one, other) = match *self {
            Self::Write(path) | Self::Fill(path) | Self::Special(path) => (path, None),
            Self::HardLink(from, to) | Self::Move(from, to, _) => (from, Some(to)),
        };
        std::iter::once(one).chain(other)
    }
}

/// The kind of a file that is moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MovedKind {
    /// A plain file.
    File,
    /// With everything in it.
    Directory,
    /// A link, a pipe, a socket or a device.
    Special,
}

/// Whether a change is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It is.
    Allowed,
    /// It is not, for this reason: what the path is.
    Refused(&'static str),
    /// The move is answered as one to another file system, so that who asked copies name by name.
    OnlyByCopy,
    /// It brings an index of git: a copy takes the place, if that [is harmless](is_harmless_index).
    OnlyChecked,
}

impl ProtectedPlaces {
    /// Adds a directory. Paths are real and absolute.
    #[must_use]
    pub fn with(mut self, role: DirectoryRole, path: &Path) -> Self {
        self.add(role, path);
        self
    }

    /// As [`Self::with`].
    pub fn add(&mut self, role: DirectoryRole, path: &Path) {
        self.directories.push(NamedDirectory { role, path: path.to_owned(), names: case_folded(path) });
    }

    /// Returns all of it as arguments, for the hidden sub-command.
    pub fn arguments(&self) -> impl Iterator<Item = OsString> + '_ {
        self.directories.iter().flat_map(|known| [known.role.flag().into(), known.path.clone().into()])
    }

    /// Returns the directories of a role.
    pub fn with_role(&self, role: DirectoryRole) -> impl Iterator<Item = &Path> {
        self.directories.iter().filter(move |known| known.role == role).map(|known| &*known.path)
    }

    /// Returns the role of a directory that follows this flag among the arguments.
    pub fn role_of(flag: &OsStr) -> Option<DirectoryRole> {
        DirectoryRole::ALL.into_iter().find(|role| role.flag() == flag)
    }

    /// Returns what a path is, in a few words, when a change of it is always asked about.
    pub fn what(&self, path: &Path) -> Option<&'static str> {
        let names = case_folded(path);
        let below = self.below(&names);
        let in_version_control = || names.iter().find_map(|name| deep(name)).or_else(|| bare(&names, below));
        self.fixed(&names, below).or_else(|| hook(&names, below)).or_else(in_version_control).or_else(|| {
            let is_in_repository = self.repositories(&names).next().is_some();
            named(&names, below).or(is_in_repository.then_some(GIT_DATA))
        })
    }

    /// As [`Self::what`], of a path that is written while these are written too: also what makes, or is, a part of a
    /// repository without a `.git`. Looks at the disk.
    pub fn what_with(&self, path: &Path, planned: &[PathBuf]) -> Option<&'static str> {
        let is_part = || repository::is_part_of_one(path, planned).then_some(repository::PART);
        self.what(path).or_else(is_part)
    }

    /// Tells whether a path is a part of a repository without a `.git`, or makes one. Looks at the disk.
    pub fn is_part(path: &Path) -> bool {
        repository::is_part_of_one(path, std::slice::from_ref(&path.to_owned()))
    }

    /// Returns the directories that could be repositories of which a path is a part, by its names.
    pub fn possible_repositories(path: &Path) -> impl Iterator<Item = &Path> {
        repository::parts(path).map(|(directory, _)| directory)
    }

    /// Tells whether a path could be a part of a repository, by its name.
    pub fn may_be_part(path: &Path) -> bool {
        repository::may_be_part(path)
    }

    /// Returns what a path is when no command may change it, whatever is there now. Where commands cannot write anyway,
    /// and where they may write anything, that is nothing.
    pub fn refuses(&self, path: &Path) -> Option<&'static str> {
        if self.is_free(path) {
            return None;
        }
        let names = case_folded(path);
        let below = self.below(&names);
        let is_written =
            self.within(&names, |role| role == DirectoryRole::Writable || role == DirectoryRole::Repository);
        if !is_written {
            return None;
        }
        self.fixed(&names, below)
            .or_else(|| hook(&names, below))
            .or_else(|| version_control::refuses(&names))
            .or_else(|| {
                let mut inside = names.iter().enumerate().skip(below).filter(|(_, name)| is_bare(name));
                let mut inside = inside.by_ref().filter_map(|(at, _)| names.get(at + 1..));
                // The directory itself can be made: it is none of a repository yet.
                inside.any(|rest| !rest.is_empty() && !version_control::git_writes(rest)).then_some(GIT_DATA)
            })
            .or_else(|| {
                let closed = self.repositories(&names).any(|rest| !version_control::git_writes(rest));
                closed.then_some(GIT_DATA)
            })
            .or_else(|| named(&names, below))
    }

    /// Decides about a change by a command. `exists` tells whether there is something at a path, which is asked only of
    /// names that a part of a repository has.
    pub fn decide(&self, change: NameChange<'_>, exists: &dyn Fn(&Path) -> bool) -> Decision {
        let refused = |path: &Path| self.refuses(path).or_else(|| self.refuses_part(path, exists));
        let either = |from: &Path, to: &Path| refused(from).or_else(|| refused(to));
        let in_git = |path: &Path| self.is_in_repository(path, exists);
        let is_index = |path: &Path| self.is_index(path, exists);
        let found = match change {
            NameChange::Write(path) => refused(path),
            NameChange::Fill(path) => refused(path).or_else(|| is_index(path).then_some(GIT_DATA)),
            // Git of the user would write where a link leads.
            NameChange::Special(path) => refused(path).or_else(|| in_git(path).then_some(GIT_DATA)),
            NameChange::HardLink(from, to) => {
                either(from, to).or_else(|| (is_index(from) || is_index(to)).then_some(GIT_DATA))
            }
            NameChange::Move(from, to, MovedKind::File) => match either(from, to) {
                None if is_index(to) => return Decision::OnlyChecked,
                found => found,
            },
            NameChange::Move(from, to, MovedKind::Special) => {
                either(from, to).or_else(|| in_git(to).then_some(GIT_DATA))
            }
            NameChange::Move(from, to, MovedKind::Directory) => {
                match either(from, to).or_else(|| (in_git(from) || in_git(to)).then_some(GIT_DATA)) {
                    None if self.is_only_copied(from, to) => return Decision::OnlyByCopy,
                    found => found,
                }
            }
        };
        found.map_or(Decision::Allowed, Decision::Refused)
    }

    /// Returns why a part of a repository without a `.git` may not be changed, or made: the one that completes it.
    fn refuses_part(&self, path: &Path, exists: &dyn Fn(&Path) -> bool) -> Option<&'static str> {
        if self.is_free(path) {
            return None;
        }
        let is_refused = repository::parts(path).any(|(directory, rest)| {
            let is_one = repository::is_one(directory, exists);
            let is_completed = || repository::is_one(directory, &|other| other == path || exists(other));
            if is_one {
                !version_control::git_writes(&case_folded(rest))
            } else {
                rest.components().count() == 1 && is_completed()
            }
        });
        is_refused.then_some(repository::PART)
    }

    fn is_index(&self, path: &Path, exists: &dyn Fn(&Path) -> bool) -> bool {
        let names = case_folded(path);
        let (below, is_inside) =
            (self.below(&names), |at: usize| names.get(at + 1..).is_some_and(version_control::is_index));
        let is_git = |(at, name): (usize, &String)| matches!(&**name, ".git" | "git~1") || at >= below && is_bare(name);
        let by_name = names.iter().enumerate().filter(|named| is_git(*named)).any(|(at, _)| is_inside(at));
        let is_part = || {
            repository::parts(path).any(|(directory, rest)| {
                version_control::is_index(&case_folded(rest)) && repository::is_one(directory, exists)
            })
        };
        !self.is_free(path) && (by_name || self.repositories(&names).any(version_control::is_index) || is_part())
    }

    fn is_in_repository(&self, path: &Path, exists: &dyn Fn(&Path) -> bool) -> bool {
        let names = case_folded(path);
        let is_named = names.iter().any(|name| deep(name).is_some()) || bare(&names, self.below(&names)).is_some();
        let is_part = || repository::parts(path).any(|(directory, _)| repository::is_one(directory, exists));
        !self.is_free(path) && (is_named || self.repositories(&names).next().is_some() || is_part())
    }

    /// Tells whether a directory could bring, or take away, what is closed by its name and that of the directory.
    fn is_only_copied(&self, from: &Path, to: &Path) -> bool {
        let ground = |path: &Path| {
            let written = |role| matches!(role, DirectoryRole::Writable | DirectoryRole::Free);
            let around = self.directories.iter().filter(|known| written(known.role) && path.starts_with(&known.path));
            around.max_by_key(|known| known.names.len())
        };
        let is_first = |path: &Path| {
            let name = path.file_name().map(|name| fold_case(&name.to_string_lossy()));
            name.is_some_and(|name| name == "hooks" || is_bare(&name) || lists_in(&name))
        };
        // What a package manager unpacked is protected once it lies elsewhere.
        let is_installed = |path: &Path| case_folded(path).iter().any(|name| DEPENDENCIES.contains(&name.as_str()));
        ground(from) != ground(to)
            || is_installed(from) != is_installed(to) && !self.is_free(to)
            || [from, to].into_iter().any(|path| !self.is_free(path) && is_first(path))
    }

    /// Returns what a path is by the directories that are known; or that it leads to one of these.
    fn fixed(&self, names: &[String], below: usize) -> Option<&'static str> {
        self.directories.iter().find_map(|known| {
            let inside = names.strip_prefix(known.names.as_slice());
            // Moved aside, another could be made in its place.
            let leads = names.len() > below.max(1) && below > 0 && known.names.starts_with(names);
            let is_worked_in = |deeper: &[String]| {
                self.roots().any(|root| root.names.len() >= deeper.len() && root.names.starts_with(deeper))
            };
            match known.role {
                DirectoryRole::Own if inside.is_some() => Some("this program's own configuration"),
                DirectoryRole::Own if leads => Some("where this program's own configuration is"),
                DirectoryRole::Settings => {
                    let is_above_work = self
                        .roots()
                        .any(|root| root.names.len() > known.names.len() && root.names.starts_with(&known.names));
                    let what = match inside {
                        Some(_) => Some("a configuration of other programs"),
                        None => leads.then_some("where configurations of other programs are"),
                    };
                    what.filter(|_| !is_above_work)
                }
                // A dot-file of the user's home is some program's configuration, unless the workspace itself is in it; a
                // repository there has a list of its own.
                DirectoryRole::Home => match inside {
                    Some([name, ..]) if name.starts_with('.') && name != ".git" => {
                        let deeper = names.get(..=known.names.len()).unwrap_or(names);
                        (!is_worked_in(deeper)).then_some("a configuration in the home directory")
                    }
                    Some([_, ..]) => None,
                    Some([]) | None => leads.then_some("where a home directory is"),
                },
                DirectoryRole::Named if is_worked_in(&known.names) => None,
                DirectoryRole::Named if inside.is_some() => Some("what settings of Git or links in your home lead to"),
                DirectoryRole::Named if leads => {
                    Some("where something is that settings of Git or links in your home lead to")
                }
                DirectoryRole::Own
                | DirectoryRole::Named
                | DirectoryRole::Writable
                | DirectoryRole::Free
                | DirectoryRole::Repository => None,
            }
        })
    }

    fn roots(&self) -> impl Iterator<Item = &NamedDirectory> {
        self.directories.iter().filter(|known| known.role == DirectoryRole::Writable)
    }

    /// Returns how many names of a path are those of the nearest writable directory; none where it is in no such.
    fn below(&self, names: &[String]) -> usize {
        let around = self.roots().filter(|root| names.starts_with(&root.names));
        around.map(|root| root.names.len()).max().unwrap_or(0)
    }

    /// Tells whether commands write at a path at all, where no view of the machine says so.
    pub fn are_written(&self, path: &Path) -> bool {
        let written = |role| matches!(role, DirectoryRole::Writable | DirectoryRole::Free | DirectoryRole::Repository);
        self.directories.iter().any(|known| written(known.role) && path.starts_with(&known.path))
    }

    fn within(&self, names: &[String], is_meant: impl Fn(DirectoryRole) -> bool) -> bool {
        self.directories.iter().any(|known| is_meant(known.role) && names.starts_with(&known.names))
    }

    /// Tells whether commands may write anything at a path: the nearest directory that is known says so.
    pub fn is_free(&self, path: &Path) -> bool {
        let written = |role| matches!(role, DirectoryRole::Writable | DirectoryRole::Free | DirectoryRole::Repository);
        let around = self.directories.iter().filter(|known| written(known.role) && path.starts_with(&known.path));
        around.max_by_key(|known| known.names.len()).is_some_and(|known| known.role == DirectoryRole::Free)
    }

    /// Returns what is left of a path in each repository that is known and holds it.
    fn repositories<'n>(&self, names: &'n [String]) -> impl Iterator<Item = &'n [String]> {
        let known = self.directories.iter().filter(|known| known.role == DirectoryRole::Repository);
        known.filter_map(|known| names.strip_prefix(known.names.as_slice()))
    }
}

fn deep(name: &str) -> Option<&'static str> {
    DEEP.iter().find(|(listed, _)| *listed == name).map(|(_, what)| *what)
}

/// A repository without a `.git` has it in its name.
fn is_bare(name: &str) -> bool {
    name.strip_suffix(".git").is_some_and(|bare| !bare.is_empty())
}

/// Returns what a path is that lies in a repository by the name of a directory.
fn bare(names: &[String], below: usize) -> Option<&'static str> {
    let directories = names.split_last().map_or(&[] as &[String], |(_, directories)| directories);
    directories.iter().skip(below).any(|name| is_bare(name)).then_some(GIT_DATA)
}

/// Returns the first names below the writable directory that do not lie in what a package manager has unpacked: nobody
/// works there, and what is there runs as it is.
fn of_the_project(names: &[String], below: usize) -> &[String] {
    let installed = names.iter().skip(below).position(|name| DEPENDENCIES.contains(&name.as_str()));
    installed.and_then(|at| names.get(..=below + at)).unwrap_or(names)
}

fn named(names: &[String], below: usize) -> Option<&'static str> {
    let is_whole = of_the_project(names, below).len() == names.len();
    let names = of_the_project(names, below);
    let paired = |pair: &[String]| match pair {
        [directory, name] => listed_in(Some(directory), name),
        _ => None,
    };
    let patterned = |name: &String| listed_in(None, name);
    let listed = || names.iter().skip(below).find_map(|name| listed(name));
    // The first of two may be that of the writable directory itself.
    let paired = || names.windows(2).skip(below.saturating_sub(1)).find_map(paired);
    listed().or_else(paired).or_else(|| names.last().filter(|_| is_whole && names.len() > below).and_then(patterned))
}

fn hook(names: &[String], below: usize) -> Option<&'static str> {
    let is_hook = |pair: &[String]| match pair {
        [directory, name] => directory == "hooks" && is_listed(GIT_HOOKS, name),
        _ => false,
    };
    of_the_project(names, below).windows(2).any(is_hook).then_some("a Git hook")
}

/// Tells whether a word is one of a list of words.
fn is_listed(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == word)
}

/// Returns the names of a path as the most forgiving file system compares them.
fn case_folded(path: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(fold_case(&name.to_string_lossy())),
            // As it would be resolved; a real path has none.
            Component::ParentDir => {
                names.pop();
            }
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    names
}

fn fold_case(name: &str) -> String {
    // A stream of a file is named behind a colon where there are such.
    let name = name.split_once(':').map_or(name, |(name, _)| if name.is_empty() { ":" } else { name });
    let wide = |c: char| match c {
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(c as u32 - 0xFEE0).unwrap_or(c),
        '\u{2024}' | '\u{3002}' | '\u{FE52}' => '.',
        c => c,
    };
    let visible = name.chars().filter(|c| !is_invisible(*c)).map(wide);
    let small: String = visible.flat_map(char::to_uppercase).collect::<String>().to_lowercase();
    let ends = |c: char| c == '.' || c.is_whitespace();
    let bare: Cow<'_, str> = match small.trim_end_matches(ends) {
        "" => Cow::Borrowed(small.as_str()),
        bare => Cow::Borrowed(bare),
    };
    bare.trim_start().to_owned()
}
