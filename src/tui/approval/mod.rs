//! Questions to the user: approvals that tools wait for, and what the program itself asks.
//!
//! # Where things are
//!
//! - the queue of questions, and when a key may answer one: `state.rs`; tests: `questions.rs`, `tests/pty/questions.rs`
//! - what is asked, and what the keys do: `ask.rs`, `update.rs`; tests: `approval_popups/mod.rs`,
//!   `approval_popups/composer.rs`, `tests/pty/approvals.rs`, `undo.rs`
//! - how a question is drawn: `view.rs`, `src/tui/widgets/exact.rs`; what it asks in words:
//!   `src/session/model/approval_text.rs`; tests: `approval_popups/mod.rs`,
//!   `approval_popups/display.rs`, `untrusted.rs`

mod ask;
mod state;
mod update;
pub mod view;

pub use ask::{
    ask_about_conversation, ask_about_job, ask_about_requests, ask_about_rule, ask_about_stale, ask_about_undo,
    undo_parts,
};
pub use state::{AnswerChoices, Question, QuestionSubject, Questions, Rewind, ShownQuestion, Unarmed};
pub use update::{
    MessageUse, answer, carry_out, choose, fill_form, form_fields, give, lone_answer, no_with_words, not_answered,
    rules, undone,
};
