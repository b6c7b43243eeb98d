//! The queue of messages that the user types while the agent runs (seed: `Pikuri::Agent::Control::Interloper`).
//!
//! A host pushes with [`Interloper::inject_user_message`] from any thread and renders [`Interloper::peek`]; the agent
//! drains after the last tool result of a batch. A message leaves the list exactly once: drained, or withdrawn.
//! The lock is held for a few lines and never while a callback runs. Never call it from a signal handler.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};

use jiff::Timestamp;

use crate::control::Cancellable;
use crate::control::queue::Queue;
use crate::error::Refused;
use crate::event::{Delivery, Pending};
use crate::id::MessageId;
use crate::limits;
use crate::sync::{Mutex, MutexGuard};
use crate::text::is_blank;

/// Is called after each change of the queue, without the lock, on the thread that made the change. One that panics is
/// logged and the others are still called: what was accepted or taken by then must reach the caller.
pub type Watcher = Arc<dyn Fn() + Send + Sync>;

/// Holds the messages that wait for delivery.
#[derive(Default)]
pub struct Interloper {
    queue: Mutex<Queue>,
    /// Not part of the modelled state (see `crate::sync`): it decides nothing about a message.
    watchers: std::sync::Mutex<Vec<Watcher>>,
}

/// Says how many entries of each kind one boundary takes (D19).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Modes {
    /// Steers at a boundary; all by default.
    pub steer: QueueMode,
    /// Follow-ups at a turn's end; one at a time by default, a turn each.
    pub follow_up: QueueMode,
}

/// Says how many entries are taken at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueMode {
    /// Everything that is there.
    All,
    /// The first.
    OneAtATime,
}

impl Default for Modes {
    fn default() -> Self {
        Self { steer: QueueMode::All, follow_up: QueueMode::OneAtATime }
    }
}

impl Interloper {
    /// Makes an empty queue.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a message for the next tool-result boundary, or for the next turn when none runs.
    ///
    /// # Errors
    /// [`Refused`] when the text is blank, too long, or too many are pending; the caller keeps the text.
    pub fn inject_user_message(&self, text: impl Into<String>) -> Result<MessageId, Refused> {
        self.inject(text, Delivery::Steer)
    }

    /// Appends a message with the given delivery.
    ///
    /// # Errors
    /// As [`Interloper::inject_user_message`].
    pub fn inject(&self, text: impl Into<String>, delivery: Delivery) -> Result<MessageId, Refused> {
        let text = text.into();
        check(&text)?;
        let id = {
            let mut queue = self.lock();
            if queue.entries().len() >= limits::PENDING_ENTRIES {
                return Err(Refused::TooMany);
            }
            queue.accept(text, delivery, Timestamp::now())
        };
        self.changed();
        Ok(id)
    }

    /// Returns a copy of the pending texts, in order.
    pub fn peek(&self) -> Vec<String> {
        self.lock().entries().iter().map(|entry| entry.text.clone()).collect()
    }

    /// Returns a copy of the pending entries, in order.
    pub fn entries(&self) -> Vec<Pending> {
        self.lock().entries().to_vec()
    }

    /// Tells whether anything is pending.
    pub fn pending(&self) -> bool {
        !self.lock().entries().is_empty()
    }

    /// Takes the steers that are not held, in order; empty when there are none. For the agent, at a boundary.
    pub fn drain(&self) -> Vec<Pending> {
        let taken = self.lock().drain_steers();
        if !taken.is_empty() {
            self.changed();
        }
        taken
    }

    /// As [`Interloper::drain`], but takes nothing once `cancellable` is set. Looked at under the lock that
    /// [`Interloper::stop`] sets it under, so a text sent after a stop never enters the turn that was stopped: it
    /// starts the next one.
    pub fn drain_unless(&self, cancellable: &Cancellable) -> Vec<Pending> {
        let taken = {
            let mut queue = self.lock();
            if cancellable.is_cancelled() { Vec::new() } else { queue.drain_steers() }
        };
        if !taken.is_empty() {
            self.changed();
        }
        taken
    }

