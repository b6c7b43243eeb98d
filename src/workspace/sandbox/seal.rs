//! What a job must not leave behind in a workspace: changed hooks, another configuration of git or of this program.
//!
//! Noted before a job and looked at when it has ended, where the sandbox cannot keep it from changing. What was changed
//! is put back and the change set aside, in words for the model and the user.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::limits;
use crate::text::visible_line;
use crate::workspace::sandbox::places::{self, Worktree};

/// Files whose text instructs agents or starts programs; a job may change them, and that is said.
const TOLD: [&str; 6] = ["AGENTS.md", "CLAUDE.md", ".mcp.json", ".envrc", ".vscode", ".husky"];

/// Directories of git that hold no settings, and much else.
const PASSED_OVER: [&str; 3] = ["objects", "logs", "lfs"];

/// Holds how things were before a job.
#[derive(Debug, Default)]
pub struct Seal {
    sealed: Vec<(PathBuf, Held)>,
    told: Vec<(PathBuf, Held)>,
    /// Directories that must still be what they were, for what is put back into them.
    parents: Vec<PathBuf>,
}

/// Is what was at a place.
#[derive(Debug, Clone, PartialEq)]
enum Held {
    Nothing,
    File(Vec<u8>, Permissions),
    Link(PathBuf),
    Directory(BTreeMap<OsString, Held>),
    /// Too much to keep, or not to be read: told by its size and age.
    Unkept(u64, Option<SystemTime>),
}

/// Is how much may still be kept.
struct Room {
    bytes: u64,
    entries: usize,
}

impl Room {
    fn new() -> Self {
        Self { bytes: limits::SEAL_BYTES, entries: limits::SEAL_ENTRIES }
    }
}

impl Seal {
    /// Notes the sealed places that are not there.
    pub(super) fn of_missing(roots: &[PathBuf]) -> Self {
        let mut seal = Self::of(roots, |path, _| match path.symlink_metadata() {
            Ok(_) => None,
            Err(_) => Some(Held::Nothing),
        });
        // Of a mount of its own.
        seal.parents.clear();
        seal
    }

    /// Notes every sealed place.
    pub(super) fn of_all(roots: &[PathBuf]) -> Self {
        Self::of(roots, |path, room| Some(Held::of(path, room)))
    }

    fn of(roots: &[PathBuf], note: impl Fn(&Path, &mut Room) -> Option<Held>) -> Self {
        let mut seal = Self::default();
        for root in roots.iter().filter(|root| root.is_dir()) {
            let mut room = Room::new();
            for path in places::sealed(root, roots) {
                if let Some(held) = note(&path, &mut room) {
                    seal.sealed.push((path, held));
                }
            }
            for path in TOLD.iter().map(|name| root.join(name)) {
                let held = Held::of(&path, &mut room);
                seal.told.push((path, held));
            }
            let git = root.join(".git");
            let git =
                if is_directory(&git) { Some(git) } else { Worktree::of(root, roots).map(|tree| tree.repository) };
            seal.parents.extend(git);
        }
        seal
    }

    /// Looks at the places again, puts back what was changed, and says so, one sentence each. Blocks.
    pub fn check(self) -> Vec<String> {
        let mut sentences = Vec::new();
        let replaced: Vec<&PathBuf> = self.parents.iter().filter(|path| !is_directory(path)).collect();
        for path in &replaced {
            sentences.push(format!("[the command replaced {}; look at it before you use git here]", shown(path)));
        }
        for (path, before) in &self.sealed {
            // What is written there now would land elsewhere.
            if !replaced.iter().any(|parent| path.starts_with(parent)) {
                restore(path, before, &mut sentences);
            }
        }
        for (path, before) in &self.told {
            if Held::of(path, &mut Room::new()) != *before {
                sentences.push(format!("[the command changed {}]", shown(path)));
            }
        }
        sentences
    }
}

impl Held {
    fn of(path: &Path, room: &mut Room) -> Self {
        let Ok(found) = path.symlink_metadata() else { return Self::Nothing };
        let unkept = Self::Unkept(found.len(), found.modified().ok());
        let Some(entries) = room.entries.checked_sub(1) else { return unkept };
        room.entries = entries;
        if found.is_symlink() {
            return path.read_link().map_or(unkept, Self::Link);
        }
        if found.is_file() {
            let Some(bytes) = room.bytes.checked_sub(found.len()) else { return unkept };
            room.bytes = bytes;
            return fs::read(path).map_or(unkept, |bytes| Self::File(bytes, found.permissions()));
        }
        if found.is_dir() {
            let Ok(entries) = fs::read_dir(path) else { return unkept };
            let entries = entries.flatten().map(|entry| entry.file_name());
            let entries = entries.filter(|name| !PASSED_OVER.iter().any(|passed| name == passed));
            return Self::Directory(entries.map(|name| (name.clone(), Self::of(&path.join(name), room))).collect());
        }
        unkept
    }

    fn write(&self, path: &Path) -> io::Result<()> {
        match self {
            Self::Nothing => Ok(()),
            Self::File(bytes, permissions) => {
                fs::write(path, bytes)?;
                fs::set_permissions(path, permissions.clone())
            }
            Self::Link(target) => std::os::unix::fs::symlink(target, path),
            Self::Directory(entries) => {
                fs::create_dir(path)?;
                entries.iter().try_for_each(|(name, held)| held.write(&path.join(name)))
            }
            Self::Unkept(..) => Err(io::Error::other("it was too large to be kept")),
        }
    }
}

/// Makes a place what it was, file by file.
fn restore(path: &Path, before: &Held, sentences: &mut Vec<String>) {
    let now = Held::of(path, &mut Room::new());
    if now == *before {
        return;
    }
    if let (Held::Directory(before), Held::Directory(now)) = (before, &now) {
        let names: BTreeSet<&OsString> = before.keys().chain(now.keys()).collect();
        for name in names {
            restore(&path.join(name), before.get(name).unwrap_or(&Held::Nothing), sentences);
        }
        return;
    }
    let place = shown(path);
    sentences.push(match put_back(path, before) {
        Ok(Some(aside)) => format!(
            "[the command changed {place}, which no command may: it is as it was, the change is in {}]",
            shown(&aside),
        ),
        Ok(None) => format!("[the command removed {place}, which no command may: it is as it was]"),
        Err(error) => {
            format!("[the command changed {place}, which no command may, and it could not be put back: {error}]")
        }
    });
}

/// Moves what is there aside and writes what was there; returns where the former is now.
fn put_back(path: &Path, before: &Held) -> io::Result<Option<PathBuf>> {
    let mut aside = None;
    if path.symlink_metadata().is_ok() {
        let place = free_name(path);
        fs::rename(path, &place)?;
        aside = Some(place);
    }
    before.write(path)?;
    Ok(aside)
}

fn free_name(path: &Path) -> PathBuf {
    let ending = |end: &str| {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(end);
        path.with_file_name(name)
    };
    let numbered = (2..).map(|number| ending(&format!(".refused-{number}")));
    let mut names = std::iter::once(ending(".refused")).chain(numbered);
    names.find(|name| name.symlink_metadata().is_err()).unwrap_or_else(|| ending(".refused"))
}

fn is_directory(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir())
}

fn shown(path: &Path) -> String {
    visible_line(&path.to_string_lossy()).into_owned()
}
