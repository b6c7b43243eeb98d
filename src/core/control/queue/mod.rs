//! The pending list itself: a plain value, no lock, no clock. [`super::Interloper`] puts a mutex around it.
//!
//! Always holds: an id is in the list at most once and names one text of the user for ever; the order is that of delivery
//! (what is to go now, the steers, the follow-ups), and among entries of one delivery the order of acceptance unless the
//! user moved one; a drain passes over held entries and those that wait for a condition, and leaves them in place; what
//! asks for no work (a note, a rule) starts no turn, goes with the text that does, and stays where a stop takes the rest;
//! a closed list is empty.
//!
//! # Where things are
//!
//! - the entries that wait for a condition: when it is met they are texts like any other: `waiting.rs`

mod waiting;

use std::time::Duration;

use jiff::Timestamp;

use crate::control::{Modes, Staleness};
use steersman_base::event::{Delivery, Pending};
use steersman_base::id::MessageId;
use steersman_base::protocol::Shift;
use steersman_base::steering::SentDuring;

use waiting::Progress;

/// The messages that wait, in the order of their delivery.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    entries: Vec<Entry>,
    pub(crate) delivering: TextsInDelivery,
    pub(crate) modes: Modes,
    pub(crate) staleness: Staleness,
    /// True after a stop or a failed turn: nothing starts a turn until the next text is sent.
    pub(crate) paused: bool,
    /// True from a stop until the next turn: the stop has paused the list already, and what came after it means to run.
    pub(crate) stopped: bool,
    /// How many who changed the conversation under the queue are not done: nothing starts a turn meanwhile.
    pub(crate) bars: u32,
    /// True once the agent has ended: nothing is accepted any more.
    closed: bool,
    /// Tool calls that the agent has made so far.
    pub(crate) steps: u64,
    pub(crate) doing: Doing,
}

/// What the agent has taken and not yet put into its conversation.
#[derive(Debug, Default)]
pub(crate) struct TextsInDelivery {
    pub(crate) texts: Vec<Pending>,
    /// True when somebody was told of them, and is to be told when they are delivered.
    pub(crate) are_announced: bool,
}

/// What an agent does, as far as its queue is told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Doing {
    /// No turn runs.
    #[default]
    Nothing,
    /// Its model is asked, or writes.
    Reply,
    /// It called this tool last.
    Call(String),
}

/// One message with what its age is counted from.
#[derive(Debug)]
struct Entry {
    pending: Pending,
    edited: bool,
    /// When the user last said that the text holds, and the agent's tool calls up to then.
    fresh: (Timestamp, u64),
    /// How far its condition has come.
    progress: Progress,
    /// The entry that this one is a text of: it is sent each time that a condition is met.
    source: Option<MessageId>,
}

impl Entry {
    /// Makes the entry of a text that holds from now on.
    fn new(pending: Pending, now: Timestamp, steps: u64) -> Self {
        let mut pending = pending;
        pending.waits_since = pending.trigger.as_ref().map(|_| pending.waits_since.unwrap_or(now));
        Self { pending, edited: false, fresh: (now, steps), progress: Progress::from(steps), source: None }
    }

    fn sync(&mut self) {
        self.pending.held = self.edited || self.pending.stale;
    }
}

/// What a drain did.
#[derive(Debug, Default)]
pub(crate) struct TakenTexts {
    /// What leaves the list, in order.
    pub(crate) entries: Vec<Pending>,
    /// True when entries stay behind that are held for their age from here on.
    pub(crate) held_back: bool,
}

impl TakenTexts {
    /// Tells whether the list is another than before.
    pub(crate) fn changed(&self) -> bool {
        !self.entries.is_empty() || self.held_back
    }

    fn extend(&mut self, next: Self) {
        self.entries.extend(next.entries);
        self.held_back |= next.held_back;
    }
}

impl Queue {
    pub(crate) fn entries(&self) -> impl ExactSizeIterator<Item = &Pending> {
        self.entries.iter().map(|entry| &entry.pending)
    }

    pub(crate) fn closed(&self) -> bool {
        self.closed
    }

    /// Appends a text that the caller has checked. One that starts no turn lets none start either.
    pub(crate) fn accept(&mut self, pending: Pending) {
        let at = pending.at;
        self.paused &= !pending.starts_turn();
        self.entries.push(Entry::new(pending, at, self.steps));
        self.arrange();
    }

    /// Returns what the agent does now; `None` while no turn runs.
    pub(crate) fn during(&self) -> Option<SentDuring> {
        let tool = match &self.doing {
            Doing::Nothing => return None,
            Doing::Reply => None,
            Doing::Call(tool) => Some(tool.clone()),
        };
        Some(SentDuring { calls: self.steps, tool })
    }

    /// Takes what enters at a boundary: what is to go now, then the steers; none that is held.
    pub(crate) fn drain(&mut self, now: Timestamp) -> TakenTexts {
        let mut taken = self.take_texts(usize::MAX, Delivery::Now, now);
        taken.extend(self.take_texts(self.modes.steer.most(), Delivery::Steer, now));
        taken
    }

