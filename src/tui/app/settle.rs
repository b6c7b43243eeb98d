//! Takes a message of the status line back as soon as its cause is over.

use super::App;
use crate::tui::state::{Cause, Medium, QuestionId};

impl App {
    /// Returns the cause of a message about the question that is asked now; `None` when there is none.
    pub fn about_question(&self, cause: fn(QuestionId) -> Cause) -> Option<Cause> {
        self.questions.current_id().map(cause)
    }

    /// Takes the message of the status line back whose cause is gone. What is written in lines stays written.
    pub fn settle_message(&mut self) {
        let is_over = self.status.cause().is_some_and(|cause| !self.lasts(cause));
        if is_over && self.facts.medium == Medium::Screen {
            self.status.quiet();
        }
    }

    fn lasts(&self, cause: &Cause) -> bool {
        let asked = self.questions.current_id();
        match cause {
            Cause::Question(id) => asked == Some(*id),
            Cause::Unread(id) => asked == Some(*id) && !self.questions.is_read(),
            Cause::Unselected(id) => asked == Some(*id) && self.questions.selected().is_none(),
            Cause::Message(text) => self.message.text() == *text,
            Cause::NoDraft => !self.message.is_draft(),
            Cause::Escape => self.message.is_empty(),
            Cause::Turn => self.facts.run.is_busy(),
            Cause::NoTurn => !self.facts.run.is_busy(),
            Cause::NothingPending => self.facts.run.pending.is_empty(),
        }
    }
}