    /// Takes what starts the next turn and clears the cancel flag under the same lock, so that a cancel
    /// that comes later always holds (D9). Empty when the queue is paused or holds nothing deliverable.
    pub fn take_turn(&self, cancellable: Option<&Cancellable>) -> Vec<Pending> {
        let taken = {
            let mut queue = self.lock();
            let taken = queue.take_turn();
            if !taken.is_empty()
                && let Some(cancellable) = cancellable
            {
                cancellable.reset();
            }
            taken
        };
        if !taken.is_empty() {
            self.changed();
        }
        taken
    }

    /// Tells whether [`Interloper::take_turn`] would start a turn.
    pub fn deliverable(&self) -> bool {
        self.lock().deliverable()
    }

    /// Sets the cancel flag and takes back every pending entry, as one step: either the running turn is
    /// cancelled, or the texts never start one. They go back to the composer, in order (D5).
    pub fn stop(&self, cancellable: &Cancellable) -> Vec<Pending> {
        let taken = {
            let mut queue = self.lock();
            cancellable.cancel();
            queue.paused = true;
            queue.take_all()
        };
        if !taken.is_empty() {
            self.changed();
        }
        taken
    }

    /// Keeps what is pending from starting a turn until the next text is sent or [`Interloper::resume`] (D2).
    pub fn pause(&self) {
        self.lock().paused = true;
        self.changed();
    }

    /// Lets what is pending start a turn again.
    pub fn resume(&self) {
        self.lock().paused = false;
        self.changed();
    }

    /// Tells whether a failed or stopped turn holds the queue back.
    pub fn paused(&self) -> bool {
        self.lock().paused
    }

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
        check(&text)?;
        Ok(self.change(id, |entry| entry.text = text))
    }

    /// Moves an entry to the given place of the list; false when it is no longer pending.
    pub fn move_to(&self, id: &MessageId, index: usize) -> bool {
        let moved = self.lock().move_to(id, index);
        if moved {
            self.changed();
        }
        moved
    }

    /// Changes where an entry will enter; false when it is no longer pending.
    pub fn set_delivery(&self, id: &MessageId, delivery: Delivery) -> bool {
        self.change(id, |entry| entry.delivery = delivery)
    }

    /// Keeps an entry from being delivered while it is edited; false when it is no longer pending.
    pub fn hold(&self, id: &MessageId) -> bool {
        self.change(id, |entry| entry.held = true)
    }

    /// Lets a held entry be delivered again; false when it is no longer pending.
    pub fn release(&self, id: &MessageId) -> bool {
        self.change(id, |entry| entry.held = false)
    }

    /// Sets how many entries one boundary takes.
    pub fn set_modes(&self, modes: Modes) {
        self.lock().modes = modes;
    }

    /// Calls `watcher` after each change, on the thread that made it. It must not block.
    pub fn watch(&self, watcher: Watcher) {
        self.watchers.lock().unwrap_or_else(PoisonError::into_inner).push(watcher);
    }

    fn change(&self, id: &MessageId, change: impl FnOnce(&mut Pending)) -> bool {
        let found = self.lock().change(id, change);
        if found {
            self.changed();
        }
        found
    }

    fn changed(&self) {
        let watchers = self.watchers.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for watcher in watchers {
            if catch_unwind(AssertUnwindSafe(|| watcher())).is_err() {
                tracing::error!("a watcher of the queue panicked; the others are still called");
            }
        }
    }

    /// A panic elsewhere must not brick the queue: the list is valid between any two of its operations.
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn check(text: &str) -> Result<(), Refused> {
    if is_blank(text) {
        return Err(Refused::Blank);
    }
    if text.len() > limits::MESSAGE_BYTES {
        return Err(Refused::TooLong);
    }
    Ok(())
}

impl fmt::Display for Interloper {
    /// Writes `Interloper`, or `Interloper(<n> pending)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.lock().entries().len() {
            0 => f.write_str("Interloper"),
            n => write!(f, "Interloper({n} pending)"),
        }
    }
}

impl fmt::Debug for Interloper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
