//! Tests of two sessions side by side: where they part, and what each did from there.

use steersman_base::event::Outcome;
use steersman_exchange::compare::{Comparison, compare};
use steersman_session::journal::SessionFile;

use crate::support::saved::Saved;

fn compared(files: &[SessionFile; 2]) -> Comparison {
    let [first, second] = files.each_ref().map(|file| file.read().unwrap().records);
    compare(&first, &second)
}

#[test]
fn they_part_where_something_else_was_said_and_only_what_follows_counts() {
    let saved = Saved::new();
    let comparison = compared(&saved.two_that_part());
    assert_eq!((comparison.shared_messages, comparison.shared_calls), (1, 1));
    assert_eq!(comparison.last_shared.as_deref(), Some("find the parser"));
    let [first, second] = &comparison.sides;
    assert_eq!((first.first_message.as_deref(), first.messages), (Some("now the lexer"), 1));
    assert_eq!((second.calls.len(), second.files[0].path.as_str(), second.tokens), (1, "tests/all.rs", 1_210));
    assert_eq!((first.outcome, first.answer.as_deref()), (Some(Outcome::Completed), Some("The lexer is written.")));
}

#[test]
fn a_session_and_its_copy_part_at_their_end_and_strangers_at_their_beginning() {
    let saved = Saved::new();
    let [first, second] = saved.two_that_part();
    let same = compared(&[first.clone(), first.clone()]);
    assert_eq!((same.shared_messages, same.sides[0].messages, same.sides[1].calls.len()), (2, 0, 0));
    let other = saved.usual();
    let none = compared(&[second, other]);
    assert_eq!((none.shared_messages, none.last_shared), (0, None));
    assert_eq!(none.sides[0].messages, 2);
}
