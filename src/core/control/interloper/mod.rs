//! The queue of messages that the user types while the agent runs (seed: `Pikuri::Agent::Control::Interloper`).
//!
//! A host pushes with [`Interloper::inject_user_message`] from any thread and renders [`Interloper::peek`]; the agent
//! drains after the last tool result of a batch. A message leaves the list exactly once: drained, or withdrawn.
//! The lock is held for a few lines and never while a callback runs. Never call it from a signal handler. What the user
//! does to waiting entries is in `edits`, what becomes of those that wait for a condition in `conditions`.

mod conditions;
mod edits;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use crate::control::Cancellable;
use crate::control::queue::{Doing, Queue, TakenTexts};
use crate::sync::{Mutex, MutexGuard};
use steersman_base::clock;
use steersman_base::error::Refused;
use steersman_base::event::{Delivery, Pending, UserText};
use steersman_base::id::MessageId;
use steersman_base::limits;
use steersman_base::steering::SentDuring;
use steersman_base::text::is_blank;

/// Called after each change of the queue, without the lock, on the thread that made the change. One that panics is
/// logged and the others are still called: what was accepted or taken by then must reach the caller.
pub type Watcher = Arc<dyn Fn() + Send + Sync>;

/// The messages that wait for delivery.
///
/// ```
/// use steersman_core::control::Interloper;
/// use steersman_base::event::Delivery;
///
/// let queue = Interloper::new();
/// let first = queue.inject_user_message("Only the birds.")?;
/// queue.inject_user_message(("A summary at the end.", Delivery::FollowUp))?;
/// assert!(queue.replace(&first.id, "Only the trees.")?, "it still waits");
/// assert_eq!(queue.peek()[0].text, "Only the trees.");
/// assert!(queue.withdraw(&first.id).is_some());
/// assert_eq!(queue.peek().len(), 1);
/// # Ok::<(), steersman_base::error::Refused>(())
/// ```
#[derive(Default)]
pub struct Interloper {
    queue: Mutex<Queue>,
    /// Not part of the modelled state (see `crate::sync`), as what follows: it decides nothing about a message.
    watchers: std::sync::Mutex<Vec<Watcher>>,
    /// Wakes whoever waits in [`Interloper::interruption`].
    urgent: Notify,
    /// Texts accepted so far by all queues of the session, so that an id names one text of the session.
    accepted: Arc<AtomicU64>,
}

/// From when on a waiting text is held at its boundary until the user says that it still holds. Off by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Staleness {
    /// It waited longer than this.
    pub age: Option<Duration>,
    /// The agent has made more tool calls than this since it was sent.
    pub steps: Option<u32>,
}

/// How many entries of each kind one boundary takes (D19).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Modes {
    /// Steers at a boundary; all by default.
    pub steer: QueueMode,
    /// Follow-ups at a turn's end; one at a time by default, a turn each.
    pub follow_up: QueueMode,
}

/// How many entries are taken at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueMode {
    /// Everything that is there.
    All,
    /// The first.
    OneAtATime,
}

impl QueueMode {
    /// Returns how many texts that ask for work are taken at most.
    pub(crate) fn most(self) -> usize {
        match self {
            Self::All => usize::MAX,
            Self::OneAtATime => 1,
        }
    }
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

    /// Makes the empty queue of another agent of the same session: ids go on, modes and staleness are the same.
    #[must_use]
    pub fn sibling(&self) -> Self {
        let (modes, staleness) = {
            let queue = self.lock();
            (queue.modes, queue.staleness)
        };
        let sibling = Self { accepted: Arc::clone(&self.accepted), ..Self::default() };
        sibling.set_modes(modes);
        sibling.set_staleness(staleness);
        sibling
    }

    /// Appends a message; a text alone is for the next tool-result boundary, or for the next turn when none runs. Returns
    /// it as it waits; its id names it in every event from here on.
    ///
    /// # Errors
    /// [`Refused`] when the text is blank, too long, too many are pending, or the agent has ended; the caller keeps
    /// the text.
    pub fn inject_user_message(&self, message: impl Into<UserText>) -> Result<Pending, Refused> {
        let message = message.into();
        check_text(&message.text)?;
        let pending = {
            let mut queue = self.lock();
            if queue.closed() {
                return Err(Refused::Ended);
            }
            if queue.entries().len() >= limits::PENDING_ENTRIES {
                return Err(Refused::TooMany);
            }
            let during = queue.during();
            let pending = Pending { during, ..Pending::new(self.new_id(), message, clock::now()) };
            queue.accept(pending.clone());
            pending
        };
        self.changed();
        Ok(pending)
    }

    /// Returns a copy of what is pending, in order.
    pub fn peek(&self) -> Vec<Pending> {
        self.lock().entries().cloned().collect()
    }

    /// Returns every text that is not in the conversation yet: what is being delivered, then what is pending.
    pub fn undelivered(&self) -> Vec<Pending> {
        let mut queue = self.lock();
        queue.delivering.are_announced = !queue.delivering.texts.is_empty();
        queue.delivering.texts.iter().chain(queue.entries()).cloned().collect()
    }

