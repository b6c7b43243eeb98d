//! The snapshot on disk while commands run, so that the end of this program does not leave their changes behind.
//!
//! One file per program and workspace in the state directory, 0600, with a lock beside it that the living owner
//! holds. At the next start [`recover`] compares what a dead owner left before any command may run.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::Pid;
use serde::{Deserialize, Serialize};

use crate::limits;
use crate::workspace::read_head;
use crate::workspace::snapshot::Snapshot;
use crate::workspace::snapshot::content::PathContent;
use crate::workspace::snapshot::find::ProtectionReason;
use crate::workspace::snapshot::grounds::WritableDirectories;
use crate::workspace::snapshot::protection::{OpenSnapshot, OtherCommands};
use crate::workspace::snapshot::question::{Ask, Cover, shown};
use crate::workspace::snapshot::survivors::{self, Certainty};

/// A journal that is open, with its lock. It stays on disk until it is removed.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    /// Names the commands.
    pub(super) mark: String,
    _lock: File,
}

impl Journal {
    /// Makes one in a state directory; nothing is written yet but its lock.
    pub(super) fn new(state: &Path) -> io::Result<Self> {
        let directory = directory(state);
        DirBuilder::new().recursive(true).mode(0o700).create(&directory)?;
        let mut number = [0; 16];
        getrandom::fill(&mut number).map_err(|error| io::Error::other(error.to_string()))?;
        let mark = format!("{:032x}", u128::from_le_bytes(number));
        let path = directory.join(format!("{}-{mark}.json", std::process::id()));
        let lock = open_lock(&path)?;
        lock.try_lock()?;
        Ok(Self { path, mark, _lock: lock })
    }

    /// Writes a snapshot, whole or not at all.
    pub(super) async fn write(&self, snapshot: &Arc<Snapshot>, cover: Cover) -> io::Result<()> {
        let (path, mark, snapshot) = (self.path.clone(), self.mark.clone(), Arc::clone(snapshot));
        let written = tokio::task::spawn_blocking(move || {
            let text = serde_json::to_vec(&JournalData::of(&snapshot, cover, &mark))?;
            let within = path.parent().unwrap_or(Path::new("."));
            let mut file = tempfile::Builder::new().prefix(".commands").tempfile_in(within)?;
            file.write_all(&text)?;
            file.as_file().sync_all()?;
            file.persist(&path).map_err(|error| error.error)?;
            // The name itself must be on disk too.
            File::open(within)?.sync_all()
        });
        written.await.map_err(io::Error::other)?
    }

    /// Removes it: everything is decided.
    pub(super) fn remove(self) {
        let _ = fs::remove_file(&self.path);
        let _ = fs::remove_file(lock_of(&self.path));
    }
}

/// The result of recovering what earlier programs left.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Journals whose owner is gone.
    pub found: usize,
    /// Sentences for the user.
    pub notes: Vec<String>,
    /// Journals that are still undecided: no command may run.
    pub open: usize,
}

/// Compares what dead owners left for a workspace, and asks. To be called before any command runs.
pub async fn recover(state: &Path, root: &Path, ask: &Ask<'_>) -> Recovery {
    let mut recovery = Recovery::default();
    let (state, root) = (state.to_owned(), root.canonicalize().unwrap_or_else(|_| root.to_owned()));
    let left = {
        let state = state.clone();
        tokio::task::spawn_blocking(move || stale(&state, &root)).await.unwrap_or_default()
    };
    for left in left {
        recovery.found += 1;
        match left {
            LeftJournal::OpenSnapshot(mut open, notes) => {
                recovery.notes.extend(notes);
                recovery.notes.extend(open.resolve(Some(&state), OtherCommands::None, ask).await);
                if open.is_decided {
                    open.close();
                } else {
                    recovery.open += 1;
                }
            }
            LeftJournal::Unreadable(path) => recovery.notes.push(format!(
                "{} cannot be read: look at .git/config and .git/hooks before you use git here",
                shown(&path)
            )),
            LeftJournal::Replaced(path) => recovery.notes.push(format!(
                "an earlier command was not looked at to its end, but {} is another directory now",
                shown(&path)
            )),
        }
    }
    recovery
}

/// A journal of a dead owner.
enum LeftJournal {
    /// With what is said of what it left half done.
    OpenSnapshot(Box<OpenSnapshot>, Vec<String>),
    /// Set aside.
    Unreadable(PathBuf),
    /// The workspace is another.
    Replaced(PathBuf),
}

fn stale(state: &Path, root: &Path) -> Vec<LeftJournal> {
    let entries = fs::read_dir(directory(state)).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    paths.sort();
    paths.iter().filter_map(|path| one(path, state, root)).collect()
}

