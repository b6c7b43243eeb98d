//! Questions to the user: approvals that tools wait for, and what the program itself asks.
//!
//! # Where things are
//!
//! - the queue of questions, and when a key may answer one: `state.rs`; tests: `questions.rs`, `tests/pty/questions.rs`
//! - what is asked, and what the keys do: `ask.rs`, `update.rs`; words of an answer: `in_message.rs`; tests: `approval_popups/mod.rs`,
//!   `approval_popups/composer.rs`, `tests/pty/approvals.rs`, `undo.rs`
//! - what an agent asks, and the questions that were put off: `agent_question.rs`; tests: `agent_questions.rs`
//! - how a question is drawn: `view.rs`, `src/tui/widgets/exact.rs`; what it asks in words:
//!   `src/session/model/approval_text.rs`; tests: `approval_popups/mod.rs`,
//!   `approval_popups/display.rs`, `untrusted.rs`

mod agent_question;
mod ask;
mod in_message;
mod state;
mod update;
pub mod view;

pub use agent_question::{ANSWER_COMMAND, QUESTIONS_COMMAND};
pub use ask::{ask, ask_about_conversation, ask_about_requests, ask_about_stale, ask_to_stop};
pub use in_message::{
    answer, answered, choose, message_use, send_answer, settle_quit, snapshot, type_digit, write_answer,
};
pub use state::{AnswerChoices, NumberedAnswer, Question, QuestionSubject, Questions, Rewind, ShownQuestion, Unarmed};
pub use update::{
    MessageUse, carry_out, give, lone_answer, mode, mode_set, no_such_answer, not_answered, seems_answer,
};
