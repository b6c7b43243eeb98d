//! Every change that tools made in the session, and where each message entered: what a branch can take back.
//!
//! Kept beside the undo of the last turn, by the same rules: the content before the first change since the message, or,
//! when somebody else changed the file in between, before the first change after that. What is too much is forgotten, the
//! oldest first, and then said to be so.

use std::collections::HashMap;
use std::sync::Arc;

use crate::workspace::changes::{ChangedFile, EarlierContent, Written, hash};
use steersman_base::limits;

/// The changes of a session.
#[derive(Debug, Default)]
pub(super) struct RewindLog {
    changes: Vec<RecordedChange>,
    /// How many changes had been made when each message entered.
    marks: HashMap<String, usize>,
    /// Bytes of contents that are kept.
    kept: u64,
    /// Changes whose contents were forgotten.
    dropped: usize,
}

/// One change with its turn.
#[derive(Debug)]
pub(super) struct RecordedChange {
    pub(super) turn: u32,
    pub(super) file: ChangedFile,
    /// Whether it was taken back.
    undone: bool,
}

impl RewindLog {
    pub(super) fn mark(&mut self, message: &str) {
        self.marks.insert(message.to_owned(), self.changes.len());
    }

    /// Forgets the changes since a message: they were taken back as far as that goes.
    pub(super) fn forget(&mut self, message: &str) {
        if let Some(mark) = self.marks.get(message) {
            self.changes.truncate(*mark);
        }
    }

    pub(super) fn record(&mut self, change: &Written<'_>, turn: u32) {
        let before =
            change.before.map_or(EarlierContent::Missing, |held| EarlierContent::Held(Arc::clone(&held.bytes)));
        self.kept += size(&before);
        let file = ChangedFile {
            beneath: Arc::clone(change.beneath),
            relative: change.relative.to_owned(),
            shown: change.shown.clone(),
            before,
            after: hash(change.after),
            size: change.after.len() as u64,
            names: change.names,
            made: change.directories.clone(),
        };
        self.changes.push(RecordedChange { turn, file, undone: false });
        while self.kept > limits::UNDO_BYTES
            && let Some(oldest) = self.changes.get_mut(self.dropped)
        {
            self.kept -= size(&oldest.file.before);
            if let EarlierContent::Held(_) = oldest.file.before {
                oldest.file.before = EarlierContent::Dropped;
            }
            self.dropped += 1;
        }
    }

    /// Notes that the changes of these files were taken back: those of a turn, or all.
    pub(super) fn undone(&mut self, turn: Option<u32>, done: impl Fn(&str) -> bool) {
        for change in &mut self.changes {
            change.undone |= turn.is_none_or(|turn| change.turn == turn) && done(&change.file.shown);
        }
    }

    /// Returns what was changed since a message, one entry for each file, the newest change last.
    pub(super) fn since(&self, message: &str) -> Vec<ChangedFile> {
        let since = self.marks.get(message).and_then(|mark| self.changes.get(*mark..)).unwrap_or_default();
        merged(since.iter())
    }

    /// Returns the changes that a question holds for, one entry for each file, the newest change last.
    pub(super) fn of(&self, holds: impl Fn(&RecordedChange) -> bool) -> Vec<ChangedFile> {
        merged(self.changes.iter().filter(|change| holds(change)))
    }
}

/// Joins the changes of each file that were not taken back.
fn merged<'a>(changes: impl Iterator<Item = &'a RecordedChange>) -> Vec<ChangedFile> {
    let mut files: Vec<ChangedFile> = Vec::new();
    for change in changes.filter(|change| !change.undone).map(|change| &change.file) {
        let same =
            |known: &ChangedFile| known.relative == change.relative && Arc::ptr_eq(&known.beneath, &change.beneath);
        let mut change = change.clone();
        if let Some(place) = files.iter().position(same) {
            let mut earlier = files.remove(place);
            let goes_on = match &change.before {
                EarlierContent::Held(bytes) => hash(bytes) == earlier.after,
                // It was forgotten, so nobody can tell.
                EarlierContent::Dropped => true,
                EarlierContent::Missing => false,
            };
            earlier.made.append(&mut change.made);
            change.made = earlier.made;
            if goes_on {
                change.before = earlier.before;
            }
        }
        files.push(change);
    }
    files
}

fn size(content: &EarlierContent) -> u64 {
    match content {
        EarlierContent::Held(bytes) => bytes.len() as u64,
        EarlierContent::Missing | EarlierContent::Dropped => 0,
    }
}
