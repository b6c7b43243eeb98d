//! The list of the texts that wait for delivery.
//!
//! # Where things are
//!
//! - what it holds besides the texts: `mod.rs`; what its keys do: `update.rs`; how it is drawn: `view.rs`; tests:
//!   `pending_list.rs`, `pending_lives.rs`, `tests/pty/pending.rs`

mod update;
pub mod view;

pub use update::{act, answered, delete, deliver_now, focus, keep_entry, take_back, travel};

use steersman_base::id::MessageId;
use steersman_session::model::{PendingText, PendingTexts};

/// The list of pending texts.
#[derive(Debug, Clone, Default)]
pub struct PendingPane {
    selection: Option<Selection>,
    /// Texts that the user has already, before the queue has returned them.
    kept: Vec<MessageId>,
}

/// The selected text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Selection {
    id: MessageId,
    /// Its place, or the one that it had.
    index: usize,
    /// True once it has left by itself.
    lost: bool,
}

impl PendingPane {
    pub fn selected<'a>(&self, texts: &'a PendingTexts) -> Option<&'a PendingText> {
        let selection = self.selection.as_ref().filter(|selection| !selection.lost)?;
        texts.get(&selection.id)
    }

    pub fn selected_index(&self, texts: &PendingTexts) -> Option<usize> {
        let selection = self.selection.as_ref().filter(|selection| !selection.lost)?;
        texts.index_of(&selection.id)
    }

    /// Returns the selected text that has left by itself since.
    pub fn lost(&self) -> Option<&MessageId> {
        self.selection.as_ref().filter(|selection| selection.lost).map(|selection| &selection.id)
    }

    /// Returns the place to go on from: that of the selected text, or where it stood.
    pub fn place(&self) -> Option<usize> {
        self.selection.as_ref().map(|selection| selection.index)
    }

    /// Selects the text at this place; past the end means the last.
    pub fn select(&mut self, index: usize, texts: &PendingTexts) {
        let index = index.min(texts.entries().len().saturating_sub(1));
        let entry = texts.entries().get(index);
        self.selection = entry.map(|entry| Selection { id: entry.message.id.clone(), index, lost: false });
    }

    /// Follows the texts after a change.
    pub fn follow(&mut self, texts: &PendingTexts) {
        let Some(selection) = self.selection.as_mut().filter(|selection| !selection.lost) else { return };
        match texts.index_of(&selection.id) {
            Some(index) => selection.index = index,
            None => selection.lost = true,
        }
    }

    /// Notes that the user took a text out; the one behind it is selected in its place.
    pub fn removed(&mut self, id: &MessageId, texts: &PendingTexts) {
        if let Some(index) = self.selection.as_ref().filter(|selection| selection.id == *id).map(|s| s.index) {
            self.select(index, texts);
        }
    }

    /// Remembers that the user has a text already: when it is returned it does not come back again.
    pub fn keep(&mut self, id: MessageId) {
        self.kept.push(id);
    }

    /// Tells whether the user has a text already, and forgets that.
    pub fn was_kept(&mut self, id: &MessageId) -> bool {
        let before = self.kept.len();
        self.kept.retain(|kept| kept != id);
        self.kept.len() < before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use steersman_base::event::Pending;
    use steersman_base::id::AgentId;

    fn texts(ids: &[&str]) -> PendingTexts {
        let at = jiff::Timestamp::UNIX_EPOCH;
        let pending = |id: &&str| Pending::new((*id).into(), "same", at);
        let mut texts = PendingTexts::default();
        texts.snapshot(&[(AgentId::main(), ids.iter().map(pending).collect())], false);
        texts
    }

    fn selected<'a>(pane: &PendingPane, texts: &'a PendingTexts) -> Option<&'a str> {
        pane.selected(texts).map(|entry| entry.message.id.as_str())
    }

    #[test]
    fn the_selection_follows_its_text_and_never_slips_to_another_by_itself() {
        let mut pane = PendingPane::default();
        pane.select(1, &texts(&["m1", "m2", "m3"]));
        let after = texts(&["m2", "m3", "m4"]);
        pane.follow(&after);
        assert_eq!(selected(&pane, &after), Some("m2"));
        let after = texts(&["m3", "m4"]);
        pane.follow(&after);
        assert_eq!(selected(&pane, &after), None);
        assert_eq!((pane.lost().map(MessageId::as_str), pane.place()), (Some("m2"), Some(0)));
    }

    #[test]
    fn what_the_user_removes_leaves_the_selection_in_its_place() {
        let mut pane = PendingPane::default();
        pane.select(1, &texts(&["m1", "m2", "m3"]));
        let after = texts(&["m1", "m3"]);
        pane.removed(&"m2".into(), &after);
        assert_eq!(selected(&pane, &after), Some("m3"));
        let after = texts(&["m1"]);
        pane.removed(&"m3".into(), &after);
        assert_eq!(selected(&pane, &after), Some("m1"));
    }
}
