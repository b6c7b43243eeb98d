//! The texts that wait for delivery, as the user sees them.
//!
//! Fed by snapshots of the queue and by the events that say a text has arrived. Always holds: a text that has left the
//! queue but not yet entered the conversation is still shown, as being delivered; entries are told apart by id alone.

use crate::event::Pending;
use crate::id::{AgentId, MessageId};

/// The shown entries, in order.
#[derive(Debug, Default)]
pub struct PendingList {
    entries: Vec<Entry>,
    /// True when a failed or stopped turn holds the queue back until the user sends again.
    pub paused: bool,
    selected: Option<MessageId>,
    /// The selected entry that left by itself, and its place. Nothing is selected until the user has seen it.
    lost: Option<(MessageId, usize)>,
    /// Entries whose text the user has already, before the queue has returned them.
    kept: Vec<MessageId>,
}

/// One shown entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The agent that it is for.
    pub agent: AgentId,
    /// What was accepted.
    pub message: Pending,
    /// Where it is.
    pub stage: Stage,
}

/// Where an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// In the queue.
    Waiting,
    /// Taken by the agent, not yet in the conversation.
    Delivering,
}

impl PendingList {
    /// Returns the entries, those being delivered first.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Tells whether nothing is shown.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Tells whether anything still is in the queue.
    pub fn waiting(&self) -> bool {
        self.entries.iter().any(|entry| entry.stage == Stage::Waiting)
    }

    /// Returns the entry with this id.
    pub fn get(&self, id: &MessageId) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.message.id == *id)
    }

    /// Returns the ids that stand before an entry in its own queue.
    pub fn before(&self, id: &MessageId) -> Vec<MessageId> {
        let Some(agent) = self.get(id).map(|entry| &entry.agent) else { return Vec::new() };
        let queue = self.entries.iter().filter(|entry| entry.agent == *agent && entry.stage == Stage::Waiting);
        queue.map(|entry| entry.message.id.clone()).take_while(|other| other != id).collect()
    }

    /// Takes over a snapshot of all queues; what is missing from it is being delivered.
    pub fn snapshot(&mut self, queues: Vec<(AgentId, Vec<Pending>)>, paused: bool) {
        self.paused = paused;
        let mut entries = std::mem::take(&mut self.entries);
        entries.retain_mut(|entry| {
            entry.stage = Stage::Delivering;
            let mut waiting = queues.iter().flat_map(|(_, queue)| queue);
            !waiting.any(|pending| pending.id == entry.message.id)
        });
        for (agent, queue) in queues {
            let waiting = |message| Entry { agent: agent.clone(), message, stage: Stage::Waiting };
            entries.extend(queue.into_iter().map(waiting));
        }
        self.entries = entries;
    }

    /// Forgets an entry: it is in the conversation, or back in the composer.
    pub fn settle(&mut self, id: &MessageId) {
        if self.selected.as_ref() == Some(id) {
            self.lost = self.selected.take().zip(self.index_of(id));
        }
        self.entries.retain(|entry| entry.message.id != *id);
    }

    /// Forgets an entry that the user took out; the one behind it is selected in its place.
    pub fn remove(&mut self, id: &MessageId) {
        let index = self.index_of(id);
        self.entries.retain(|entry| entry.message.id != *id);
        if self.selected.as_ref() == Some(id) {
            self.selected = None;
            self.select(index.unwrap_or(0));
        }
    }

    /// Remembers that the user has the text of an entry already: when it is returned it does not come back again.
    pub fn keep(&mut self, id: MessageId) {
        self.kept.push(id);
    }

    /// Tells whether the user has the text of an entry already, and forgets that.
    pub fn was_kept(&mut self, id: &MessageId) -> bool {
        let before = self.kept.len();
        self.kept.retain(|kept| kept != id);
        self.kept.len() < before
    }

    /// Returns the selected entry.
    pub fn selected(&self) -> Option<&Entry> {
        self.selected.as_ref().and_then(|id| self.get(id))
    }

    /// Returns the place of the selected entry.
    pub fn selected_index(&self) -> Option<usize> {
        self.selected.as_ref().and_then(|id| self.index_of(id))
    }

    /// Returns the selected entry that has left by itself since.
    pub fn lost(&self) -> Option<&MessageId> {
        self.lost.as_ref().map(|(id, _)| id)
    }

    /// Returns the place to go on from: that of the selected entry, or where it stood.
    pub fn place(&self) -> Option<usize> {
        self.selected_index().or_else(|| self.lost.as_ref().map(|(_, place)| *place))
    }

    /// Selects the entry at this place; past the end means the last.
    pub fn select(&mut self, index: usize) {
        self.lost = None;
        let entry = self.entries.get(index).or_else(|| self.entries.last());
        self.selected = entry.map(|entry| entry.message.id.clone());
    }

    fn index_of(&self, id: &MessageId) -> Option<usize> {
        self.entries.iter().position(|entry| entry.message.id == *id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Delivery;

    fn pending(id: &str) -> Pending {
        let at = jiff::Timestamp::UNIX_EPOCH;
        Pending { id: id.into(), text: "same".to_owned(), delivery: Delivery::Steer, held: false, stale: false, at, sender: None }
    }

    fn shown(list: &PendingList) -> Vec<(&str, Stage)> {
        list.entries().iter().map(|entry| (entry.message.id.as_str(), entry.stage)).collect()
    }

    #[test]
    fn an_entry_stays_from_the_drain_to_the_event() {
        let mut list = PendingList::default();
        list.snapshot(vec![(AgentId::main(), vec![pending("m1"), pending("m2")])], false);
        list.snapshot(vec![(AgentId::main(), vec![pending("m3")])], false);
        assert_eq!(shown(&list), [("m1", Stage::Delivering), ("m2", Stage::Delivering), ("m3", Stage::Waiting)]);
        list.settle(&"m1".into());
        assert_eq!(shown(&list), [("m2", Stage::Delivering), ("m3", Stage::Waiting)]);
        list.snapshot(vec![(AgentId::main(), vec![pending("m3")])], false);
        assert_eq!(shown(&list), [("m2", Stage::Delivering), ("m3", Stage::Waiting)]);
    }

    #[test]
    fn the_selection_follows_its_entry_and_never_slips_to_another_by_itself() {
        let mut list = PendingList::default();
        list.snapshot(vec![(AgentId::main(), vec![pending("m1"), pending("m2"), pending("m3")])], false);
        list.select(1);
        list.snapshot(vec![(AgentId::main(), vec![pending("m2"), pending("m3"), pending("m4")])], false);
        list.settle(&"m1".into());
        assert_eq!(list.selected().map(|entry| entry.message.id.as_str()), Some("m2"));
        list.snapshot(vec![(AgentId::main(), vec![pending("m3"), pending("m4")])], false);
        list.settle(&"m2".into());
        assert_eq!(list.selected(), None);
        assert_eq!((list.lost().map(MessageId::as_str), list.place()), (Some("m2"), Some(0)));
    }

    #[test]
    fn what_the_user_removes_leaves_the_selection_in_its_place() {
        let mut list = PendingList::default();
        list.snapshot(vec![(AgentId::main(), vec![pending("m1"), pending("m2"), pending("m3")])], false);
        list.select(1);
        list.remove(&"m2".into());
        assert_eq!(list.selected().map(|entry| entry.message.id.as_str()), Some("m3"));
        list.remove(&"m3".into());
        assert_eq!(list.selected().map(|entry| entry.message.id.as_str()), Some("m1"));
    }
}