    /// Notes that a text that was taken is in the conversation, or was given back to the user. For the agent.
    pub fn delivered(&self, id: &MessageId) {
        self.edit(|queue| {
            queue.delivering.texts.retain(|entry| entry.id != *id);
            // Usually nobody looked between: then there is nothing to say.
            queue.delivering.are_announced && queue.delivering.texts.is_empty()
        });
    }

    /// Tells whether anything is pending.
    pub fn pending(&self) -> bool {
        self.lock().entries().len() > 0
    }

    /// Takes what enters at a boundary, in order: what is to go now, then the steers; none that is held. Empty when there
    /// is nothing. For the agent.
    pub fn drain(&self) -> Vec<Pending> {
        self.take_with(|queue| queue.drain(clock::now()))
    }

    /// As [`Interloper::drain`], but takes nothing once `cancellable` is set. Looked at under the lock that
    /// [`Interloper::stop`] sets it under, so a text sent after a stop never enters the turn that was stopped: it
    /// starts the next one.
    pub fn drain_unless(&self, cancellable: &Cancellable) -> Vec<Pending> {
        self.take_with(
            |queue| if cancellable.is_cancelled() { TakenTexts::default() } else { queue.drain(clock::now()) },
        )
    }

    /// Takes what starts the next turn and clears the cancel flag under the same lock, so that a cancel
    /// that comes later always holds (D9). Empty when the queue is paused or holds nothing deliverable.
    pub fn take_turn(&self, cancellable: Option<&Cancellable>) -> Vec<Pending> {
        self.take_with(|queue| {
            let taken = queue.take_turn(clock::now());
            if !taken.entries.is_empty() {
                begin(queue, cancellable);
            }
            taken
        })
    }

    /// Begins a turn that takes nothing from the list: clears the cancel flag as [`Interloper::take_turn`] does. For
    /// the agent.
    pub fn begin_turn(&self, cancellable: Option<&Cancellable>) {
        begin(&mut self.lock(), cancellable);
    }

    /// Ends a turn that was cancelled: what is still pending must not silently start the next one (D2, D5). After
    /// [`Interloper::stop`] that is done already, and a text sent since then starts it. For the agent.
    pub fn end_cancelled(&self) {
        let paused = {
            let mut queue = self.lock();
            let pauses = !queue.stopped && !queue.paused;
            queue.paused |= pauses;
            pauses
        };
        if paused {
            self.changed();
        }
    }

    /// Takes what is to go now ([`Now`](steersman_base::event::Delivery::Now)); nothing once `cancellable` is set. For the
    /// agent.
    pub fn take_now(&self, cancellable: Option<&Cancellable>) -> Vec<Pending> {
        self.take_with(|queue| match cancellable {
            Some(cancellable) if cancellable.is_cancelled() => TakenTexts::default(),
            Some(_) | None => queue.take_now(clock::now()),
        })
    }

    /// As [`Interloper::take_now`], and waits until there is something; for ever once `cancellable` is set. What is
    /// returned must be delivered: it has left the list. Dropping the future before loses nothing.
    pub async fn interruption(&self, cancellable: Option<&Cancellable>) -> Vec<Pending> {
        loop {
            let mut wake = std::pin::pin!(self.urgent.notified());
            // Registered before the list is looked at: a text that comes between the two is seen either way.
            wake.as_mut().enable();
            let taken = self.take_now(cancellable);
            if !taken.is_empty() {
                return taken;
            }
            wake.await;
        }
    }

    /// Waits until something is to go now; takes nothing.
    pub async fn urged(&self) {
        self.awaits_delivery(|next| next == Delivery::Now).await;
    }

    /// Returns how urgent the most urgent text is that would enter at a boundary now. For the agent.
    pub fn next_delivery(&self) -> Option<Delivery> {
        self.lock().next_delivery()
    }

    /// Waits until a text would enter at a boundary that is urgent enough for this; takes nothing. For the agent.
    pub async fn awaits_delivery(&self, is_enough: impl Fn(Delivery) -> bool) {
        loop {
            let mut wake = std::pin::pin!(self.urgent.notified());
            wake.as_mut().enable();
            if self.next_delivery().is_some_and(&is_enough) {
                return;
            }
            wake.await;
        }
    }

    /// Tells whether a turn can start without a new text: no stop and no failed turn holds the queue back.
    pub fn starts_turns(&self) -> bool {
        let queue = self.lock();
        !queue.paused && queue.bars == 0
    }

    /// Tells whether anything is to go now: the calls not yet started give way to it.
    pub fn urgent(&self) -> bool {
        self.next_delivery() == Some(Delivery::Now)
    }

    /// Counts one tool call of the agent, for [`Staleness`] and for conditions.
    pub fn count_step(&self) {
        {
            let mut queue = self.lock();
            queue.steps = queue.steps.saturating_add(1);
        }
        self.elapsed(clock::now());
    }

    /// Notes that the agent calls a tool. For the agent.
    pub fn began_call(&self, tool: &str) {
        self.lock().doing = Doing::Call(tool.to_owned());
    }

