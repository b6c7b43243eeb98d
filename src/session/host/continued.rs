//! The turns of sub-agents that no call waits for, run by the worker beside those of the main agent: those in the background,
//! and those that the user continued.
//!
//! Always holds: a turn goes on as long as the worker waits for anything; dropping it ends all of them, and each says so.

use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;

use crate::host::{Mailbox, Notice, Update};
use steersman_agent::subagent::Continuations;

/// The running turns of such sub-agents.
pub(super) struct Continued {
    continuations: Arc<Continuations>,
    running: FuturesUnordered<BoxFuture<'static, ()>>,
}

impl Continued {
    /// Begins to look for such turns, and tells the clients which sub-agents can be continued.
    pub(super) fn new(continuations: &Arc<Continuations>, mailbox: &Arc<Mailbox>) -> Self {
        let mailbox = Arc::downgrade(mailbox);
        continuations.watch(move |agents| {
            if let Some(mailbox) = mailbox.upgrade() {
                mailbox.push(Update::Notice(Notice::Continuable(agents)));
            }
        });
        continuations.attend(true);
        Self { continuations: Arc::clone(continuations), running: FuturesUnordered::new() }
    }

    /// Forgets which sub-agents can be continued: the conversation that they belong to is given up.
    pub(super) fn forget(&self) {
        self.continuations.clear();
    }

    /// Tells whether such a turn runs or is about to.
    pub(super) fn runs(&self) -> bool {
        !self.running.is_empty() || self.continuations.has_begun()
    }

    /// Runs the turns until one has ended or one more was asked for.
    pub(super) async fn advance(&mut self) {
        tokio::select! {
            Some(()) = self.running.next() => {}
            () = self.continuations.woken() => self.running.extend(self.continuations.take_begun()),
        }
    }
}

impl Drop for Continued {
    fn drop(&mut self) {
        self.continuations.attend(false);
        // Each emits its end.
        drop(self.continuations.take_begun());
        self.running.clear();
        self.continuations.clear();
    }
}
