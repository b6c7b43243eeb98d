//! The mailbox between the agent's task and the UI thread.
//!
//! The agent only appends; nothing is dropped; deltas of one agent merge while they wait. Only when far more waits than a
//! screen can fall behind with, as in a flood that nobody looks at, an agent reads no further in a reply.
//! One wake per emptying: the waker is called when the box goes from empty to not empty.

use std::mem;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use steersman_base::event::Envelope;
use steersman_base::limits;
use steersman_base::protocol::Update;
use steersman_base::sync::lock;
use steersman_core::listener::Listener;

type Wake = Arc<dyn Fn() + Send + Sync>;

/// Called for every update under the lock of the mailbox, so that everybody gets the same order. It must not block, nor
/// use the mailbox.
pub type Tap = Arc<dyn Fn(&Update) + Send + Sync>;

/// What the UI has not taken yet.
#[derive(Default)]
pub struct Mailbox {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    updates: Vec<Update>,
    wake: Option<Wake>,
    tap: Option<Tap>,
    /// Bytes of the pieces among them.
    bytes: usize,
    /// Who waits until they are taken.
    wakers: Vec<Waker>,
}

impl Inner {
    /// Wakes somebody when everything is taken.
    fn wake_later(&mut self, context: &Context<'_>) {
        if !self.wakers.iter().any(|waker| waker.will_wake(context.waker())) {
            self.wakers.push(context.waker().clone());
        }
    }
}

impl Mailbox {
    /// Makes an empty mailbox.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets what is called when the box goes from empty to not empty. Called on the worker; must not block.
    pub fn on_wake(&self, wake: Wake) {
        let due = {
            let mut inner = lock(&self.inner);
            let due = (!inner.updates.is_empty()).then(|| Arc::clone(&wake));
            inner.wake = Some(wake);
            due
        };
        if let Some(wake) = due {
            wake();
        }
    }

    /// Sets what else gets every update: those that wait now, and all that come.
    pub fn tap(&self, tap: Tap) {
        let mut inner = lock(&self.inner);
        inner.updates.iter().for_each(|update| tap(update));
        inner.tap = Some(tap);
    }

    /// Appends one update; merges a delta into the one before when both are of the same agent and kind.
    pub fn push(&self, update: Update) {
        let wake = {
            let mut inner = lock(&self.inner);
            let was_empty = inner.updates.is_empty();
            if let Some(tap) = &inner.tap {
                tap(&update);
            }
            inner.bytes += update.piece_bytes();
            let merged = inner.updates.last_mut().is_some_and(|last| merge(last, &update));
            if !merged {
                inner.updates.push(update);
            }
            was_empty.then(|| inner.wake.clone()).flatten()
        };
        if let Some(wake) = wake {
            wake();
        }
    }

    /// Tells whether what was posted is taken, but for a few; else wakes when it is.
    pub(super) fn poll_taken(&self, context: &Context<'_>) -> Poll<()> {
        let mut inner = lock(&self.inner);
        if inner.updates.len() < limits::RESUME_POSTS {
            return Poll::Ready(());
        }
        inner.wake_later(context);
        Poll::Pending
    }

    /// Takes everything, in order.
    pub fn take_updates(&self) -> Vec<Update> {
        let (updates, wakers) = {
            let mut inner = lock(&self.inner);
            inner.bytes = 0;
            (mem::take(&mut inner.updates), mem::take(&mut inner.wakers))
        };
        wakers.into_iter().for_each(Waker::wake);
        updates
    }
}

/// Appends `next` to `last` when both are deltas that belong together.
fn merge(last: &mut Update, next: &Update) -> bool {
    match (last, next) {
        (Update::Envelope(last), Update::Envelope(next)) => last.merge(next),
        _ => false,
    }
}

impl Listener for Mailbox {
    fn on_event(&self, envelope: &Envelope) {
        self.push(Update::Envelope(envelope.clone()));
    }

    fn poll_ready(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut inner = lock(&self.inner);
        if inner.bytes < limits::MAILBOX_BYTES {
            return Poll::Ready(());
        }
        inner.wake_later(context);
        Poll::Pending
    }

    fn label(&self) -> String {
        "Mailbox".to_owned()
    }
}
