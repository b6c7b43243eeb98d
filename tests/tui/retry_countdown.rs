//! The wait before the next attempt on the screen: it counts down by the clock, says how it is ended, and costs nothing
//! when it is over.

use jiff::Timestamp;
use steersman_base::event::{Event, Outcome};
use steersman_base::protocol::Request;
use steersman_tui::msg::Effect;

use crate::support::stage::Stage;

fn retrying(attempt: u32, after_ms: u64) -> Event {
    Event::Retrying { attempt, after_ms, reason: "the server answered 503: overloaded".to_owned() }
}

fn state(stage: &mut Stage) -> String {
    let screen = stage.screen();
    screen.lines().find(|line| line.contains("↻ attempt")).unwrap_or_else(|| panic!("no wait in {screen}")).to_owned()
}

#[test]
fn the_wait_counts_down_second_by_second_and_says_that_esc_stops() {
    let mut stage = Stage::new(100, 24);
    stage.turn("").event("", retrying(2, 3_200));
    assert!(state(&mut stage).contains("↻ attempt 2 in 0:04, Esc stops: the server answered 503: overloaded"));
    for (wait, shown) in [(300, "in 0:03"), (1_000, "in 0:02"), (1_000, "in 0:01"), (1_000, "now,"), (60_000, "now,")] {
        stage.wait(wait);
        let told = state(&mut stage);
        assert!(told.contains(&format!("attempt 2 {shown}")), "{told}");
    }
    stage.event("", retrying(3, 60_000));
    assert!(state(&mut stage).contains("attempt 3 in 1:00"));
    stage.says("", "Here");
    assert!(!stage.screen().contains('↻'));
}

#[test]
fn while_it_waits_the_clock_wakes_once_a_second_and_afterwards_not_at_all() {
    let mut stage = Stage::new(100, 24);
    let start: Timestamp = stage.app.ui.now;
    stage.turn("").event("", retrying(2, 30_000));
    let next = stage.app.changes_at().unwrap();
    assert_eq!(next.duration_since(start).as_millis(), 1_000);
    stage.wait(2_500);
    assert_eq!(stage.app.changes_at().unwrap().duration_since(start).as_millis(), 3_000);
    stage.turn_ended("", Outcome::Failed, Some("the server answered 503: overloaded"));
    assert_eq!(stage.app.changes_at(), None, "nothing moves any more");
}

#[test]
fn escape_ends_the_wait() {
    let mut stage = Stage::new(100, 24);
    stage.turn("").event("", retrying(2, 30_000)).keys("<esc>");
    assert_eq!(stage.effects, [Effect::Request(Request::Stop)]);
    assert!(stage.screen().contains("■ stopping"));
}

#[test]
fn a_wait_beyond_all_reason_is_no_fault() {
    for after_ms in [0, u64::MAX] {
        let mut stage = Stage::new(60, 12);
        stage.turn("").event("", retrying(2, after_ms)).wait(1_000);
        assert!(state(&mut stage).contains("attempt 2 "));
    }
}

#[test]
fn the_wait_at_three_sizes() {
    for (width, height) in [(120, 36), (80, 24), (40, 12)] {
        let mut stage = Stage::new(width, height);
        stage.turn("").event("", retrying(2, 12_000)).wait(4_000);
        insta::assert_snapshot!(format!("wait_{width}x{height}"), stage.picture());
    }
}
