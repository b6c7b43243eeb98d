//! Clean-up when a future of the agent is dropped (a time-out, a `select!`) or unwinds: afterwards the history can be
//! sent, and every event that opened something has the one that closes it (D24).

use std::ops::{Deref, DerefMut};

use crate::Agent;

/// The agent during a piece of work, with the clean-up that runs when it is dropped before the end.
pub(super) struct OnDrop<'a, F: FnOnce(&mut Agent)> {
    agent: &'a mut Agent,
    end: Option<F>,
}

impl<'a, F: FnOnce(&mut Agent)> OnDrop<'a, F> {
    pub(super) fn new(agent: &'a mut Agent, end: F) -> Self {
        Self { agent, end: Some(end) }
    }

    /// Drops the clean-up: the work came to its end by itself.
    pub(super) fn disarm(mut self) {
        self.end = None;
    }
}

impl<F: FnOnce(&mut Agent)> Deref for OnDrop<'_, F> {
    type Target = Agent;

    fn deref(&self) -> &Agent {
        self.agent
    }
}

impl<F: FnOnce(&mut Agent)> DerefMut for OnDrop<'_, F> {
    fn deref_mut(&mut self) -> &mut Agent {
        self.agent
    }
}

impl<F: FnOnce(&mut Agent)> Drop for OnDrop<'_, F> {
    fn drop(&mut self) {
        if let Some(end) = self.end.take() {
            end(self.agent);
        }
    }
}
