//! What keys have removed, newest last, so that one key can bring it back.
//!
//! Always holds: a text on this stack is nowhere else, except the parts of a joined entry and a text that was taken back
//! into the message: there the stack only knows how it was.

use std::hash::{DefaultHasher, Hash, Hasher};

use steersman_base::event::{Pending, UserText};
use steersman_base::id::{AgentId, MessageId};
use steersman_base::limits;

/// What was removed, newest last.
#[derive(Debug, Default)]
pub struct RemovedTexts {
    /// Each with the fingerprint of the composer's text right after it.
    stack: Vec<(Removed, u64)>,
}

/// One thing that a key has removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Removed {
    /// A pending text that was deleted.
    Deleted(RemovedEntry),
    /// A pending text that was taken back into the message.
    TakenBack(RemovedEntry),
    /// Two pending texts that were joined.
    Merged {
        agent: AgentId,
        /// The first as it was; the joined text has its id.
        first: Pending,
        second: Pending,
        text: String,
    },
    /// The changes to a pending text that were left.
    Edit {
        agent: AgentId,
        /// The pending text.
        id: MessageId,
        /// What had been written.
        text: String,
        /// What the entry said when the edit began.
        was: String,
    },
    Draft(String),
}

/// A pending text that left its queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedEntry {
    pub agent: AgentId,
    pub entry: Pending,
    /// The entries that stood before it.
    pub before: Vec<MessageId>,
}

impl RemovedTexts {
    /// Adds what was removed just now, while the composer holds `draft`.
    pub fn push(&mut self, removed: Removed, draft: &str) {
        if self.stack.len() >= limits::REMOVED_TEXTS {
            self.stack.remove(0);
        }
        self.stack.push((removed, fingerprint(draft)));
    }

    /// Takes the newest off.
    pub fn pop(&mut self) -> Option<Removed> {
        self.stack.pop().map(|(removed, _)| removed)
    }

    /// Tells whether the newest removal is newer than every edit of the composer, which holds `draft` now.
    pub fn is_newest(&self, draft: &str) -> bool {
        self.stack.last().is_some_and(|(_, then)| *then == fingerprint(draft))
    }

    /// Ends the conversation that it was removed from: a text comes back as a draft from now on, never to a queue.
    pub fn become_drafts(&mut self) {
        let as_draft = |(removed, then)| match removed {
            Removed::Deleted(RemovedEntry { entry: Pending { message: UserText { text, .. }, .. }, .. })
            | Removed::Edit { text, .. }
            | Removed::Draft(text) => Some((Removed::Draft(text), then)),
            Removed::TakenBack(_) | Removed::Merged { .. } => None,
        };
        self.stack = std::mem::take(&mut self.stack).into_iter().filter_map(as_draft).collect();
    }

    /// Returns everything, oldest first.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &Removed> {
        self.stack.iter().map(|(removed, _)| removed)
    }
}

fn fingerprint(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
