//! What a message of the status line is about: it goes when that does, whatever of its time is left.

/// The number of one question of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct QuestionId(u64);

impl QuestionId {
    /// Makes the id of the question with this number, from 1.
    pub fn new(number: u64) -> Self {
        Self(number)
    }

    /// Returns the number by which an answer can name it.
    pub fn number(self) -> u64 {
        self.0
    }
}

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
    /// The message holds something else than a draft.
    NoDraft,
    /// An Esc that did nothing else.
    Escape,
    /// A turn runs.
    Turn,
    /// No turn runs.
    NoTurn,
    /// Nothing is pending.
    NothingPending,
}
