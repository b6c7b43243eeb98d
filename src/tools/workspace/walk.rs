//! The walk over a tree of files that the searching tools and the list behind `@` share.
//!
//! Sorted, with hidden files, without `.git` and ignored files. It goes through open directories, so that no swap
//! of a directory for a link leads elsewhere, and follows no link. Entries, time, memory and the rules that it
//! reads are bounded.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, Dir, FileType};

use crate::workspace::beneath::Beneath;
use crate::workspace::ignore_rules::IgnoreRules;
use crate::workspace::{Workspace, real_directory};
use steersman_base::limits;
use steersman_base::regular_file::{self, Links};

/// How many files of unused rules are remembered.
const UNUSED_RULES: usize = 20;

/// The limits of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The entries that it visits, ignored ones included.
    pub entries: usize,
    /// The time that it may take.
    pub time: Duration,
}

/// The reason why a walk ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WalkEnd {
    /// It visited the most entries.
    Entries,
    /// Its time ran out.
    Time,
    /// The caller stopped it.
    Stopped,
}

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A link, a FIFO, a socket or a device.
    Other,
}

/// One entry below the start of a walk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The real path.
    pub path: PathBuf,
    /// What it is.
    pub kind: EntryKind,
    /// The number of directories between it and the start, plus one.
    pub depth: usize,
}

/// A walk in progress; yields a directory before its entries.
#[derive(Debug)]
pub struct Walk {
    beneath: Arc<Beneath>,
    /// The real path of the directory that is open.
    base: PathBuf,
    /// The directory that is walked now.
    at: PathBuf,
    /// What is left in it and in the directories above, which the walk has entered.
    levels: Vec<std::vec::IntoIter<(OsString, EntryKind)>>,
    /// The directory that was yielded last and is entered next; first of all the start.
    next: Option<OsString>,
    rules: IgnoreRules,
    unused: Vec<PathBuf>,
    bounds: Bounds,
    started: Instant,
    visited: usize,
    /// Names that are held in `levels`.
    held: usize,
    end: Option<WalkEnd>,
}

impl Workspace {
    /// Starts a walk over what lies below a real directory.
    ///
    /// # Errors
    /// That of the file system, also when the directory does not lie where reading is allowed.
    pub fn walk(&self, start: &Path, bounds: Bounds) -> io::Result<Walk> {
        let (base, _, beneath) = self.readable_part(start)?;
        Ok(Walk::new(Arc::clone(beneath), base, start, bounds))
    }
}

impl Walk {
    /// Starts a walk over what lies below a directory that is no workspace.
    ///
    /// # Errors
    /// That of the file system.
    pub fn below(directory: &Path, bounds: Bounds) -> io::Result<Self> {
        let (real, beneath) = real_directory(directory)?;
        Ok(Self::new(beneath, &real, &real, bounds))
    }

    fn new(beneath: Arc<Beneath>, base: &Path, start: &Path, bounds: Bounds) -> Self {
        let mut walk = Self {
            beneath,
            base: base.to_owned(),
            at: start.to_owned(),
            levels: Vec::new(),
            next: Some(OsString::new()),
            rules: IgnoreRules::default(),
            unused: Vec::new(),
            bounds,
            started: Instant::now(),
            visited: 0,
            held: 0,
            end: None,
        };
        let above: Vec<&Path> = start.ancestors().skip(1).collect();
        for directory in above.into_iter().rev() {
            walk.enter_rules(directory, None);
        }
        walk
    }

    /// Returns the next entry; `None` at the end. What cannot be read is passed over. `stop` is asked again and again.
    pub fn next(&mut self, stop: impl Fn() -> bool) -> Option<Entry> {
        if let Some(directory) = self.next.take() {
            self.enter(&directory, &stop);
        }
        loop {
            if self.is_over(&stop) {
                return None;
            }
            let level = self.levels.last_mut()?;
            let Some((name, kind)) = level.next() else {
                self.levels.pop();
                self.rules.leave(&self.at);
                self.at.pop();
                continue;
            };
            self.held -= 1;
            if self.visited == self.bounds.entries {
                self.end = Some(WalkEnd::Entries);
                return None;
            }
            self.visited += 1;
            let path = self.at.join(&name);
            if self.rules.ignores(&path, kind == EntryKind::Directory) {
                continue;
            }
            if kind == EntryKind::Directory && path.as_os_str().len() < limits::WALK_PATH_BYTES {
                self.next = Some(name);
            }
            return Some(Entry { path, kind, depth: self.levels.len() });
        }
    }

