//! What the user does to entries that wait: each operation is one step under the lock, so it comes wholly before a drain or
//! wholly after it, and its answer says which (D4).

use std::sync::atomic::Ordering;

use super::{Interloper, check_text};
use steersman_base::clock;
use steersman_base::error::Refused;
use steersman_base::event::{Delivery, Pending};
use steersman_base::id::MessageId;
use steersman_base::image::Image;
use steersman_base::limits;
use steersman_base::protocol::Shift;
use steersman_base::steering::{RuleScope, TextKind, Trigger};

impl Interloper {
    /// Takes one entry back; `None` when it is no longer pending.
    pub fn withdraw(&self, id: &MessageId) -> Option<Pending> {
        let taken = self.lock().withdraw(id);
        if taken.is_some() {
            self.changed();
        }
        taken
    }

    /// Takes the newest entry back; `None` when nothing is pending.
    pub fn withdraw_newest(&self) -> Option<Pending> {
        let taken = self.lock().withdraw_newest();
        if taken.is_some() {
            self.changed();
        }
        taken
    }

    /// Replaces the text of an entry; false when it is no longer pending.
    ///
    /// # Errors
    /// [`Refused`] when the new text is blank or too long; the entry stays as it was.
    pub fn replace(&self, id: &MessageId, text: impl Into<String>) -> Result<bool, Refused> {
        let text = text.into();
        check_text(&text)?;
        Ok(self.edit(|queue| queue.change(id, |entry| entry.text = text)))
    }

    /// Replaces the text and the images of an entry by those of another; false when it is no longer pending.
    ///
    /// # Errors
    /// As [`Interloper::replace`].
    pub fn replace_by(&self, id: &MessageId, other: &Pending) -> Result<bool, Refused> {
        check_text(&other.text)?;
        Ok(self.edit(|queue| {
            queue.change(id, |entry| {
                entry.text.clone_from(&other.text);
                entry.images.clone_from(&other.images);
            })
        }))
    }

    /// Moves an entry to the given place of the list; false when it is no longer pending.
    pub fn move_to(&self, id: &MessageId, index: usize) -> bool {
        let moved = self.lock().move_to(id, index);
        if moved {
            self.changed();
        }
        moved
    }

    /// Puts an entry back that was withdrawn, at its old place; false when the agent has ended or the entry is there.
    pub fn restore(&self, entry: Pending, index: usize) -> bool {
        let restored = self.lock().restore(entry, index, clock::now());
        if restored {
            self.changed();
        }
        restored
    }

    /// As [`Interloper::restore`], behind the last of these that still waits, else to the front: right whatever was
    /// delivered since the entry was withdrawn.
    pub fn restore_behind(&self, entry: Pending, before: &[MessageId]) -> bool {
        self.edit(|queue| queue.restore_behind(entry, before, clock::now()))
    }

    /// Takes over what an earlier process of the session left: its texts wait, each held until the user says that it still
    /// holds, and ids go on behind those that were given.
    pub fn take_over(&self, entries: Vec<Pending>, accepted: u64) {
        self.accepted.fetch_max(accepted, Ordering::SeqCst);
        for entry in entries {
            let id = entry.id.clone();
            // The calls of that process are not counted here.
            let entry = Pending { during: None, ..entry };
            // In one step: nothing takes it before it is held.
            self.edit(|queue| {
                let last = queue.entries().len();
                queue.restore(entry, last, clock::now()) && queue.change(&id, |entry| entry.stale = true)
            });
        }
    }

    /// Lets an entry change places with a neighbour; at the end of the list it stays. False when it is no longer pending.
    pub fn shift(&self, id: &MessageId, shift: Shift) -> bool {
        self.edit(|queue| queue.shift(id, shift))
    }

    /// Joins an entry with the one behind it, a blank line between; it keeps its id, place and delivery. Returns the two
    /// as they were, `None` when either is no longer pending or is being edited.
    ///
    /// # Errors
    /// [`Refused::TooLong`]; both stay as they were.
    pub fn merge(&self, id: &MessageId) -> Result<Option<(Pending, Pending)>, Refused> {
        let merged = self.lock().merge(id, limits::MESSAGE_BYTES);
        match merged {
            None => Ok(None),
            Some(Err(_)) => Err(Refused::TooLong),
            Some(Ok(before)) => {
                self.changed();
                Ok(Some(before))
            }
        }
    }

    /// Changes where an entry will enter; false when it is no longer pending. [`Delivery::Now`] also lets a paused queue
    /// go on, and asks no more about the entry's age or its condition.
    pub fn set_delivery(&self, id: &MessageId, delivery: Delivery) -> bool {
        let found = {
            let mut queue = self.lock();
            let found = queue.change(id, |entry| entry.delivery = delivery);
            if found && delivery == Delivery::Now {
                queue.set_trigger(id, None, clock::now());
                queue.confirm(id, clock::now());
                queue.paused = false;
            }
            found
        };
        if found {
            self.changed();
        }
        found
    }

    /// Changes what an entry is to its agent; false when it is no longer pending.
    pub fn set_kind(&self, id: &MessageId, kind: TextKind, scope: RuleScope) -> bool {
        self.edit(|queue| {
            queue.change(id, |entry| {
                entry.kind = kind;
                entry.scope = scope;
            })
        })
    }

    /// Changes what goes with the text of an entry; false when it is no longer pending.
    pub fn set_images(&self, id: &MessageId, images: &[Image]) -> bool {
        self.edit(|queue| queue.change(id, |entry| entry.images = images.to_vec()))
    }

    /// Changes what an entry waits for, from now on; false when it is no longer pending.
    pub fn set_trigger(&self, id: &MessageId, trigger: Option<Trigger>) -> bool {
        self.edit(|queue| queue.set_trigger(id, trigger, clock::now()))
    }

    /// Keeps an entry from being delivered while it is edited; false when it is no longer pending.
    pub fn hold(&self, id: &MessageId) -> bool {
        self.edit(|queue| queue.set_edited(id, true))
    }

    /// Lets an entry be delivered again that was held for an edit, as it was; false when it is no longer pending.
    pub fn release(&self, id: &MessageId) -> bool {
        self.edit(|queue| queue.set_edited(id, false))
    }

    /// Ends an edit: the entry has the new text and can be delivered, as one step; false when it is no longer pending.
    ///
    /// # Errors
    /// As [`Interloper::replace`]; the entry stays held.
    pub fn commit(&self, id: &MessageId, text: impl Into<String>) -> Result<bool, Refused> {
        let text = text.into();
        check_text(&text)?;
        Ok(self.edit(|queue| {
            queue.change(id, |entry| entry.text = text)
                && queue.confirm(id, clock::now())
                && queue.set_edited(id, false)
        }))
    }

    /// Says that an entry still holds, however long it has waited; false when it is no longer pending.
    pub fn confirm(&self, id: &MessageId) -> bool {
        self.edit(|queue| queue.confirm(id, clock::now()))
    }
}