    pub(crate) fn take_now(&mut self, now: Timestamp) -> TakenTexts {
        self.take_texts(usize::MAX, Delivery::Now, now)
    }

    /// Takes what starts the next turn: what is to go now; else the steers; else the follow-ups that come next. What
    /// starts none goes with it, or stays.
    pub(crate) fn take_turn(&mut self, now: Timestamp) -> TakenTexts {
        let mut taken = TakenTexts::default();
        if !self.deliverable() {
            return taken;
        }
        if self.holds_all_for_age(now) {
            return TakenTexts { held_back: true, ..taken };
        }
        for (most, delivery) in [
            (usize::MAX, Delivery::Now),
            (self.modes.steer.most(), Delivery::Steer),
            (self.modes.follow_up.most(), Delivery::FollowUp),
        ] {
            taken.extend(self.take_texts(most, delivery, now));
            if taken.entries.iter().any(|entry| entry.starts_turn()) {
                if delivery != Delivery::FollowUp {
                    // Notes and rules for the next turn go with whatever starts it, but not past a text before them.
                    taken.extend(self.take_texts(0, Delivery::FollowUp, now));
                }
                break;
            }
        }
        taken
    }

    /// Holds what would start a turn and is too old; tells whether that is everything that would.
    fn holds_all_for_age(&mut self, now: Timestamp) -> bool {
        let (staleness, steps) = (self.staleness, self.steps);
        let mut starting = self.entries.iter_mut().filter(|entry| !entry.pending.held && entry.pending.starts_turn());
        let is_old = |entry: &Entry| entry.pending.delivery != Delivery::Now && is_stale(staleness, entry, now, steps);
        if starting.any(|entry| !is_old(entry)) {
            return false;
        }
        for entry in self.entries.iter_mut().filter(|entry| !entry.pending.held && entry.pending.starts_turn()) {
            entry.pending.stale = true;
            entry.sync();
        }
        true
    }

    /// Tells whether [`Queue::take_turn`] would return anything or hold something back.
    pub(crate) fn deliverable(&self) -> bool {
        !self.paused && self.bars == 0 && self.entries().any(|entry| !entry.held && entry.starts_turn())
    }

    /// Returns how urgent the most urgent text is that a drain would look at.
    pub(crate) fn next_delivery(&self) -> Option<Delivery> {
        let mut ready = self.entries().filter(|entry| !entry.held && entry.trigger.is_none());
        // A note or a rule can wait for what a text that asks for work would end.
        let is_due = |entry: &&Pending| match entry.delivery {
            Delivery::Now => true,
            Delivery::Steer => entry.kind.asks_for_work(),
            Delivery::FollowUp => false,
        };
        ready.find(is_due).map(|entry| entry.delivery)
    }

    /// Keeps what is pending from starting a turn after the one that is stopped.
    pub(crate) fn halt(&mut self) {
        self.paused = true;
        self.stopped = true;
    }

    /// Takes what would start a turn. What starts none is not about the one that is stopped: it waits for the next text.
    pub(crate) fn take_work(&mut self) -> Vec<Pending> {
        self.entries.extract_if(.., |entry| entry.pending.starts_turn()).map(|entry| entry.pending).collect()
    }

    pub(crate) fn take_all(&mut self) -> Vec<Pending> {
        self.entries.drain(..).map(|entry| entry.pending).collect()
    }

    pub(crate) fn close(&mut self) -> Vec<Pending> {
        self.closed = true;
        self.take_all()
    }

    pub(crate) fn withdraw(&mut self, id: &MessageId) -> Option<Pending> {
        let index = self.position(id)?;
        Some(self.entries.remove(index).pending)
    }

    pub(crate) fn withdraw_newest(&mut self) -> Option<Pending> {
        let (newest, _) = self.entries().enumerate().max_by_key(|(_, entry)| entry.at)?;
        Some(self.entries.remove(newest).pending)
    }

    /// Puts an entry back that was withdrawn; false when the list is closed or has it.
    pub(crate) fn restore(&mut self, entry: Pending, index: usize, now: Timestamp) -> bool {
        if self.closed || self.position(&entry.id).is_some() {
            return false;
        }
        let pending = Pending { held: false, stale: false, ..entry };
        let to = index.min(self.entries.len());
        self.entries.insert(to, Entry::new(pending, now, self.steps));
        self.arrange();
        true
    }

    /// As [`Queue::restore`], behind the last of these that is still here, else to the front.
    pub(crate) fn restore_behind(&mut self, entry: Pending, before: &[MessageId], now: Timestamp) -> bool {
        let last = self.entries().enumerate().filter(|(_, other)| before.contains(&other.id)).last();
        let index = last.map_or(0, |(index, _)| index + 1);
        self.restore(entry, index, now)
    }