    /// Returns why the walk ended early.
    pub fn end(&self) -> Option<WalkEnd> {
        self.end
    }

    /// Returns the files whose ignore rules were not used: no regular files, or too many rules.
    pub fn unused_rules(&self) -> &[PathBuf] {
        &self.unused
    }

    fn is_over(&mut self, stop: impl Fn() -> bool) -> bool {
        if self.end.is_none() && stop() {
            self.end = Some(WalkEnd::Stopped);
        }
        if self.end.is_none() && self.started.elapsed() >= self.bounds.time {
            self.end = Some(WalkEnd::Time);
        }
        self.end.is_some_and(|end| end != WalkEnd::Entries)
    }

    /// Goes into a directory: reads its names and its rules.
    fn enter(&mut self, name: &OsStr, stop: impl Fn() -> bool) {
        if !name.is_empty() {
            self.at.push(name);
        }
        let directory = self.at.clone();
        let relative = directory.strip_prefix(&self.base).unwrap_or(Path::new(""));
        let opened = self.beneath.directory(relative);
        let mut names = opened.and_then(|opened| self.list(opened, stop)).unwrap_or_default();
        names.sort_unstable();
        self.enter_rules(&directory, Some(&names));
        names.retain(|(name, _)| name != ".git");
        self.held += names.len();
        self.levels.push(names.into_iter());
    }

    /// Reads the names of a directory, as many as may be held.
    fn list(&mut self, directory: OwnedFd, stop: impl Fn() -> bool) -> io::Result<Vec<(OsString, EntryKind)>> {
        let mut names = Vec::new();
        let mut directory = Dir::new(directory)?;
        while let Some(Ok(entry)) = directory.read() {
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            if self.is_over(&stop) {
                break;
            }
            if self.held + names.len() >= self.bounds.entries {
                self.end = Some(WalkEnd::Entries);
                break;
            }
            let kind = match entry.file_type() {
                // Not every file system tells.
                FileType::Unknown => directory
                    .fd()
                    .and_then(|fd| rustix::fs::statat(fd, name, AtFlags::SYMLINK_NOFOLLOW))
                    .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
                kind => kind,
            };
            let kind = match kind {
                FileType::RegularFile => EntryKind::File,
                FileType::Directory => EntryKind::Directory,
                _ => EntryKind::Other,
            };
            names.push((name.to_owned(), kind));
        }
        Ok(names)
    }

    /// Reads the rules of a directory; of one whose names are known only those that it has.
    fn enter_rules(&mut self, directory: &Path, names: Option<&[(OsString, EntryKind)]>) {
        let Self { beneath, base, rules, unused, .. } = self;
        let read = |name: &str, most| {
            let first = Path::new(name).iter().next().unwrap_or_default();
            if names.is_some_and(|names| names.binary_search_by(|(name, _)| (**name).cmp(first)).is_err()) {
                return Err(io::ErrorKind::NotFound.into());
            }
            let path = directory.join(name);
            let (file, metadata) = match path.strip_prefix(base.as_path()) {
                Ok(relative) => beneath.open_file(relative)?,
                // What cannot be looked at above the tree is not there.
                Err(_) => regular_file::open(&path, Links::Refused).map_err(|error| match error.kind() {
                    io::ErrorKind::PermissionDenied => io::ErrorKind::NotFound.into(),
                    _ => error,
                })?,
            };
            regular_file::read_whole(file, metadata.len(), most)
        };
        rules.enter(directory, read, |file| {
            if unused.len() < UNUSED_RULES {
                unused.push(file);
            }
        });
    }
}
