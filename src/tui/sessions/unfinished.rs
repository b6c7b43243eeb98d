//! The question about what an earlier process of the session left.
//!
//! Called once, when the session is resumed. One question is about all texts, so that one key decides.

use crate::protocol::Unfinished;
use crate::tui::state::approval::Part;
use crate::tui::state::question::{Question, Subject};

/// Returns the question; `None` when no text waits.
pub fn question(left: &Unfinished) -> Option<Question> {
    let ids: Vec<_> = left.pending.iter().map(|entry| entry.id.clone()).collect();
    let sentence = left.sentence().filter(|_| !ids.is_empty())?;
    Some(Question {
        agent: None,
        subject: Subject::Unfinished(ids),
        title: format!("{sentence}: continue, edit or discard?"),
        detail: left.pending.iter().map(|entry| Part::Text(entry.text.clone())).collect(),
        session: String::new(),
        rule: None,
    })
}
