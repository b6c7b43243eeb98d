//! When the user is told something who does not look at the screen: a turn has ended, something is asked, an agent waits.
//!
//! A turn that ends is told a moment later, and only if no other has begun: a pending message starts the next at once.

use jiff::Timestamp;

use super::cause::QuestionId;

/// When the user is told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum When {
    /// While the terminal has said that it has lost the focus.
    #[default]
    Away,
    /// Always, also where the terminal does not tell.
    Always,
    /// Never.
    Never,
}

/// What is to be told.
#[derive(Debug, Default)]
pub struct Alerts {
    /// When the user is told.
    pub when: When,
    /// The end of a turn, to be told at this moment.
    ended: Option<(Timestamp, String)>,
    raised: Option<String>,
    asked: Option<QuestionId>,
}

impl Alerts {
    /// Notes that a turn has ended; it is told at this moment unless another begins before.
    pub fn turn_ended(&mut self, at: Timestamp, words: String) {
        self.ended = Some((at, words));
    }

    /// Notes that a turn has begun.
    pub fn turn_began(&mut self) {
        self.ended = None;
    }

    /// Notes something that is told at once.
    pub fn raise(&mut self, words: String) {
        self.raised = Some(words);
    }

    /// Tells whether this question is another one than the one before, and remembers it.
    pub fn is_new(&mut self, question: Option<QuestionId>) -> bool {
        let is_new = question.is_some() && question != self.asked;
        self.asked = question;
        is_new
    }

    /// Returns when there is something to tell.
    pub fn due_at(&self) -> Option<Timestamp> {
        self.ended.as_ref().map(|(at, _)| *at)
    }

    /// Takes what is to be told now.
    pub fn take(&mut self, now: Timestamp) -> Option<String> {
        let ended = self.ended.take_if(|(at, _)| *at <= now).map(|(_, words)| words);
        self.raised.take().or(ended)
    }
}
