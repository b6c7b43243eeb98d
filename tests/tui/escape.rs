//! Esc: the hint line says what it will do, and it does exactly that.

use steersman_base::event::Outcome;
use steersman_base::protocol::Request;
use steersman_tui::app::escape::{Escape, next_escape};
use steersman_tui::help::Help;
use steersman_tui::ledger::LedgerPane;
use steersman_tui::msg::Effect;
use steersman_tui::state::Pane;

use super::pending_list::{queue, waiting};
use crate::support::stage::Stage;

/// Milliseconds after which an Esc behind another one counts for itself.
const QUIET: i64 = 350;

/// Presses Esc, a while after the one before, after checking that the screen announces it with these words.
fn escape(stage: &mut Stage, words: &str) {
    stage.wait(QUIET);
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
fn a_stop_gives_the_texts_of_all_agents_back_and_none_goes_to_another_agent_by_that() {
    let mut stage = super::pending_list::crew(120, 36);
    stage.keys("for main<enter>").keys("<f3><down><enter>for the child<enter>draft");
    assert_eq!(next_escape(&stage.app), Escape::Ask("main and 1 agent".to_owned()));
    escape(&mut stage, "Esc twice: stops main and 1 agent");
    assert_eq!(next_escape(&stage.app), Escape::Stop("main and 1 agent".to_owned(), 2));
    escape(&mut stage, "Esc: stops main and 1 agent, 2 pending come back");
    assert_eq!(stage.app.message.text(), "for the child\n\ndraft");
    assert!(stage.screen().contains("1 text is for another agent: Ctrl+_ brings it back"), "{}", stage.screen());
    stage.keys("<f3>u");
    assert_eq!(stage.app.message.text(), "@main for main\n\nfor the child\n\ndraft");
    assert!(stage.app.ui.run.pending.is_empty());
    assert!(stage.handle.agent_controls().dismiss(&"file_miner 0".into()).is_empty(), "nothing comes back twice");
}

fn stops(stage: &Stage) -> usize {
    stage
        .effects
        .iter()
        .filter(|effect| matches!(effect, Effect::Request(Request::Stop | Request::StopJob { .. })))
        .count()
}

/// Everything that an Esc closes or gives up, by the keys that open it.
const CLOSED: [&str; 13] = [
    "<f1>", "<f4>", "<f1><f4>", "/he", "<c-r>", "<f3>", "<f3>/x", "<f3>i", "<a-i>", "<c-o>", "<c-o>/x", "<c-o>v",
    "<f2>",
];

#[test]
fn an_esc_right_behind_one_that_closed_something_stops_nothing() {
    for open in CLOSED {
        let mut stage = waiting(&["one"]);
        stage.keys(open);
        let closed = next_escape(&stage.app);
        assert!(closed.gives_up() && !matches!(closed, Escape::TooSoon(_)), "{open}: {closed:?}");
        // The key is held, or pressed twice for the same.
        for _ in 0..6 {
            stage.keys("<esc>").wait(150);
        }
        assert_eq!(stops(&stage), 0, "{open}");
        // What is still open closes first; then it counts again.
        for _ in 0..4 {
            if stops(&stage) == 0 {
                stage.wait(QUIET).keys("<esc>");
            }
        }
        assert_eq!(stops(&stage), 1, "{open}");
    }
}

#[test]
fn the_moment_in_which_an_esc_stops_nothing_is_said_and_ends_by_itself() {
    let mut stage = waiting(&["one"]);
    stage.keys("<f1><esc>");
    assert!(stage.screen().contains("Esc: wait"), "{}", stage.screen());
    let due = stage.app.changes_at().expect("the hint changes by itself");
    assert!(due <= stage.app.ui.now + jiff::SignedDuration::from_millis(QUIET), "{due}");
    stage.wait(150).keys("<esc>");
    let screen = stage.screen();
    assert!(screen.contains("Esc again stops main") && !screen.contains("cancelled"), "{screen}");
    stage.wait(QUIET);
    assert!(stage.screen().contains("Esc: stops main"), "{}", stage.screen());
    stage.keys("<esc>");
    assert_eq!(stops(&stage), 1);
}

#[test]
fn with_sub_agents_at_work_the_first_esc_says_what_the_next_stops() {
    let mut stage = super::pending_list::crew(80, 24);
    stage.spawn("", "file_miner 1").spawn("", "file_miner 2");
    escape(&mut stage, "Esc twice: stops main and 3 agents");
    assert_eq!(stops(&stage), 0);
    insta::assert_snapshot!("esc_again", stage.picture());
    // It is said for a while only.
    stage.wait(60_000);
    escape(&mut stage, "Esc twice: stops main and 3 agents");
    escape(&mut stage, "Esc: stops main and 3 agents");
    assert_eq!(stops(&stage), 1);
}

#[test]
fn the_details_of_an_agent_close_by_esc() {
    let mut stage = super::pending_list::crew(80, 24);
    stage.keys("<f3><down>i");
    assert!(stage.app.shows_details());
    escape(&mut stage, "Esc: closes");
    assert!(!stage.app.shows_details() && stage.app.focus.pane == Pane::Tree, "{}", stage.screen());
    escape(&mut stage, "Esc: back");
    assert_eq!((stage.app.focus.pane, stops(&stage)), (Pane::Composer, 0));
    stage.keys("<a-i>");
    assert!(stage.app.focus.pane == Pane::Details);
    escape(&mut stage, "Esc: closes");
    assert!(!stage.app.shows_details() && stage.app.focus.pane == Pane::Composer, "{}", stage.screen());
}

#[test]
fn idle_ctrl_c_puts_nothing_into_the_message() {
    let mut stage = Stage::new(80, 24);
    // As the output of a command of the user waits: it goes with the next text and starts no turn.
    stage.keys("/note I ran ls in my own shell<enter>");
    assert_eq!(queue(&stage).len(), 1);
    stage.keys("<c-c>");
    assert_eq!((stops(&stage), stage.app.message.text().as_str(), queue(&stage).len()), (0, "", 1));
    assert!(stage.screen().contains("Ctrl+C again quits"), "{}", stage.screen());
    stage.wait(5_000).keys("<esc>");
    assert_eq!((stops(&stage), stage.app.message.text().as_str(), queue(&stage).len()), (0, "", 1));
    stage.keys("<c-c><c-c>");
    assert!(stage.effects.contains(&Effect::Quit));
}
