//! Texts that an ended agent gives back: they come unasked, so they must not get under the fingers of somebody who types.

use steersman_base::event::Event;

use crate::support::stage::Stage;

/// A turn with two sub-agents that can be written to.
fn crew() -> Stage {
    let mut stage = Stage::new(100, 24);
    stage.turn("");
    for child in ["file_miner 0", "file_miner 1"] {
        stage.call("", child, "agent").spawn("", child).turn(child);
        let cancellable = stage.handle.cancellable().child();
        stage.handle.agent_controls().enroll(&child.into(), &cancellable);
    }
    stage
}

fn end(stage: &mut Stage, child: &str) {
    let entries = stage.handle.agent_controls().dismiss(&child.into());
    stage.event(child, Event::Returned { entries });
}

fn said(stage: &Stage) -> String {
    stage.app.status.message(stage.app.ui.now).unwrap_or_default().to_owned()
}

#[test]
fn a_text_that_comes_back_while_keys_are_pressed_waits_for_the_key_that_brings_it_back() {
    let mut stage = crew();
    stage.keys("@file_miner 0 look here<enter>").keys("dra");
    end(&mut stage, "file_miner 0");
    stage.keys("ft");
    assert_eq!(stage.app.message.text(), "draft");
    assert_eq!(said(&stage), "file_miner 0 has ended: your text was not delivered; Ctrl+_ brings it back");
    stage.keys("<enter>");
    assert_eq!(stage.sent().last().unwrap().0, "draft");
    stage.keys("<f3>u");
    assert_eq!(stage.app.message.text(), "@file_miner 0 look here", "it is for no other agent");
}

#[test]
fn a_text_that_comes_back_beside_a_draft_stays_one_of_its_own_and_keeps_its_name() {
    let mut stage = crew();
    stage.keys("@file_miner 0 look here<enter>").keys("draft").wait(400);
    end(&mut stage, "file_miner 0");
    assert_eq!(stage.app.message.text(), "draft");
    stage.keys("<enter>");
    assert_eq!(stage.sent().last().unwrap().0, "draft");
    stage.wait(2_000).keys("<f3>u");
    assert_eq!(stage.app.message.text(), "@file_miner 0 look here");
}

#[test]
fn a_stop_names_whom_a_text_was_for_that_comes_back() {
    let mut stage = crew();
    stage.keys("@file_miner 0 look here<enter>").keys("<esc>").wait(400).keys("<esc>");
    assert_eq!(stage.app.message.text(), "@file_miner 0 look here");
    let mut stage = crew();
    stage.keys("@file_miner 0 look here<enter>go on<enter>").keys("<esc>").wait(400).keys("<esc>");
    assert_eq!(stage.app.message.text(), "go on", "{}", said(&stage));
    stage.keys("<c-u>").wait(2_000).keys("<f3>u");
    assert!(stage.app.message.text().contains("@file_miner 0 look here"), "{}", stage.app.message.text());
}

#[test]
fn a_text_that_is_taken_back_names_whom_it_was_for_and_goes_into_no_draft_for_another() {
    let mut stage = crew();
    stage.keys("@file_miner 0 look here<enter>").keys("<a-up>");
    assert_eq!(stage.app.message.text(), "@file_miner 0 look here");
    stage.keys("<enter>").wait(2_000);
    assert_eq!(stage.sent().last().unwrap().0, "look here");
    stage.keys("draft<a-up>");
    assert_eq!(stage.app.message.text(), "draft");
    assert!(said(&stage).contains("Ctrl+_ puts it back"), "{}", said(&stage));
}

#[test]
fn an_edited_text_whose_agent_ends_names_it_and_takes_no_draft_for_another_along() {
    let mut stage = crew();
    stage.keys("@file_miner 0 look here<enter>").keys("draft<f2>e").wait(400).keys(" now");
    end(&mut stage, "file_miner 0");
    assert_eq!(stage.app.message.text(), "@file_miner 0 look here now");
}

#[test]
fn a_text_that_comes_back_to_resting_hands_is_in_the_message() {
    let mut stage = crew();
    stage.keys("@file_miner 0 look here<enter>").wait(400);
    end(&mut stage, "file_miner 0");
    assert_eq!(stage.app.message.text(), "@file_miner 0 look here", "it is for no other agent");
}

#[test]
fn a_copy_that_one_of_all_did_not_take_does_not_come_back_while_others_have_the_text() {
    let mut stage = crew();
    stage.keys("@all be brief<enter>").wait(400);
    end(&mut stage, "file_miner 1");
    assert_eq!(stage.app.message.text(), "");
    assert_eq!(said(&stage), "file_miner 1 ended before it read this text; the others have it");
    let taken = stage.drain();
    stage.deliver(&taken, true);
    end(&mut stage, "file_miner 0");
    assert_eq!(stage.app.message.text(), "");
}

#[test]
fn the_last_copy_comes_back() {
    let mut stage = crew();
    stage.keys("@all be brief<enter>").wait(400);
    end(&mut stage, "file_miner 0");
    end(&mut stage, "file_miner 1");
    stage.keys("<esc>").wait(400).keys("<esc>");
    assert_eq!(stage.app.message.text(), "be brief");
}

#[test]
fn a_stop_gives_a_text_for_all_back_once() {
    let mut stage = crew();
    stage.keys("@all be brief<enter>").keys("<esc>").wait(400).keys("<esc>");
    assert_eq!(stage.app.message.text(), "be brief");
    assert!(stage.app.ui.run.pending.is_empty());
}

#[test]
fn a_note_that_comes_back_says_that_it_is_one_and_for_whom() {
    let mut stage = crew();
    stage.keys("/note @file_miner 0 look here<enter>").keys("dra");
    end(&mut stage, "file_miner 0");
    stage.keys("<enter>").wait(2_000).keys("<f3>u");
    assert_eq!(stage.app.message.text(), "/note @file_miner 0 look here");
}
