//! What a screen (or `exec`) holds of a running agent: its queue, its cancel flag and its mailbox.
//!
//! Every method is a short lock; none waits for the agent.

use std::sync::Arc;

use crate::control::{Cancellable, Controls, Crew, Interloper, Watcher};
use crate::error::Refused;
use crate::event::{Delivery, Pending};
use crate::host::Mailbox;
use crate::id::{AgentId, MessageId};

/// Steers a running agent. Cheap to clone.
#[derive(Clone)]
pub struct Handle {
    main: Controls,
    crew: Arc<Crew>,
    mailbox: Arc<Mailbox>,
}

impl Handle {
    /// Ties the shared controls together.
    pub fn new(crew: Arc<Crew>, mailbox: Arc<Mailbox>) -> Self {
        Self { main: crew.main(), crew, mailbox }
    }

    /// Sends a text to the main agent; it is pending until the agent takes it.
    ///
    /// # Errors
    /// [`Refused`]; the caller keeps the text.
    pub fn inject(&self, text: &str, delivery: Delivery) -> Result<MessageId, Refused> {
        self.main.interloper.inject(text, delivery)
    }

    /// Sends a text to any agent that runs; it is pending until that agent takes it.
    ///
    /// # Errors
    /// [`Refused::Ended`] when it does not run any more; the caller keeps the text.
    pub fn inject_to(&self, agent: &AgentId, text: &str, delivery: Delivery) -> Result<MessageId, Refused> {
        self.crew.get(agent).ok_or(Refused::Ended)?.interloper.inject(text, delivery)
    }

    /// Stops the running turn and takes every pending entry back, as one step.
    pub fn stop(&self) -> Vec<Pending> {
        self.main.interloper.stop(&self.main.cancellable)
    }

    /// Returns the controls of every agent that runs.
    pub fn crew(&self) -> &Arc<Crew> {
        &self.crew
    }

    /// Calls `watcher` after each change of any queue, now and later. It must not block.
    pub fn watch(&self, watcher: impl Fn() + Send + Sync + 'static) {
        let watcher: Watcher = Arc::new(watcher);
        self.crew.watch(&watcher);
    }

    /// Returns the main agent's queue: `peek`, `entries`, `withdraw`, `resume`, …
    pub fn interloper(&self) -> &Arc<Interloper> {
        &self.main.interloper
    }

    /// Returns the cancel flag of the tree.
    pub fn cancellable(&self) -> &Cancellable {
        &self.main.cancellable
    }

    /// Returns what the worker has to say.
    pub fn mailbox(&self) -> &Arc<Mailbox> {
        &self.mailbox
    }
}
