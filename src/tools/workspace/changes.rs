//! The changes of tools, and their undo: of the last turn that made any (`/undo`), of a turn, of a file (`/diff`).
//!
//! The writer of a workspace records here; the host marks the turns, shows and undoes. One entry per file: its content
//! before the first change, or, when another program changed it in between, before the first change after that. A file
//! that is not as the tools left it is never touched, and neither are permissions. Commands of `bash` are not recorded.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use sha2::{Digest as _, Sha256};

use crate::workspace::atomic::{self, FileSnapshot, Names, WriteError};
use crate::workspace::beneath::Beneath;
use crate::workspace::diff::{diff, file_diff};
use crate::workspace::rewind::RewindLog;
use steersman_base::details::FileDiff;
use steersman_base::limits;
use steersman_base::protocol::{Undo, UndoScope, UndoneFile};
use steersman_base::sync::lock;
use steersman_base::text::visible_line;

/// The SHA-256 hash of a content.
pub(super) type Hash = [u8; 32];

pub(super) fn hash(bytes: &[u8]) -> Hash {
    Sha256::digest(bytes).into()
}

/// The changed files of the last turn, with their earlier content.
#[derive(Default)]
pub struct Changes {
    inner: Mutex<ChangeLog>,
    undone: OnceLock<Box<OnUndone>>,
}

type OnUndone = dyn Fn(Option<u32>, &[UndoneFile]) + Send + Sync;

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

#[derive(Debug, Default)]
struct ChangeLog {
    /// The number of the running turn.
    turn: u32,
    /// The turn of the entries.
    changed_in: u32,
    /// The newest change last.
    entries: Vec<ChangedFile>,
    /// Every change of the session, and where each message entered.
    log: RewindLog,
    /// What was undone and the model does not know, a clause for each file.
    unreported: Vec<String>,
}

#[derive(Debug, Clone)]
pub(super) struct ChangedFile {
    pub(super) beneath: Arc<Beneath>,
    pub(super) relative: PathBuf,
    pub(super) shown: String,
    pub(super) before: EarlierContent,
    pub(super) after: Hash,
    pub(super) size: u64,
    pub(super) names: Names,
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
    pub(super) names: Names,
    pub(super) directories: Vec<PathBuf>,
}

impl Changes {
    /// Marks the start of the turn of this number. The changes of the last turn can be undone until this one changes
    /// something.
    pub fn begin_turn(&self, number: u32) {
        lock(&self.inner).turn = number;
    }

    /// Sets what is called after each undo, with the turn and what was done about each file; the first one stays.
    pub fn on_undone(&self, listener: impl Fn(Option<u32>, &[UndoneFile]) + Send + Sync + 'static) {
        let _ = self.undone.set(Box::new(listener));
    }

    /// Notes an undo that the model is to be told of: the turn whose changes were undone, or `None` for all of a file.
    pub fn note_undone(&self, turn: Option<u32>, files: &[UndoneFile]) {
        let since = turn.map_or_else(|| "its first change".to_owned(), |turn| format!("turn {turn}"));
        let undone = files.iter().filter(|file| file.undo.is_done());
        lock(&self.inner).unreported.extend(undone.map(|file| format!("{} is as it was before {since}", file.path)));
    }

    /// Takes what the model is to be told of undos since it was last told; `None` when there was none.
    pub fn take_note(&self) -> Option<String> {
        let undone = std::mem::take(&mut lock(&self.inner).unreported);
        (!undone.is_empty()).then(|| {
            format!(
                "The user took back what tools had changed: {}. Read these files again before you rely on them.",
                undone.join("; ")
            )
        })
    }

    /// Returns whether a change of a file of this many bytes can be undone.
    pub fn room_for(&self, bytes: u64) -> Undoable {
        let inner = lock(&self.inner);
        let kept = if inner.changed_in == inner.turn { inner.kept() } else { 0 };
        if kept.saturating_add(bytes) <= limits::UNDO_BYTES { Undoable::Yes } else { Undoable::TooMuch }
    }

    /// Returns the files that an undo is about, the newest change first, and what it would do to them now. Looks at the
    /// files.
    pub fn preview(&self, scope: &UndoScope) -> Vec<UndoneFile> {
        let changed = lock(&self.inner).changed(scope);
        changed.iter().rev().map(|entry| UndoneFile { path: entry.shown.clone(), undo: entry.forecast() }).collect()
    }

    /// Compares every file that was changed with what it was before the first change, as far as that is kept. Files that
    /// are as they were are left out. Looks at the files.
    pub fn compare(&self) -> Vec<FileDiff> {
        let changed = lock(&self.inner).log.of(|_| true);
        changed.iter().rev().filter_map(ChangedFile::compare).collect()
    }

