//! What a message of the status line is about: it goes when that does, whatever of its time is left.

use super::question::QuestionId;

/// The cause of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// This question is asked.
    Question(QuestionId),
    /// The end of this question was not on the screen yet.
    Unread(QuestionId),
    /// No answer of this question is selected.
    Unselected(QuestionId),
    /// The message holds exactly this text.
    Message(String),
    /// The message holds some text.
    SomeMessage,
    /// The message holds something else than a draft.
    NoDraft,
    /// A turn runs.
    Turn,
    /// No turn runs.
    NoTurn,
    /// Nothing is pending.
    NothingPending,
}
