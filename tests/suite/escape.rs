//! Esc: the hint line says what it will do, and it does exactly that.

use steersman::event::Outcome;
use steersman::protocol::Request;
use steersman::tui::app::escape::{Escape, next_escape};
use steersman::tui::help::Help;
use steersman::tui::ledger::LedgerPane;
use steersman::tui::msg::Effect;
use steersman::tui::state::Pane;

use super::pending_list::{queue, waiting};
use crate::support::stage::Stage;

/// Presses Esc after checking that the screen announces it with these words.
fn escape(stage: &mut Stage, words: &str) {
    let screen = stage.screen();
    assert!(screen.contains(words), "{words:?} is not on the screen:\n{screen}");
    stage.keys("<esc>");
}

#[test]
fn each_esc_does_what_the_screen_said_before_it() {
    let mut stage = waiting(&["one", "two"]);
    stage.keys("<f2>e<f1>");
    escape(&mut stage, "Esc closes");
    assert!(stage.app.focus.overlays.is_empty() && stage.app.message.editing().is_some());
    escape(&mut stage, "Esc leaves it as it was");
    assert!(stage.app.message.editing().is_none());
    stage.keys("<f2>");
    escape(&mut stage, "Esc: back to the message");
    assert_eq!(stage.app.focus.pane, Pane::Composer);
    escape(&mut stage, "Esc: stops main, 2 pending come back");
    assert_eq!(stage.effects.iter().filter(|effect| **effect == Effect::Request(Request::Stop)).count(), 1);
    assert_eq!(stage.app.message.text(), "one\n\ntwo");
    stage.turn_ended("", Outcome::Cancelled, None);
    let before = stage.effects.len();
    assert!(!stage.screen().contains("Esc"), "what does nothing is not offered\n{}", stage.screen());
    stage.keys("<esc>");
    assert_eq!(stage.effects.len(), before);
}

#[test]
fn what_lies_over_another_overlay_gives_the_keys_back_to_it() {
    let mut stage = Stage::new(80, 24);
    stage.keys("<f4><f1>");
    assert!(stage.app.focus.overlays.is_on::<Help>());
    escape(&mut stage, "Esc closes");
    assert!(stage.app.focus.overlays.is_on::<LedgerPane>(), "{}", stage.screen());
    stage.keys("<f1><f4>");
    assert!(stage.app.focus.overlays.is_on::<LedgerPane>(), "opened again, it lies on top");
    stage.keys("<f4>");
    assert!(stage.app.focus.overlays.is_on::<Help>());
    stage.keys("<esc>");
    assert!(stage.app.focus.overlays.is_empty());
}

#[test]
fn without_a_turn_it_takes_pending_texts_back() {
    let mut stage = Stage::new(80, 24);
    stage.keys("one<enter>");
    escape(&mut stage, "Esc: the pending text comes back");
    assert_eq!((queue(&stage).len(), stage.app.message.text().as_str()), (0, "one"));
}

#[test]
fn on_the_narrowest_rule_the_words_about_esc_are_what_stays() {
    for (width, words) in
        [(120, "Esc: stops main, 3 pending come back"), (56, "Esc: stops"), (34, "Esc: stops"), (20, "Esc: stops")]
    {
        let mut stage = waiting(&["one", "two", "three"]);
        let screen = stage.resize(width, 20).screen();
        assert!(screen.contains(words), "{screen}");
    }
}

#[test]
fn a_stop_gives_the_texts_of_all_agents_back_in_the_order_of_the_list() {
    let mut stage = super::pending_list::crew(120, 36);
    stage.keys("for main<enter>").keys("<c-t><down><enter>for the child<enter>draft");
    assert_eq!(next_escape(&stage.app), Escape::Stop("main".to_owned(), 2));
    escape(&mut stage, "Esc: stops main, 2 pending come back");
    assert_eq!(stage.app.message.text(), "for main\n\nfor the child\n\ndraft");
    assert!(stage.app.facts.run.pending.is_empty());
    assert!(stage.handle.crew().dismiss(&"file_miner 0".into()).is_empty(), "nothing comes back twice");
}
