//! The pending list as a list: what each key does with an entry, and what the screen says when the agent was first.

use steersman::event::{Delivery, Event, Pending};
use steersman::tui::state::focus::Pane;

use crate::support::stage::Stage;

/// A running turn with these texts pending for the main agent.
pub fn waiting(texts: &[&str]) -> Stage {
    let mut stage = Stage::new(120, 36);
    stage.keys("start<enter>");
    let taken = stage.take_turn();
    stage.turn("").deliver(&taken, false).call("", "c1", "bash");
    for text in texts {
        stage.keys(text).keys("<enter>");
    }
    stage
}

pub fn queue(stage: &Stage) -> Vec<String> {
    stage.handle.interloper().peek()
}

fn entries(stage: &Stage) -> Vec<Pending> {
    stage.handle.interloper().entries()
}

fn said(stage: &Stage) -> String {
    stage.app.status.message(stage.app.now).unwrap_or_default().to_owned()
}

#[test]
fn the_middle_one_of_three_is_deleted_and_brought_back_to_its_place() {
    let mut stage = waiting(&["one", "two", "three"]);
    stage.keys("<f2>kd");
    assert_eq!(queue(&stage), ["one", "three"]);
    assert_eq!(said(&stage), "m3 is deleted; u or Ctrl+_ brings it back");
    stage.keys("u");
    assert_eq!(queue(&stage), ["one", "two", "three"]);
    assert_eq!(said(&stage), "m3 is back in its place");
}

#[test]
fn an_edit_keeps_the_entry_from_being_delivered_and_puts_the_new_text_in_its_old_place() {
    let mut stage = waiting(&["one", "two", "three"]);
    stage.keys("draft").keys("<f2>k<enter>");
    assert_eq!(stage.app.composer.text(), "two");
    assert!(entries(&stage)[1].held);
    let taken = stage.drain();
    assert_eq!(taken.iter().map(|entry| entry.text.as_str()).collect::<Vec<_>>(), ["one", "three"]);
    stage.keys(" better<enter>");
    assert_eq!(queue(&stage), ["two better"]);
    assert!(!entries(&stage)[0].held);
    assert_eq!((stage.app.composer.text().as_str(), stage.app.focus.pane), ("draft", Pane::Composer));
}

#[test]
fn an_edit_that_is_left_changes_nothing_and_what_was_written_comes_back() {
    let mut stage = waiting(&["one"]);
    stage.keys("draft").keys("<f2>e better<esc>");
    assert_eq!((queue(&stage), stage.app.composer.text().as_str()), (vec!["one".to_owned()], "draft"));
    assert!(!entries(&stage)[0].held);
    stage.keys("<c-_>");
    assert_eq!(stage.app.composer.text(), "one better");
    stage.keys("<enter>");
    assert_eq!((queue(&stage), stage.app.composer.text().as_str()), (vec!["one better".to_owned()], "draft"));
}

#[test]
fn what_was_delivered_before_the_key_is_not_touched_and_the_screen_says_so() {
    for (key, sentence) in [
        ("d", "m2 was delivered before it could be deleted"),
        ("e", "m2 was delivered before it could be edited"),
        ("J", "m2 was delivered before it could be moved"),
        ("f", "m2 was delivered before it could be made a follow-up"),
        ("<f5>", "m2 was delivered before it could be delivered now"),
        ("m", "m2 was delivered before it could be joined with the next"),
    ] {
        let mut stage = waiting(&["one", "two"]);
        stage.keys("<f2>k");
        let taken = stage.handle.interloper().drain();
        assert_eq!(taken.len(), 2);
        stage.keys(key);
        assert_eq!(said(&stage), sentence);
        assert!(queue(&stage).is_empty());
    }
}

#[test]
fn f5_delivers_the_selected_entry_or_the_draft_now() {
    let mut stage = waiting(&["one", "two"]);
    stage.keys("<f2>k<f5>");
    assert_eq!(entries(&stage)[0].delivery, Delivery::Now);
    stage.keys("<esc>").keys("three<f5>");
    assert_eq!(stage.sent().last().unwrap(), &("three".to_owned(), Delivery::Now));
}

#[test]
fn texts_of_an_ended_agent_come_back_before_the_draft_once() {
    let mut stage = waiting(&[]);
    stage.spawn("", "file_miner 0").turn("file_miner 0");
    let cancellable = stage.handle.cancellable().child();
    stage.handle.crew().enroll(&"file_miner 0".into(), &cancellable);
    stage.keys("<c-t><down><enter>look here<enter>").keys("draft");
    let entries = stage.handle.crew().dismiss(&"file_miner 0".into());
    assert_eq!(entries.len(), 1);
    stage.event("file_miner 0", Event::Returned { entries });
    assert_eq!(stage.app.composer.text(), "look here\n\ndraft");
    assert!(stage.app.pending.is_empty());
    assert_eq!(said(&stage), "file_miner 0 has ended: m2 is back in the message");
}
