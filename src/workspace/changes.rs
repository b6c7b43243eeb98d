//! What the tools changed in the last turn that changed anything, and the way back (`/undo`).
//!
//! The writer of a workspace records here; the host marks the turns, shows and undoes. One entry per file: what it held
//! before the first change, or, when somebody else changed it in between, before the first change after that. What is
//! not as the tools left it is never touched, and neither are permissions, which no tool changes. Commands of `bash` are not recorded.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sha2::{Digest as _, Sha256};

use crate::limits;
use crate::protocol::{Undo, UndoneFile};
use crate::workspace::atomic::{self, Held, Unwritten};
use crate::workspace::beneath::Beneath;

/// Is the fingerprint of a content.
pub(super) type Hash = [u8; 32];

/// Returns the fingerprint of a content.
pub(super) fn hash(bytes: &[u8]) -> Hash {
    Sha256::digest(bytes).into()
}

/// Keeps what the files of the last turn held.
#[derive(Debug, Default)]
pub struct Changes {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// The turn that runs.
    turn: u64,
    /// The turn that the entries are of.
    changed_in: u64,
    /// The newest change last.
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    beneath: Arc<Beneath>,
    relative: PathBuf,
    shown: String,
    before: Before,
    after: Hash,
    size: u64,
    /// Directories made for it, the outermost first.
    made: Vec<PathBuf>,
}

#[derive(Debug)]
enum Before {
    Missing,
    Held(Arc<[u8]>),
    /// There was no room for it.
    Dropped,
}

/// Says whether a change can be taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undoable {
    /// It can.
    Yes,
    /// What the file holds is too much to be kept.
    TooMuch,
}

/// Is one change, for the record.
pub(super) struct Written<'a> {
    pub(super) beneath: &'a Arc<Beneath>,
    pub(super) relative: &'a Path,
    pub(super) shown: String,
    pub(super) before: Option<&'a Held>,
    pub(super) after: &'a [u8],
    pub(super) directories: Vec<PathBuf>,
}

impl Changes {
    /// Marks the start of a turn. What the last turn changed can be taken back until this one changes something.
    pub fn begin_turn(&self) {
        self.lock().turn += 1;
    }

    /// Says whether a change of a file that holds so many bytes can be taken back.
    pub fn room_for(&self, bytes: u64) -> Undoable {
        let inner = self.lock();
        let kept = if inner.changed_in == inner.turn { inner.kept() } else { 0 };
        if kept.saturating_add(bytes) <= limits::UNDO_BYTES { Undoable::Yes } else { Undoable::TooMuch }
    }

    /// Returns the files of the last turn that changed any, the newest change first, and what undo would do to them now.
    /// Looks at the files.
    pub fn last_turn(&self) -> Vec<UndoneFile> {
        let inner = self.lock();
        inner
            .entries
            .iter()
            .rev()
            .map(|entry| UndoneFile { path: entry.shown.clone(), undo: entry.forecast() })
            .collect()
    }

    /// Takes the changes of the last turn back, the newest first, and then removes the directories made for them that
    /// are empty. What cannot be taken back is said, and stays on record.
    pub fn undo_last(&self) -> Vec<UndoneFile> {
        let mut inner = self.lock();
        let mut report = Vec::new();
        let mut left = Vec::new();
        let mut made = Vec::new();
        while let Some(mut entry) = inner.entries.pop() {
            let undo = entry.undo();
            report.push(UndoneFile { path: entry.shown.clone(), undo: undo.clone() });
            if undo.is_done() {
                made.push((Arc::clone(&entry.beneath), std::mem::take(&mut entry.made)));
            } else {
                left.insert(0, entry);
            }
        }
        inner.entries = left;
        for (beneath, made) in made {
            beneath.unmake(&made);
        }
        report
    }

    /// Records a change that was made.
    pub(super) fn record(&self, change: Written<'_>) -> Undoable {
        let mut inner = self.lock();
        if inner.changed_in != inner.turn {
            inner.entries.clear();
            inner.changed_in = inner.turn;
        }
        let same = |entry: &Entry| entry.relative == change.relative && Arc::ptr_eq(&entry.beneath, change.beneath);
        let earlier = inner.entries.iter().position(same).map(|at| inner.entries.remove(at));
        let mut made = change.directories;
        let continued = earlier.and_then(|mut earlier| {
            let as_left = change.before.is_some_and(|held| hash(&held.bytes) == earlier.after);
            earlier.made.append(&mut made);
            made = std::mem::take(&mut earlier.made);
            as_left.then_some(earlier.before)
        });
        let room = limits::UNDO_BYTES.saturating_sub(inner.kept());
        let before = continued.unwrap_or_else(|| match change.before {
            None => Before::Missing,
            Some(held) if held.bytes.len() as u64 <= room => Before::Held(Arc::clone(&held.bytes)),
            Some(_) => Before::Dropped,
        });
        let undoable = match before {
            Before::Missing | Before::Held(_) => Undoable::Yes,
            Before::Dropped => Undoable::TooMuch,
        };
        inner.entries.push(Entry {
            beneath: Arc::clone(change.beneath),
            relative: change.relative.to_owned(),
            shown: change.shown,
            before,
            after: hash(change.after),
            size: change.after.len() as u64,
            made,
        });
        undoable
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Counts the bytes that are kept.
    fn kept(&self) -> u64 {
        let kept = |entry: &Entry| match &entry.before {
            Before::Held(bytes) => bytes.len() as u64,
            Before::Missing | Before::Dropped => 0,
        };
        self.entries.iter().map(kept).sum()
    }
}

impl Entry {
    /// Returns the file, when it is as the tools left it.
    fn as_left(&self) -> Option<Held> {
        let place = self.beneath.place(&self.relative).ok()?;
        let held = atomic::look(&place, self.size).ok()??;
        (hash(&held.bytes) == self.after).then_some(held)
    }

    fn forecast(&self) -> Undo {
        match &self.before {
            Before::Dropped => Undo::NotKept,
            _ if self.as_left().is_none() => Undo::ChangedSince,
            Before::Missing => Undo::Removed,
            Before::Held(bytes) => Undo::Restored { bytes: bytes.len() as u64 },
        }
    }

    fn undo(&self) -> Undo {
        let _alone = self.beneath.writing();
        let forecast = self.forecast();
        let (Some(now), true) = (self.as_left(), forecast.is_done()) else { return forecast };
        let done = self.beneath.place(&self.relative).map_err(Unwritten::from).and_then(|place| match &self.before {
            Before::Missing | Before::Dropped => atomic::remove(&place, &now.bytes),
            Before::Held(bytes) => atomic::replace(&place, Some(&now.bytes), bytes),
        });
        match done {
            Ok(()) => forecast,
            Err(Unwritten::Changed) => Undo::ChangedSince,
            Err(Unwritten::Io(error)) => Undo::Failed(error.to_string()),
        }
    }
}
