//! What waits to be notified: the end of a turn, a question, an agent that waits.
//!
//! The end of a turn is notified a moment later, and only if no other has begun: a pending message starts the next at once.

use jiff::Timestamp;

use crate::tui::state::cause::QuestionId;

/// When the user is notified.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AlertWhen {
    /// While the terminal has said that it has lost the focus.
    #[default]
    Away,
    /// Always, also where the terminal does not report the focus.
    Always,
    /// Never.
    Never,
}

/// Whether the terminal has the focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attention {
    /// It has it: the screen is being looked at.
    Here,
    /// It has lost it.
    Away,
}

/// The notifications that wait, and whether anybody looks.
#[derive(Debug, Default)]
pub struct Alerts {
    /// When the user is notified.
    pub when: AlertWhen,
    /// Whether the terminal has the focus; `None` as long as it has not said so.
    pub attention: Option<Attention>,
    /// The end of a turn, to be notified at this moment.
    ended: Option<(Timestamp, String)>,
    raised: Option<String>,
    asked: Option<QuestionId>,
}

impl Alerts {
    /// Returns whether the user wants notifications now.
    pub fn is_on(&self) -> bool {
        match self.when {
            AlertWhen::Always => true,
            AlertWhen::Away => self.attention == Some(Attention::Away),
            AlertWhen::Never => false,
        }
    }

    /// Notes that a turn has ended; it is notified at this moment unless another begins before.
    pub fn turn_ended(&mut self, at: Timestamp, words: String) {
        self.ended = Some((at, words));
    }

    /// Notes that a turn has begun.
    pub fn turn_began(&mut self) {
        self.ended = None;
    }

    /// Notes something that is notified at once.
    pub fn raise(&mut self, words: String) {
        self.raised = Some(words);
    }

    /// Returns whether this question is another one than the one before, and remembers it.
    pub fn is_new(&mut self, question: Option<QuestionId>) -> bool {
        let is_new = question.is_some() && question != self.asked;
        self.asked = question;
        is_new
    }

    /// Returns when there is something to notify.
    pub fn due_at(&self) -> Option<Timestamp> {
        self.ended.as_ref().map(|(at, _)| *at)
    }

    /// Takes what is to be notified now.
    pub fn take(&mut self, now: Timestamp) -> Option<String> {
        let ended = self.ended.take_if(|(at, _)| *at <= now).map(|(_, words)| words);
        self.raised.take().or(ended)
    }
}