    /// Lets an entry change places with the one before it (or behind it); false when it is no longer pending.
    pub(crate) fn shift(&mut self, id: &MessageId, shift: Shift) -> bool {
        let Some(index) = self.position(id) else { return false };
        let to = match shift {
            Shift::Earlier => index.saturating_sub(1),
            Shift::Later => index.saturating_add(1),
        };
        self.move_to(id, to)
    }

    /// Changes the entry with this id; false when it is no longer pending.
    pub(crate) fn change(&mut self, id: &MessageId, change: impl FnOnce(&mut Pending)) -> bool {
        let found = self.entry(id, |entry| change(&mut entry.pending));
        self.arrange();
        found
    }

    /// Marks the entry as being edited, or not any more.
    pub(crate) fn set_edited(&mut self, id: &MessageId, edited: bool) -> bool {
        self.entry(id, |entry| entry.edited = edited)
    }

    /// Counts the age of the entry from now on, as the user has just said that it holds.
    pub(crate) fn confirm(&mut self, id: &MessageId, now: Timestamp) -> bool {
        let steps = self.steps;
        self.entry(id, |entry| {
            entry.pending.stale = false;
            entry.fresh = (now, steps);
        })
    }

    /// As [`Queue::confirm`], for all.
    pub(crate) fn confirm_all(&mut self, now: Timestamp) {
        for entry in &mut self.entries {
            entry.pending.stale = false;
            entry.fresh = (now, self.steps);
            entry.sync();
        }
    }

    /// Joins the entry with the one behind it, under the first id; the texts before, or `None` when either is gone, waits
    /// for a condition or is being edited: the end of the edit would overwrite what was joined.
    pub(crate) fn merge(&mut self, id: &MessageId, most: usize) -> Option<Result<(Pending, Pending), usize>> {
        let index = self.position(id)?;
        let (first, second) = (self.entries.get(index)?, self.entries.get(index + 1)?);
        let waits = first.pending.trigger.is_some() || second.pending.trigger.is_some();
        if first.edited || second.edited || waits {
            return None;
        }
        let first = first.pending.clone();
        let text = format!("{}\n\n{}", first.text, second.pending.text);
        if text.len() > most {
            return Some(Err(text.len()));
        }
        let second = self.entries.remove(index + 1).pending;
        self.change(id, |entry| {
            entry.text = text;
            entry.images.extend_from_slice(&second.images);
        });
        Some(Ok((first, second)))
    }

    /// Moves an entry to `index` of the list without it, as far as its delivery lets it; past the end means the end.
    pub(crate) fn move_to(&mut self, id: &MessageId, index: usize) -> bool {
        let Some(from) = self.position(id) else { return false };
        let entry = self.entries.remove(from);
        let to = index.min(self.entries.len());
        self.entries.insert(to, entry);
        self.arrange();
        true
    }

    /// Puts the entries into the order of their delivery; those of one delivery stay as they stand.
    fn arrange(&mut self) {
        self.entries.sort_by_key(|entry| match entry.pending.delivery {
            Delivery::Now => 0,
            Delivery::Steer => 1,
            Delivery::FollowUp => 2,
        });
    }

    fn entry(&mut self, id: &MessageId, change: impl FnOnce(&mut Entry)) -> bool {
        match self.entries.iter_mut().find(|entry| entry.pending.id == *id) {
            Some(entry) => {
                change(entry);
                entry.sync();
                true
            }
            None => false,
        }
    }

    fn position(&self, id: &MessageId) -> Option<usize> {
        self.entries.iter().position(|entry| entry.pending.id == *id)
    }

    /// Takes at most so many texts that ask for work, and what asks for none up to the last of them; up to the first that is
    /// left where that is none.
    fn take_texts(&mut self, most: usize, delivery: Delivery, now: Timestamp) -> TakenTexts {
        let mut taken = TakenTexts::default();
        let mut kept = Vec::with_capacity(self.entries.len());
        let (mut work, mut is_full) = (0, false);
        for mut entry in self.entries.drain(..) {
            let is_ready = !entry.pending.held && entry.pending.trigger.is_none();
            let asks = entry.pending.kind.asks_for_work();
            let is_next = entry.pending.delivery == delivery && is_ready && !is_full;
            if is_next && delivery != Delivery::Now && is_stale(self.staleness, &entry, now, self.steps) {
                entry.pending.stale = true;
                entry.sync();
                taken.held_back = true;
                kept.push(entry);
            } else if is_next && !(asks && work == most) {
                work += usize::from(asks);
                is_full = asks && work == most;
                taken.entries.push(entry.pending);
            } else {
                is_full |= is_next;
                kept.push(entry);
            }
        }
        self.entries = kept;
        taken
    }
}

fn is_stale(staleness: Staleness, entry: &Entry, now: Timestamp, steps: u64) -> bool {
    let (since, before) = entry.fresh;
    let waited = Duration::try_from(now.duration_since(since)).unwrap_or(Duration::ZERO);
    staleness.age.is_some_and(|age| waited > age)
        || staleness.steps.is_some_and(|most| steps.saturating_sub(before) > u64::from(most))
}
