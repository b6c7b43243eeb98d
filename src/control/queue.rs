//! The pending list itself: a plain value, no lock, no clock. [`super::Interloper`] puts a mutex around it.
//!
//! Always holds: an id is in the list at most once; ids are never reused; the order is the order of acceptance
//! unless the user moved an entry; a drain passes over held entries and leaves them in place.

use jiff::Timestamp;

use crate::control::{Modes, QueueMode};
use crate::event::{Delivery, Pending};
use crate::id::MessageId;

/// Holds the messages that wait, in order.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    entries: Vec<Pending>,
    accepted: u64,
    pub(crate) modes: Modes,
    /// True after a stop or a failed turn: nothing starts a turn until the next text is sent.
    pub(crate) paused: bool,
}

impl Queue {
    pub(crate) fn entries(&self) -> &[Pending] {
        &self.entries
    }

    /// Appends a text that the caller has checked.
    pub(crate) fn accept(&mut self, text: String, delivery: Delivery, at: Timestamp) -> MessageId {
        self.accepted += 1;
        let id = MessageId::new(format!("m{}", self.accepted));
        self.entries.push(Pending { id: id.clone(), text, delivery, held: false, at });
        self.paused = false;
        id
    }

    /// Takes what enters at a boundary: the steers that are not held.
    pub(crate) fn drain_steers(&mut self) -> Vec<Pending> {
        let mode = self.modes.steer;
        self.take(mode, Delivery::Steer)
    }

    /// Takes what starts the next turn: the steers, or when there are none the follow-ups that come next.
    pub(crate) fn take_turn(&mut self) -> Vec<Pending> {
        if self.paused {
            return Vec::new();
        }
        let steers = self.drain_steers();
        if !steers.is_empty() {
            return steers;
        }
        let mode = self.modes.follow_up;
        self.take(mode, Delivery::FollowUp)
    }

    /// Tells whether [`Queue::take_turn`] would return anything.
    pub(crate) fn deliverable(&self) -> bool {
        !self.paused && self.entries.iter().any(|entry| !entry.held)
    }

    pub(crate) fn take_all(&mut self) -> Vec<Pending> {
        std::mem::take(&mut self.entries)
    }

    pub(crate) fn withdraw(&mut self, id: &MessageId) -> Option<Pending> {
        let index = self.position(id)?;
        Some(self.entries.remove(index))
    }

    pub(crate) fn withdraw_newest(&mut self) -> Option<Pending> {
        self.entries.pop()
    }

    /// Changes the entry with this id; false when it is no longer pending.
    pub(crate) fn change(&mut self, id: &MessageId, change: impl FnOnce(&mut Pending)) -> bool {
        match self.entries.iter_mut().find(|entry| entry.id == *id) {
            Some(entry) => {
                change(entry);
                true
            }
            None => false,
        }
    }

    /// Moves an entry to `index` of the list without it; past the end means the end.
    pub(crate) fn move_to(&mut self, id: &MessageId, index: usize) -> bool {
        let Some(from) = self.position(id) else { return false };
        let entry = self.entries.remove(from);
        let to = index.min(self.entries.len());
        self.entries.insert(to, entry);
        true
    }

    fn position(&self, id: &MessageId) -> Option<usize> {
        self.entries.iter().position(|entry| entry.id == *id)
    }

    fn take(&mut self, mode: QueueMode, delivery: Delivery) -> Vec<Pending> {
        let most = match mode {
            QueueMode::All => usize::MAX,
            QueueMode::OneAtATime => 1,
        };
        let mut taken = Vec::new();
        let mut kept = Vec::with_capacity(self.entries.len());
        for entry in self.entries.drain(..) {
            if entry.delivery == delivery && !entry.held && taken.len() < most {
                taken.push(entry);
            } else {
                kept.push(entry);
            }
        }
        self.entries = kept;
        taken
    }
}
