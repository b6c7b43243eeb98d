//! What the program goes on with when the screen closes for something else than the end (another session, or a branch),
//! and what is chosen for that.
//!
//! Chosen on the screen, carried out by the program when the run has ended and its journal is closed.

use crate::id::MessageId;

/// What is chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ChoiceSubject {
    /// A session to go on with.
    #[default]
    Session,
    /// A message of the user, to branch from just before it.
    Message,
    /// An MCP server, to start it.
    Server,
}

/// One thing that can be chosen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// The name of the session or of the server, or the id of the message.
    pub id: String,
    /// The directory of a session.
    pub directory: String,
    /// What it is about (untrusted).
    pub title: String,
    /// When, where and how much (untrusted).
    pub facts: String,
    /// The beginning of what it holds (untrusted).
    pub preview: String,
}

/// What the saved sessions are listed for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionsFor {
    /// To choose one.
    Choosing,
    /// To go on with the one whose name begins with this.
    Named(String),
}

/// What the program goes on with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Switch {
    /// Another session.
    Resume {
        /// Its name.
        session: String,
        /// The directory that it works in; empty when that is not known.
        directory: String,
    },
    /// A new session, from just before a message of this one.
    Branch {
        /// The message.
        message: MessageId,
        /// Its text, to be edited.
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
    /// They stay as they are.
    Stay,
    /// They get back what they held then.
    GoBack,
}
