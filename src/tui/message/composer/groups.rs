//! Edits that undo and redo take together, known by the texts between them.
//!
//! The text area knows single edits. Always holds: the first and the last text of a group are stopped at.

use std::collections::VecDeque;

use super::UNDO_STEPS;

/// Which way through the history of the edits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UndoWay {
    Back,
    Forth,
}

/// Groups of edits, each as the fingerprints of its texts in their order.
#[derive(Debug, Default)]
pub(super) struct Groups {
    whole: VecDeque<Vec<u64>>,
    /// The one that is being made.
    open: Option<Vec<u64>>,
}

impl Groups {
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Begins a group at this text; one that is open ends there.
    pub(super) fn begin(&mut self, text: u64) {
        self.end(text);
        self.open = Some(vec![text]);
    }

    /// Notes a text of the group that is open.
    pub(super) fn note(&mut self, text: u64) {
        if let Some(open) = &mut self.open
            && open.last() != Some(&text)
        {
            open.push(text);
        }
    }

    pub(super) fn end(&mut self, text: u64) {
        self.note(text);
        let open = self.open.take();
        self.keep(open.into_iter().filter(|group| group.len() > 1));
    }

    /// Adds the texts of one edit, which may have two halves: as a group, or into the one that is open.
    pub(super) fn add(&mut self, texts: &[u64]) {
        if self.is_open() {
            for text in texts {
                self.note(*text);
            }
        } else {
            self.keep([texts.to_vec()]);
        }
    }

    /// Tells whether a step from one text to another ends in the middle of a group.
    pub(super) fn is_within(&self, way: UndoWay, from: u64, to: u64) -> bool {
        let (earlier, later) = if way == UndoWay::Back { (to, from) } else { (from, to) };
        let has_step = |group: &&Vec<u64>| {
            let first = group.iter().position(|text| *text == earlier);
            let last = group.iter().rposition(|text| *text == later);
            matches!((first, last), (Some(first), Some(last)) if first < last)
        };
        let is_end = |group: &Vec<u64>| group.first() == Some(&to) || group.last() == Some(&to);
        let mut groups = self.whole.iter().filter(has_step).peekable();
        // Where the same texts are the end of one and the middle of another it is rather one stop too many.
        groups.peek().is_some() && !groups.any(is_end)
    }

    fn keep(&mut self, groups: impl IntoIterator<Item = Vec<u64>>) {
        self.whole.extend(groups);
        while self.whole.len() > UNDO_STEPS {
            self.whole.pop_front();
        }
    }
}
