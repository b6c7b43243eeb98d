//! What a key removed comes back: from anywhere, newest first, and never twice.

use steersman_base::limits;
use steersman_tui::message::removed::{Removed, RemovedTexts};

use super::pending_list::{queue, said, waiting};

#[test]
fn the_newest_removal_comes_back_first() {
    let mut stage = waiting(&["one", "two", "three"]);
    stage.keys("<f2><home>dd");
    assert_eq!(queue(&stage), ["three"]);
    stage.keys("u");
    assert_eq!(queue(&stage), ["two", "three"]);
    stage.keys("u");
    assert_eq!(queue(&stage), ["one", "two", "three"]);
    stage.keys("u");
    assert_eq!(said(&stage), "nothing to undo");
}

#[test]
fn in_the_message_its_own_newer_edits_are_undone_first() {
    let mut stage = waiting(&["one"]);
    stage.keys("older <f2>d<esc>newer");
    stage.keys("<c-_>");
    assert_eq!((stage.app.message.text().as_str(), queue(&stage).len()), ("older ", 0));
    stage.keys("<c-_>");
    assert_eq!((stage.app.message.text().as_str(), queue(&stage)), ("older ", vec!["one".to_owned()]));
    stage.keys("<c-_>");
    assert_eq!(stage.app.message.text(), "");
}

#[test]
fn a_cleared_draft_comes_back_from_every_pane() {
    for pane in ["", "<f3>", "<c-o>", "<f2>"] {
        let mut stage = waiting(&["one"]);
        stage.keys("a draft<c-c>").keys(pane).keys("<c-_>");
        assert_eq!(stage.app.message.text(), "a draft", "{pane}");
        assert_eq!(queue(&stage), ["one"]);
    }
}

#[test]
fn u_is_a_letter_in_the_message_and_brings_back_elsewhere() {
    let mut stage = waiting(&["one"]);
    stage.keys("<f2>d<esc>u");
    assert_eq!((stage.app.message.text().as_str(), queue(&stage).len()), ("u", 0));
    stage.keys("<f3>u");
    assert_eq!((stage.app.message.text().as_str(), queue(&stage).len()), ("u", 1));
}

#[test]
fn a_text_that_was_taken_back_returns_to_the_list_unless_it_was_changed() {
    let mut stage = waiting(&["one", "two"]);
    stage.keys("draft<a-up>");
    assert_eq!(stage.app.message.text(), "two\n\ndraft");
    stage.keys("<c-_>");
    assert_eq!((stage.app.message.text().as_str(), queue(&stage)), ("draft", vec!["one".to_owned(), "two".to_owned()]));
    stage.keys("<a-up><c-home>").keys("<up><up><home>x").keys("<f3>u");
    assert_eq!((stage.app.message.text().as_str(), queue(&stage)), ("xtwo\n\ndraft", vec!["one".to_owned()]));
}

#[test]
fn undo_never_takes_a_text_away_that_came_back() {
    let mut stage = waiting(&["one"]);
    stage.keys("draft<esc>");
    assert_eq!(stage.app.message.text(), "one\n\ndraft");
    stage.keys("<c-_>");
    assert_eq!(stage.app.message.text(), "one\n\ndraft");
}

#[test]
fn a_removal_between_delivery_and_the_key_is_told_and_leaves_nothing_to_bring_back() {
    let mut stage = waiting(&["one"]);
    stage.keys("<f2>");
    stage.handle.interloper().drain();
    stage.keys("du");
    assert_eq!((queue(&stage).len(), said(&stage).as_str()), (0, "nothing to undo"));
}

#[test]
fn an_edit_that_was_cleared_comes_back_as_an_edit_and_never_beside_its_text() {
    let mut stage = waiting(&["one"]);
    stage.keys("<f2>e better<c-c><c-_>").wait(2_000);
    assert_eq!(stage.app.message.text(), "one better");
    stage.keys("<c-c><esc><c-_>");
    assert_eq!((stage.app.message.text().as_str(), stage.app.message.editing().is_some()), ("one better", true));
    stage.wait(2_000).keys("<enter>");
    assert_eq!((queue(&stage), stage.app.message.is_empty()), (vec!["one better".to_owned()], true));
}

#[test]
fn of_two_texts_for_one_entry_neither_is_lost_when_they_change_places() {
    let mut stage = waiting(&["one"]);
    stage.keys("<f2>e<c-c>two<enter>").keys("<f2>e").keys("<f3>u");
    assert_eq!((stage.app.message.text().as_str(), queue(&stage)), ("one", vec!["two".to_owned()]));
    stage.keys("<f3>u");
    assert_eq!((stage.app.message.text().as_str(), said(&stage).as_str()), ("one", "nothing to undo"));
}

#[test]
fn a_full_stack_forgets_the_oldest_alone() {
    let mut removed = RemovedTexts::default();
    for number in 0..limits::REMOVED_TEXTS + 2 {
        removed.push(Removed::Draft(number.to_string()), "");
    }
    assert_eq!(removed.entries().len(), limits::REMOVED_TEXTS);
    for number in (2..limits::REMOVED_TEXTS + 2).rev() {
        assert_eq!(removed.pop(), Some(Removed::Draft(number.to_string())));
    }
    assert_eq!(removed.pop(), None);
}