fn one(path: &Path, state: &Path, root: &Path) -> Option<LeftJournal> {
    // In a state directory that cannot be written it is still compared.
    let lock = open_lock(path).or_else(|_| File::open(lock_of(path))).ok()?;
    // A living owner has it; of a dead one a process may for a moment, that was just being started.
    let mut looks = 0..limits::SNAPSHOT_LOCK_LOOKS;
    while lock.try_lock().is_err() {
        if is_owner_alive(path) {
            return None;
        }
        looks.next()?;
        std::thread::sleep(Duration::from_millis(10));
    }
    let head = read_head(path, limits::SNAPSHOT_JOURNAL_BYTES).ok()?;
    let Ok(stored) = serde_json::from_slice::<JournalData>(&head.bytes) else {
        let aside = path.with_extension("unreadable");
        let _ = fs::rename(path, &aside);
        let _ = fs::remove_file(lock_of(path));
        return Some(LeftJournal::Unreadable(aside));
    };
    let concerns = |walked: &PathBytes| {
        let walked = walked.path();
        walked.starts_with(root) || root.starts_with(&walked)
    };
    if !stored.walked.iter().any(concerns) {
        return None;
    }
    survivors::kill(&stored.mark, Certainty::Lasting);
    let journal = Journal { path: path.to_owned(), mark: stored.mark.clone(), _lock: lock };
    let cover = stored.cover;
    match stored.snapshot() {
        Ok(snapshot) => {
            let open = Box::new(OpenSnapshot::new(snapshot, Some(journal), cover));
            let notes = open.sweep(state);
            Some(LeftJournal::OpenSnapshot(open, notes))
        }
        Err(replaced) => {
            journal.remove();
            Some(LeftJournal::Replaced(replaced))
        }
    }
}

/// Returns whether there is a process of the number in the name of a journal.
fn is_owner_alive(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let pid = name.split_once('-').and_then(|(pid, _)| pid.parse().ok()).and_then(Pid::from_raw);
    // Also one that somebody else owns is there.
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(Errno::SRCH))
}

fn directory(state: &Path) -> PathBuf {
    state.join("commands")
}

fn lock_of(path: &Path) -> PathBuf {
    path.with_extension("lock")
}

fn open_lock(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(lock_of(path))
}

/// A path, written as base64: it need not be UTF-8.
#[derive(Serialize, Deserialize)]
struct PathBytes(#[serde(with = "base64_text")] Vec<u8>);

impl PathBytes {
    fn of(path: &Path) -> Self {
        Self(path.as_os_str().as_bytes().to_vec())
    }

    fn path(&self) -> PathBuf {
        PathBuf::from(std::ffi::OsString::from_vec(self.0.clone()))
    }
}

/// Writes bytes as base64, for they need not be text.
pub(super) mod base64_text {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(in crate::workspace::snapshot) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&STANDARD.encode(bytes))
    }

    pub(in crate::workspace::snapshot) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        STANDARD.decode(String::deserialize(from)?).map_err(serde::de::Error::custom)
    }
}

#[derive(Serialize, Deserialize)]
struct JournalData {
    mark: String,
    cover: Cover,
    grounds: Vec<(PathBytes, u64)>,
    walked: Vec<PathBytes>,
    home: Option<PathBytes>,
    entries: Vec<(PathBytes, ProtectionReason, PathContent)>,
    repositories: Vec<(PathBytes, u64)>,
    unknown: Vec<PathBytes>,
    read_only: Vec<PathBytes>,
    ways: Vec<(PathBytes, u64)>,
}

impl JournalData {
    fn of(snapshot: &Snapshot, cover: Cover, mark: &str) -> Self {
        let numbered = |map: &std::collections::BTreeMap<PathBuf, u64>| {
            map.iter().map(|(path, number)| (PathBytes::of(path), *number)).collect()
        };
        let paths = |paths: &[PathBuf]| paths.iter().map(|path| PathBytes::of(path)).collect();
        let entries =
            snapshot.entries.iter().map(|(path, (watch, content))| (PathBytes::of(path), *watch, content.clone()));
        Self {
            mark: mark.to_owned(),
            cover,
            grounds: snapshot.grounds.iter().map(|ground| (PathBytes::of(&ground.path), ground.inode)).collect(),
            walked: paths(&snapshot.walked),
            home: snapshot.home.as_deref().map(PathBytes::of),
            entries: entries.collect(),
            repositories: numbered(&snapshot.repositories),
            unknown: paths(&snapshot.unknown),
            read_only: paths(&snapshot.read_only),
            ways: numbered(&snapshot.ways),
        }
    }

    /// Opens the directories again; fails with one that is another now.
    fn snapshot(self) -> Result<Snapshot, PathBuf> {
        let wanted: Vec<PathBuf> = self.grounds.iter().map(|(path, _)| path.path()).collect();
        let grounds = WritableDirectories::open(&wanted);
        for (path, inode) in &self.grounds {
            let path = path.path();
            if grounds.iter().any(|ground| ground.path == path && ground.inode != *inode) {
                return Err(path);
            }
        }
        let numbered = |list: Vec<(PathBytes, u64)>| list.iter().map(|(path, number)| (path.path(), *number)).collect();
        let paths = |list: Vec<PathBytes>| list.iter().map(PathBytes::path).collect();
        let entries = self.entries.into_iter().map(|(path, watch, content)| (path.path(), (watch, content)));
        Ok(Snapshot {
            grounds,
            walked: paths(self.walked),
            home: self.home.as_ref().map(PathBytes::path),
            entries: entries.collect(),
            repositories: numbered(self.repositories),
            unknown: paths(self.unknown),
            read_only: paths(self.read_only),
            ways: numbered(self.ways),
        })
    }
}