    /// Takes changes back, the newest first, and then removes the directories made for them that are empty. What cannot be
    /// taken back is said, and stays on record.
    pub fn undo(&self, scope: &UndoScope) -> Vec<UndoneFile> {
        let mut inner = lock(&self.inner);
        let mut changed = inner.changed(scope);
        let report = undo_all(&mut changed);
        let turn = match scope {
            UndoScope::LastTurn => Some(inner.changed_in),
            UndoScope::Turn(turn) => Some(*turn),
            UndoScope::File(_) => None,
        };
        let done = |path: &str| report.iter().any(|file| file.path == path && file.undo.is_done());
        let is_last = turn.is_none_or(|turn| turn == inner.changed_in);
        inner.entries.retain(|entry| !(is_last && done(&entry.shown)));
        inner.log.undone(turn, done);
        drop(inner);
        self.note_undone(turn, &report);
        if let Some(listener) = self.undone.get()
            && !report.is_empty()
        {
            listener(turn, &report);
        }
        report
    }

    /// Marks where a message entered.
    pub fn mark(&self, message: &str) {
        lock(&self.inner).log.mark(message);
    }

    /// Returns the files that were changed since a message, the newest change first, and what undo would do to them now.
    /// Looks at the files.
    pub fn since(&self, message: &str) -> Vec<UndoneFile> {
        let changed = lock(&self.inner).log.since(message);
        changed.iter().rev().map(|entry| UndoneFile { path: entry.shown.clone(), undo: entry.forecast() }).collect()
    }

    /// Takes back what was changed since a message, the newest first, as [`Changes::undo`] does.
    pub fn undo_since(&self, message: &str) -> Vec<UndoneFile> {
        let mut inner = lock(&self.inner);
        let mut changed = inner.log.since(message);
        inner.log.forget(message);
        inner.entries.clear();
        undo_all(&mut changed)
    }

    pub(super) fn record(&self, change: Written<'_>) -> Undoable {
        let mut inner = lock(&self.inner);
        if inner.changed_in != inner.turn {
            inner.entries.clear();
            inner.changed_in = inner.turn;
        }
        let turn = inner.turn;
        inner.log.record(&change, turn);
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
            names: change.names,
            made,
        });
        undoable
    }
}

/// Takes changes back, the newest first, and then removes the directories made for them that are empty.
fn undo_all(changed: &mut [ChangedFile]) -> Vec<UndoneFile> {
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

impl ChangeLog {
    /// Returns the changes that an undo is about, the newest last, one for each file.
    fn changed(&self, scope: &UndoScope) -> Vec<ChangedFile> {
        match scope {
            UndoScope::LastTurn => self.entries.clone(),
            UndoScope::Turn(turn) => self.log.of(|change| change.turn == *turn),
            UndoScope::File(path) => self.log.of(|change| change.file.shown == *path),
        }
    }

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
    fn as_left(&self) -> Option<FileSnapshot> {
        let place = self.beneath.place(&self.relative).ok()?;
        let held = atomic::look(&place, self.size).ok()??;
        (hash(&held.bytes) == self.after).then_some(held)
    }

    /// Returns how the file differs from what it was; `None` when it does not, or when one of both is not known.
    fn compare(&self) -> Option<FileDiff> {
        let place = self.beneath.place(&self.relative).ok()?;
        let held = atomic::look(&place, limits::CHANGED_FILE_BYTES).ok()?;
        let before = match &self.before {
            EarlierContent::Missing => None,
            EarlierContent::Held(bytes) => Some(&**bytes),
            EarlierContent::Dropped => return None,
        };
        let difference = diff(before.unwrap_or_default(), held.as_ref().map_or(&[], |held| &held.bytes));
        let path = visible_line(&self.shown).into_owned();
        (!difference.hunks.is_empty()).then(|| file_diff(path, before, &difference))
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
        // Of one that was replaced meanwhile the other names are not its own any more.
        let names = if now.names() == self.names { self.names } else { Names::Parted };
        let done = self.beneath.place(&self.relative).map_err(WriteError::from).and_then(|place| match &self.before {
            EarlierContent::Missing | EarlierContent::Dropped => atomic::remove(&place, &now.bytes),
            EarlierContent::Held(bytes) => atomic::replace(&place, Some(&now.bytes), bytes, names),
        });
        match done {
            Ok(()) => forecast,
            Err(WriteError::Changed) => Undo::ChangedSince,
            Err(WriteError::Io(error)) => Undo::Failed(error.to_string()),
        }
    }
}
