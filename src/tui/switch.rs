//! What the program goes on with when the screen closes for something else than the end (another session, or a branch),
//! and what is read for that.
//!
//! Chosen on the screen, carried out by the program when the run has ended and its journal is closed.

use steersman_base::id::{AgentId, MessageId};

/// A place in a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventPlace {
    /// The event that the session is shown up to; all of it without one.
    pub seq: Option<u64>,
    /// The agent that is shown; without one that of the event.
    pub agent: Option<AgentId>,
    /// What is looked for in its transcript; empty for nothing.
    pub word: String,
}

/// A session to be read, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionPlace {
    pub session: String,
    pub place: EventPlace,
}

/// What the saved sessions are listed for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionsFor {
    Choosing,
    /// To go on with the one whose name begins with this.
    Named(String),
    /// To choose one of the places where these words are found.
    Holding(String),
}

/// What the program goes on with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Switch {
    Resume {
        session: String,
        /// The directory that it works in; empty when that is not known.
        directory: String,
    },
    /// A new session, from just before a message of this one.
    Branch {
        message: MessageId,
        text: String,
        /// What becomes of the files that tools changed since.
        files: BranchFiles,
    },
}

impl Switch {
    /// Lets the files of a branch go back too.
    #[must_use]
    pub fn with_files(self) -> Self {
        match self {
            Self::Branch { message, text, .. } => Self::Branch { message, text, files: BranchFiles::GoBack },
            Self::Resume { .. } => self,
        }
    }
}

/// What becomes of the files that tools changed since the message before which a branch begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BranchFiles {
    Stay,
    /// They get back what they held then.
    GoBack,
}
