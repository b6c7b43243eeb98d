//! The changes of tools in a session, and their undo: of the last turn that made any (`/undo`), of a turn, of a file
//! (`/diff`), of all since a message (a branch).
//!
//! The writer of a workspace records here; the host marks turns and messages, shows and undoes. One entry per file: its
//! content before the first change, or, when another program changed it in between, before the first change after that. A
//! file that is not as the tools left it is never touched, and neither are permissions. Commands of `bash` are not recorded.
//! Where contents are too many, those of earlier turns are forgotten, the oldest first, and then said to be so.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use sha2::{Digest as _, Sha256};

use crate::workspace::atomic::{self, FileSnapshot, Names, WriteError};
use crate::workspace::beneath::Beneath;
use crate::workspace::diff::{diff, file_diff};
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

/// The changed files of a session, with their earlier content.
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
    /// The last turn that changed anything.
    changed_in: u32,
    /// The newest change last.
    changes: Vec<ChangedFile>,
    /// How many changes had been made when each message entered.
    marks: HashMap<String, usize>,
    /// What was undone and the model does not know, a clause for each file.
    unreported: Vec<String>,
}

/// A change of a file, or several that follow each other.
#[derive(Debug, Clone)]
struct ChangedFile {
    turn: u32,
    beneath: Arc<Beneath>,
    relative: PathBuf,
    shown: String,
    before: PreviousContent,
    /// Whether the change before it left the file as this one found it.
    goes_on: bool,
    after: Hash,
    size: u64,
    names: Names,
    /// Directories made for it, the outermost first.
    made: Vec<PathBuf>,
    /// Whether it was taken back.
    is_undone: bool,
}

#[derive(Debug, Clone)]
enum PreviousContent {
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
        let kept = inner.kept(|change| change.turn == inner.turn);
        if kept.saturating_add(bytes) <= limits::UNDO_BYTES { Undoable::Yes } else { Undoable::TooMuch }
    }

    /// Returns the files that an undo is about, the newest change first, and what it would do to them now. Looks at the
    /// files.
    pub fn preview(&self, scope: &UndoScope) -> Vec<UndoneFile> {
        let changed = lock(&self.inner).changed(scope);
        forecasts(&changed)
    }

    /// Compares every file that was changed with what it was before the first change, as far as that is kept. Files that
    /// are as they were are left out. Looks at the files.
    pub fn compare(&self) -> Vec<FileDiff> {
        let changed = merged(&lock(&self.inner).changes, |_| true);
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
        for change in &mut inner.changes {
            change.is_undone |= turn.is_none_or(|turn| change.turn == turn) && done(&change.shown);
        }
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
        let mut inner = lock(&self.inner);
        let count = inner.changes.len();
        inner.marks.insert(message.to_owned(), count);
    }

    /// Returns the files that were changed since a message, the newest change first, and what undo would do to them now.
    /// Looks at the files.
    pub fn since(&self, message: &str) -> Vec<UndoneFile> {
        let changed = lock(&self.inner).since(message);
        forecasts(&changed)
    }

    /// Takes back what was changed since a message, the newest first, as [`Changes::undo`] does.
    pub fn undo_since(&self, message: &str) -> Vec<UndoneFile> {
        let mut inner = lock(&self.inner);
        let mut changed = inner.since(message);
        if let Some(mark) = inner.marks.get(message).copied() {
            inner.changes.truncate(mark);
            inner.marks.retain(|_, at| *at <= mark);
        }
        undo_all(&mut changed)
    }

    pub(super) fn record(&self, change: Written<'_>) -> Undoable {
        let mut inner = lock(&self.inner);
        let turn = inner.turn;
        inner.changed_in = turn;
        let same = |known: &ChangedFile| !known.is_undone && known.is_of(change.relative, change.beneath);
        let as_left = |known: &ChangedFile| change.before.is_some_and(|held| hash(&held.bytes) == known.after);
        // What goes on in a turn is one change, unless a message entered between.
        let mark = inner.marks.values().copied().max().unwrap_or(0);
        let earlier = inner.changes.iter().enumerate().rfind(|(_, known)| same(known));
        let earlier = earlier.filter(|(_, known)| as_left(known)).map(|(at, known)| (at, known.turn));
        let goes_on = earlier.is_some();
        let continued = earlier.filter(|(at, earlier)| *at >= mark && *earlier == turn);
        let mut made = change.directories;
        let (before, goes_on) = match continued.map(|(at, _)| inner.changes.remove(at)) {
            Some(mut earlier) => {
                earlier.made.append(&mut made);
                made = earlier.made;
                (earlier.before, earlier.goes_on)
            }
            None => (inner.keep(change.before.map(|held| &held.bytes)), goes_on),
        };
        let undoable = if matches!(before, PreviousContent::Dropped) { Undoable::TooMuch } else { Undoable::Yes };
        inner.changes.push(ChangedFile {
            turn,
            beneath: Arc::clone(change.beneath),
            relative: change.relative.to_owned(),
            shown: change.shown,
            before,
            goes_on,
            after: hash(change.after),
            size: change.after.len() as u64,
            names: change.names,
            made,
            is_undone: false,
        });
        undoable
    }
}