    /// Notes that the agent asks its model, and so runs no tool. For the agent.
    pub fn began_request(&self) {
        self.lock().doing = Doing::Reply;
    }

    /// Notes that no turn runs any more. For the agent.
    pub fn ended_turn(&self) {
        self.lock().doing = Doing::Nothing;
    }

    /// Returns what the agent does now; `None` while no turn runs.
    pub fn during(&self) -> Option<SentDuring> {
        self.lock().during()
    }

    /// Returns the tool calls that the agent has begun since a text was sent. For the agent.
    pub fn calls_since(&self, during: &SentDuring) -> u64 {
        self.lock().steps.saturating_sub(during.calls)
    }

    /// Tells whether [`Interloper::take_turn`] would start a turn.
    pub fn deliverable(&self) -> bool {
        self.lock().deliverable()
    }

    /// Sets the cancel flag and takes back every pending entry that would start a turn, as one step: either the running
    /// turn is cancelled, or the texts never start one. They go back to the composer, in order (D5). Notes, rules and what
    /// waits for a condition stay.
    pub fn stop(&self, cancellable: &Cancellable) -> Vec<Pending> {
        let taken = {
            let mut queue = self.lock();
            cancellable.cancel();
            queue.halt();
            queue.take_work()
        };
        if !taken.is_empty() {
            self.changed();
        }
        taken
    }

    /// As [`Interloper::stop`], but what is pending stays in the list: for the end of a session, which another run may go
    /// on with.
    pub fn halt(&self, cancellable: &Cancellable) {
        let mut queue = self.lock();
        cancellable.cancel();
        queue.halt();
    }

    /// As [`Interloper::stop`], with everything else that is pending too; and what is sent from here on starts no turn before
    /// [`Interloper::unblock`] was called as often: for whoever changes the conversation itself.
    pub fn block(&self, cancellable: &Cancellable) -> Vec<Pending> {
        self.lock().bars += 1;
        let mut taken = self.stop(cancellable);
        // What waits was about the conversation that ends here.
        let waiting = self.lock().take_all();
        if !waiting.is_empty() {
            self.changed();
        }
        taken.extend(waiting);
        taken
    }

    /// Ends one [`Interloper::block`].
    pub fn unblock(&self) {
        {
            let mut queue = self.lock();
            queue.bars = queue.bars.saturating_sub(1);
        }
        self.changed();
    }

    /// Keeps what is pending from starting a turn until the next text is sent or [`Interloper::resume`] (D2).
    pub fn pause(&self) {
        self.lock().paused = true;
        self.changed();
    }

    /// Lets what is pending start a turn again; who resumes means all of it, so nothing of it is old.
    pub fn resume(&self) {
        {
            let mut queue = self.lock();
            queue.paused = false;
            queue.confirm_all(clock::now());
        }
        self.changed();
    }

    /// Ends the queue together with its agent: takes what is pending back and refuses every later text.
    pub fn close(&self) -> Vec<Pending> {
        let taken = self.lock().close();
        if !taken.is_empty() {
            self.changed();
        }
        taken
    }

    /// Tells whether the queue has ended together with its agent.
    pub fn is_closed(&self) -> bool {
        self.lock().closed()
    }

    /// Tells whether a failed or stopped turn holds the queue back.
    pub fn paused(&self) -> bool {
        self.lock().paused
    }

    /// Sets from when on a waiting text is asked about.
    pub fn set_staleness(&self, staleness: Staleness) {
        self.lock().staleness = staleness;
    }

    /// Sets how many entries one boundary takes.
    pub fn set_modes(&self, modes: Modes) {
        self.lock().modes = modes;
    }

    /// Calls `watcher` after each change, on the thread that made it. It must not block.
    pub fn watch(&self, watcher: Watcher) {
        self.watchers.lock().unwrap_or_else(PoisonError::into_inner).push(watcher);
    }

    fn edit(&self, edit: impl FnOnce(&mut Queue) -> bool) -> bool {
        let found = edit(&mut self.lock());
        if found {
            self.changed();
        }
        found
    }

    fn take_with(&self, take: impl FnOnce(&mut Queue) -> TakenTexts) -> Vec<Pending> {
        let (taken, released) = {
            let mut queue = self.lock();
            let released = queue.elapsed(clock::now(), &mut || self.new_id());
            let taken = take(&mut queue);
            queue.delivering.texts.extend_from_slice(&taken.entries);
            (taken, released)
        };
        if taken.changed() || released {
            self.changed();
        }
        taken.entries
    }

    /// Takes the id of the next text.
    fn new_id(&self) -> MessageId {
        MessageId::new(format!("m{}", self.accepted.fetch_add(1, Ordering::SeqCst) + 1))
    }

    fn changed(&self) {
        self.urgent.notify_waiters();
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

fn begin(queue: &mut Queue, cancellable: Option<&Cancellable>) {
    queue.stopped = false;
    if let Some(cancellable) = cancellable {
        cancellable.reset();
    }
}

/// Returns whether a queue takes such a text.
///
/// # Errors
/// [`Refused`] when it is blank or too long.
pub fn check_text(text: &str) -> Result<(), Refused> {
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
