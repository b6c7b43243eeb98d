//! The mouse: a click goes where it points, the wheel scrolls what lies under the pointer, nothing is decided by it.

use crossterm::event::{MouseButton, MouseEventKind};
use steersman_base::protocol::Request;
use steersman_tui::msg::Effect;
use steersman_tui::state::Grip;
use steersman_tui::state::Pane;
use steersman_tui::state::Region;
use steersman_tui::transcript::cell::Expansion;

use crate::support::stage::Stage;
use crate::tui_shell::scene;

/// A finished turn with a call that printed many lines, and a long answer.
fn long(width: u16, height: u16) -> Stage {
    let mut stage = Stage::new(width, height);
    stage.turn("").call("", "c1", "read");
    stage.result("", "c1", "first line\nsecond line\nthird line");
    let text: String = (0..80).map(|line| format!("Line {line} of the answer.\n\n")).collect();
    stage.says("", &text);
    stage
}

#[test]
fn a_click_on_an_agent_shows_it_and_gives_the_tree_the_focus() {
    let mut stage = scene(120, 36);
    stage.click_on("file_miner 1");
    assert_eq!(stage.app.tree.selected().as_str(), "file_miner 1");
    assert_eq!(stage.app.focus.pane, Pane::Tree);
    assert!(stage.screen().contains("The sources are in src."));
}

#[test]
fn a_click_on_the_head_of_a_call_opens_it_and_another_folds_it() {
    let mut stage = long(80, 24);
    stage.keys("<c-home>");
    let fold = |stage: &Stage| stage.app.reader().unwrap().transcript.cells().get(0).unwrap().expansion();
    let head = stage.place_of("read");
    stage.click(head);
    assert_eq!((fold(&stage), stage.app.focus.pane), (Expansion::Expanded, Pane::Transcript));
    assert!(stage.screen().contains("second line"));
    stage.click_on("second line");
    assert_eq!(fold(&stage), Expansion::Expanded, "only its head folds it");
    stage.click(head);
    assert_eq!(fold(&stage), Expansion::Collapsed);
}

#[test]
fn a_drag_over_text_is_known_from_its_first_to_its_last_place_and_folds_nothing() {
    let mut stage = long(80, 24);
    stage.keys("<c-home>");
    let (x, y) = stage.place_of("read");
    let answer = stage.place_of("Line 0 of");
    stage.mouse(MouseEventKind::Down(MouseButton::Left), (x, y));
    stage.mouse(MouseEventKind::Drag(MouseButton::Left), (answer.0 + 5, answer.1));
    let Some(Grip::Text { from, to, .. }) = stage.app.pointer.grip.clone() else { panic!("nothing is held") };
    assert_eq!((from.cell.index(), to.cell.index(), to.column), (0, 1, 5));
    stage.mouse(MouseEventKind::Up(MouseButton::Left), (answer.0 + 5, answer.1));
    assert_eq!(stage.app.reader().unwrap().transcript.cells().get(0).unwrap().expansion(), Expansion::Collapsed);
    assert_eq!(stage.app.pointer.grip, None);
}

#[test]
fn the_wheel_scrolls_what_it_points_at_and_leaves_the_focus() {
    let mut stage = long(120, 36);
    stage.keys("a draft");
    let end = stage.screen();
    let place = stage.place_of("Line 79");
    stage.mouse(MouseEventKind::ScrollUp, place);
    let up = stage.screen();
    assert!(up.contains("3 lines below"), "{up}");
    stage.mouse(MouseEventKind::ScrollDown, place);
    assert_eq!(stage.screen(), end);
    assert_eq!(stage.app.focus.pane, Pane::Composer);
    assert!(stage.keys("<f1>").screen().contains("Commands, at the start"));
    stage.mouse(MouseEventKind::ScrollDown, (60, 10));
    assert!(!stage.screen().contains("Commands, at the start"), "help has scrolled");
    stage.mouse(MouseEventKind::ScrollUp, (60, 10));
    assert!(stage.screen().contains("Commands, at the start"));
}

