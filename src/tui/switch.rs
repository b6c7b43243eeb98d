//! What the program goes on with when the screen closes for something else than the end: another session, or a branch.
//!
//! Chosen on the screen, carried out by the program when the run has ended and its journal is closed.

use crate::id::MessageId;

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
