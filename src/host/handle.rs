//! What a screen (or `exec`) holds of a running agent: its queue, its cancel flag and its mailbox.
//!
//! Every method is a short lock; none waits for the agent.

use std::sync::Arc;

use crate::control::{Cancellable, Interloper};
use crate::error::Refused;
use crate::event::{Delivery, Pending};
use crate::host::Mailbox;
use crate::id::MessageId;

/// Steers a running agent. Cheap to clone.
#[derive(Clone)]
pub struct Handle {
    interloper: Arc<Interloper>,
    cancellable: Cancellable,
    mailbox: Arc<Mailbox>,
}

impl Handle {
    /// Ties the shared controls together.
    pub fn new(interloper: Arc<Interloper>, cancellable: Cancellable, mailbox: Arc<Mailbox>) -> Self {
        Self { interloper, cancellable, mailbox }
    }

    /// Sends a text; it is pending until the agent takes it.
    ///
    /// # Errors
    /// [`Refused`]; the caller keeps the text.
    pub fn inject(&self, text: &str, delivery: Delivery) -> Result<MessageId, Refused> {
        self.interloper.inject(text, delivery)
    }

    /// Stops the running turn and takes every pending entry back, as one step.
    pub fn stop(&self) -> Vec<Pending> {
        self.interloper.stop(&self.cancellable)
    }

    /// Returns the queue: `peek`, `entries`, `withdraw`, `resume`, …
    pub fn interloper(&self) -> &Arc<Interloper> {
        &self.interloper
    }

    /// Returns the cancel flag of the tree.
    pub fn cancellable(&self) -> &Cancellable {
        &self.cancellable
    }

    /// Returns what the worker has to say.
    pub fn mailbox(&self) -> &Arc<Mailbox> {
        &self.mailbox
    }
}