#[test]
fn a_click_in_the_message_puts_the_cursor_there() {
    let mut stage = Stage::new(80, 24);
    stage.keys("one two<f3>");
    let (x, y) = stage.place_of("two");
    stage.click((x, y)).keys("and ");
    assert_eq!(stage.app.message.text(), "one and two");
}

#[test]
fn the_wheel_goes_through_a_long_message_and_leaves_a_short_one_as_it_is() {
    let mut stage = Stage::new(80, 24);
    stage.paste("one\ntwo\nthree").keys("<up>");
    let place = stage.place_of("two");
    let before = stage.screen();
    for _ in 0..5 {
        stage.mouse(MouseEventKind::ScrollDown, place);
        assert_eq!(stage.screen(), before);
    }
    // A long paste would be one chip.
    stage.keys("<c-c>").keys(&(0..40).map(|line| format!("{line}<c-j>")).collect::<String>());
    let place = stage.place_of("› ");
    for _ in 0..60 {
        stage.mouse(MouseEventKind::ScrollUp, place);
    }
    assert!(stage.screen().contains("› 0"), "{}", stage.screen());
    for _ in 0..60 {
        stage.mouse(MouseEventKind::ScrollDown, place);
    }
    assert!(stage.screen().contains("  39"), "{}", stage.screen());
}

#[test]
fn a_click_selects_a_pending_text_and_changes_nothing() {
    let mut stage = scene(120, 36);
    let before = stage.effects.len();
    stage.click_on("focus on the tests");
    assert_eq!(stage.app.focus.pane, Pane::Pending);
    assert_eq!(
        stage.app.pending.selected(&stage.app.ui.run.pending).map(|entry| entry.message.text.as_str()),
        Some("focus on the tests")
    );
    assert_eq!(stage.effects.len(), before);
}

#[test]
fn a_click_takes_an_offer() {
    let mut stage = Stage::new(80, 24);
    stage.keys("/th").click_on("/theme [NAME]");
    assert_eq!(stage.app.message.text(), "/theme ");
}

#[test]
fn a_click_beside_an_overlay_closes_it_and_meets_nothing_behind_it() {
    let mut stage = scene(120, 36);
    stage.keys("<f1>").screen();
    stage.click((60, 18));
    assert!(stage.screen().contains("Help: "));
    stage.click((0, 0));
    assert!(!stage.screen().contains("Help: "));
    assert_eq!(stage.app.focus.pane, Pane::Composer);
}

#[test]
fn no_click_answers_a_question() {
    let mut stage = Stage::new(80, 24);
    stage.keys("<f9>").screen();
    stage.wait(10_000).screen();
    let area = stage.app.regions.area_of(&Region::Question).unwrap();
    for place in area.positions() {
        stage.click((place.x, place.y));
    }
    assert_eq!(stage.effects, []);
    assert_eq!(stage.app.questions.len(), 1);
    stage.keys("<a-y>");
    assert_eq!(stage.effects, [Effect::Request(Request::Reset)], "and its keys still count");
}

#[test]
fn no_event_of_the_mouse_at_any_place_and_size_does_harm() {
    for (width, height) in [(120, 36), (80, 24), (34, 10), (20, 5), (1, 1), (0, 0)] {
        let mut stage = scene(width, height);
        stage.screen();
        let before = stage.effects.len();
        for y in 0..=height {
            for x in (0..=width).step_by(3) {
                for kind in [MouseEventKind::ScrollUp, MouseEventKind::ScrollDown, MouseEventKind::Moved] {
                    stage.mouse(kind, (x, y));
                }
                stage.click((x, y));
                stage.mouse(MouseEventKind::Drag(MouseButton::Left), (width - x.min(width), height - y));
                stage.click((x, y));
            }
            stage.screen();
        }
        assert_eq!(stage.effects.len(), before, "a click sends nothing, stops nothing");
    }
}