/// Returns what undo would do to files now, the newest change first.
fn forecasts(changed: &[ChangedFile]) -> Vec<UndoneFile> {
    changed.iter().rev().map(|entry| UndoneFile { path: entry.shown.clone(), undo: entry.forecast() }).collect()
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
        merged(&self.changes, |change| match scope {
            UndoScope::LastTurn => change.turn == self.changed_in,
            UndoScope::Turn(turn) => change.turn == *turn,
            UndoScope::File(path) => change.shown == *path,
        })
    }

    /// Returns what was changed since a message, the newest change last, one for each file.
    fn since(&self, message: &str) -> Vec<ChangedFile> {
        let since = self.marks.get(message).and_then(|mark| self.changes.get(*mark..));
        merged(since.unwrap_or_default(), |_| true)
    }

    /// Returns the content before a change as far as there is room for it, for which contents of earlier turns are forgotten.
    fn keep(&mut self, before: Option<&Arc<[u8]>>) -> PreviousContent {
        let Some(bytes) = before else { return PreviousContent::Missing };
        let turn = self.turn;
        while self.kept(|_| true).saturating_add(bytes.len() as u64) > limits::UNDO_BYTES {
            let mut earlier = self.changes.iter_mut().filter(|change| change.turn != turn);
            match earlier.find(|change| matches!(change.before, PreviousContent::Held(_))) {
                Some(oldest) => oldest.before = PreviousContent::Dropped,
                None => return PreviousContent::Dropped,
            }
        }
        PreviousContent::Held(Arc::clone(bytes))
    }

    /// Returns the bytes that are kept of the changes that are meant.
    fn kept(&self, is_meant: impl Fn(&ChangedFile) -> bool) -> u64 {
        let kept = |change: &ChangedFile| match &change.before {
            PreviousContent::Held(bytes) => bytes.len() as u64,
            PreviousContent::Missing | PreviousContent::Dropped => 0,
        };
        self.changes.iter().filter(|change| is_meant(change)).map(kept).sum()
    }
}

/// Joins the changes of each file that are meant and were not taken back.
fn merged(changes: &[ChangedFile], is_meant: impl Fn(&ChangedFile) -> bool) -> Vec<ChangedFile> {
    let mut files: Vec<ChangedFile> = Vec::new();
    for change in changes.iter().filter(|change| !change.is_undone && is_meant(change)) {
        let mut change = change.clone();
        if let Some(at) = files.iter().position(|known| known.is_of(&change.relative, &change.beneath)) {
            let mut earlier = files.remove(at);
            earlier.made.append(&mut change.made);
            change.made = earlier.made;
            if change.goes_on {
                change.before = earlier.before;
            }
        }
        files.push(change);
    }
    files
}

impl ChangedFile {
    fn is_of(&self, relative: &Path, beneath: &Arc<Beneath>) -> bool {
        self.relative == relative && Arc::ptr_eq(&self.beneath, beneath)
    }

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
            PreviousContent::Missing => None,
            PreviousContent::Held(bytes) => Some(&**bytes),
            PreviousContent::Dropped => return None,
        };
        let difference = diff(before.unwrap_or_default(), held.as_ref().map_or(&[], |held| &held.bytes));
        let path = visible_line(&self.shown).into_owned();
        (!difference.hunks.is_empty()).then(|| file_diff(path, before, &difference))
    }

    fn forecast(&self) -> Undo {
        match &self.before {
            PreviousContent::Dropped => Undo::NotKept,
            _ if self.as_left().is_none() => Undo::ChangedSince,
            PreviousContent::Missing => Undo::Removed,
            PreviousContent::Held(bytes) => Undo::Restored { bytes: bytes.len() as u64 },
        }
    }

    fn undo(&self) -> Undo {
        let _alone = self.beneath.writing();
        let forecast = self.forecast();
        let (Some(now), true) = (self.as_left(), forecast.is_done()) else { return forecast };
        // Of one that was replaced meanwhile the other names are not its own any more.
        let names = if now.names() == self.names { self.names } else { Names::Parted };
        let done = self.beneath.place(&self.relative).map_err(WriteError::from).and_then(|place| match &self.before {
            PreviousContent::Missing | PreviousContent::Dropped => atomic::remove(&place, &now.bytes),
            PreviousContent::Held(bytes) => atomic::replace(&place, Some(&now.bytes), bytes, names),
        });
        match done {
            Ok(()) => forecast,
            Err(WriteError::Changed) => Undo::ChangedSince,
            Err(WriteError::Io(error)) => Undo::Failed(error.to_string()),
        }
    }
}
