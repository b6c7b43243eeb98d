//! The changes of tools in the last turn with changes, and their undo (`/undo`).
//!
//! The writer of a workspace records here; the host marks the turns, shows and undoes. One entry per file: its content
//! before the first change, or, when another program changed it in between, before the first change after that. A file
//! that is not as the tools left it is never touched, and neither are permissions. Commands of `bash` are not recorded.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sha2::{Digest as _, Sha256};

use crate::limits;
use crate::protocol::{Undo, UndoneFile};
use crate::workspace::atomic::{self, FileSnapshot, WriteError};
use crate::workspace::beneath::Beneath;
use crate::workspace::rewind::RewindLog;

/// The SHA-256 hash of a content.
pub(super) type Hash = [u8; 32];

/// Returns the hash of a content.
pub(super) fn hash(bytes: &[u8]) -> Hash {
    Sha256::digest(bytes).into()
}

/// The changed files of the last turn, with their earlier content.
#[derive(Debug, Default)]
pub struct Changes {
    inner: Mutex<ChangeLog>,
}

#[derive(Debug, Default)]
struct ChangeLog {
    /// The running turn.
    turn: u64,
    /// The turn of the entries.
    changed_in: u64,
    /// The newest change last.
    entries: Vec<ChangedFile>,
    /// Every change of the session, and where each message entered.
    log: RewindLog,
}

#[derive(Debug, Clone)]
pub(super) struct ChangedFile {
    pub(super) beneath: Arc<Beneath>,
    pub(super) relative: PathBuf,
    pub(super) shown: String,
    pub(super) before: EarlierContent,
    pub(super) after: Hash,
    pub(super) size: u64,
    /// Directories made for it, the outermost first.
    pub(super) made: Vec<PathBuf>,
}

#[derive(Debug, Clone)]
pub(super) enum EarlierContent {
    Missing,
    Held(Arc<[u8]>),
    /// The content was too large to be kept.
    Dropped,
}

/// Whether a change can be undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undoable {
    /// It can be.
    Yes,
    /// The content of the file is too large to be kept.
    TooMuch,
}

/// One change, for the record.
pub(super) struct Written<'a> {
    pub(super) beneath: &'a Arc<Beneath>,
    pub(super) relative: &'a Path,
    pub(super) shown: String,
    pub(super) before: Option<&'a FileSnapshot>,
    pub(super) after: &'a [u8],
    pub(super) directories: Vec<PathBuf>,
}

impl Changes {
    /// Marks the start of a turn. The changes of the last turn can be undone until this one changes something.
    pub fn begin_turn(&self) {
        self.lock().turn += 1;
    }

    /// Returns whether a change of a file of this many bytes can be undone.
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

    /// Marks where a message entered.
    pub fn mark(&self, message: &str) {
        self.lock().log.mark(message);
    }

    /// Returns the files that were changed since a message, the newest change first, and what undo would do to them now.
    /// Looks at the files.
    pub fn since(&self, message: &str) -> Vec<UndoneFile> {
        let changed = self.lock().log.since(message);
        changed.iter().rev().map(|entry| UndoneFile { path: entry.shown.clone(), undo: entry.forecast() }).collect()
    }

    /// Takes back what was changed since a message, the newest first, as [`Changes::undo_last`] does.
    pub fn undo_since(&self, message: &str) -> Vec<UndoneFile> {
        let mut inner = self.lock();
        let mut changed = inner.log.since(message);
        inner.log.forget(message);
        inner.entries.clear();
        let mut report = Vec::new();
        for entry in changed.iter().rev() {
            report.push(UndoneFile { path: entry.shown.clone(), undo: entry.undo() });
        }
        for (entry, done) in changed.iter_mut().rev().zip(&report) {
            if done.undo.is_done() {
                entry.beneath.unmake(&std::mem::take(&mut entry.made));
            }
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
        inner.log.record(&change);
        let same =
            |entry: &ChangedFile| entry.relative == change.relative && Arc::ptr_eq(&entry.beneath, change.beneath);
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
            None => EarlierContent::Missing,
            Some(held) if held.bytes.len() as u64 <= room => EarlierContent::Held(Arc::clone(&held.bytes)),
            Some(_) => EarlierContent::Dropped,
        });
        let undoable = match before {
            EarlierContent::Missing | EarlierContent::Held(_) => Undoable::Yes,
            EarlierContent::Dropped => Undoable::TooMuch,
        };
        inner.entries.push(ChangedFile {
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

    fn lock(&self) -> MutexGuard<'_, ChangeLog> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChangeLog {
    /// Returns the bytes that are kept.
    fn kept(&self) -> u64 {
        let kept = |entry: &ChangedFile| match &entry.before {
            EarlierContent::Held(bytes) => bytes.len() as u64,
            EarlierContent::Missing | EarlierContent::Dropped => 0,
        };
        self.entries.iter().map(kept).sum()
    }
}

impl ChangedFile {
    /// Returns the file, when it is as the tools left it.
    fn as_left(&self) -> Option<FileSnapshot> {
        let place = self.beneath.place(&self.relative).ok()?;
        let held = atomic::look(&place, self.size).ok()??;
        (hash(&held.bytes) == self.after).then_some(held)
    }

    fn forecast(&self) -> Undo {
        match &self.before {
            EarlierContent::Dropped => Undo::NotKept,
            _ if self.as_left().is_none() => Undo::ChangedSince,
            EarlierContent::Missing => Undo::Removed,
            EarlierContent::Held(bytes) => Undo::Restored { bytes: bytes.len() as u64 },
        }
    }

    fn undo(&self) -> Undo {
        let _alone = self.beneath.writing();
        let forecast = self.forecast();
        let (Some(now), true) = (self.as_left(), forecast.is_done()) else { return forecast };
        let done = self.beneath.place(&self.relative).map_err(WriteError::from).and_then(|place| match &self.before {
            EarlierContent::Missing | EarlierContent::Dropped => atomic::remove(&place, &now.bytes),
            EarlierContent::Held(bytes) => atomic::replace(&place, Some(&now.bytes), bytes),
        });
        match done {
            Ok(()) => forecast,
            Err(WriteError::Changed) => Undo::ChangedSince,
            Err(WriteError::Io(error)) => Undo::Failed(error.to_string()),
        }
    }
}
