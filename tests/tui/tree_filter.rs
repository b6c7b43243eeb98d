//! The filter of the agent tree: typed, kept, cleared; what matches is shown with its ancestors.

use steersman_base::event::{Event, Outcome};
use steersman_tui::msg::Msg;
use steersman_tui::state::Pane;

use crate::support::stage::Stage;
use crate::tree_rows::crew;

fn rows(stage: &Stage) -> Vec<String> {
    let agents = &stage.app.ui.run.agents;
    let rows = stage.app.tree.rows(agents);
    rows.rows.iter().map(|row| agents.nodes()[row.agent].id.to_string()).collect()
}

#[test]
fn typing_narrows_the_tree_to_what_matches_and_its_ancestors() {
    let mut stage = crew(120, 40);
    stage.keys("<f3>/miner 1");
    assert_eq!(rows(&stage), ["", "researcher 0", "file_miner 1"]);
    stage.keys("<bs>0");
    assert_eq!(rows(&stage), ["", "researcher 0", "file_miner 0"]);
    assert!(stage.screen().contains("/miner 0"), "{}", stage.screen());
    assert!(stage.app.message.is_empty());
}

#[test]
fn a_state_and_a_task_are_found_too() {
    let mut stage = crew(120, 40);
    stage.keys("<f3>/failed");
    assert_eq!(rows(&stage), ["", "researcher 1"]);
    stage.keys("<c-u>bash");
    assert_eq!(rows(&stage), ["", "researcher 0"]);
    stage.keys("<c-u>SOURCES paused");
    assert_eq!(rows(&stage), ["", "researcher 0", "file_miner 1"]);
}

#[test]
fn the_rows_follow_the_states_while_a_filter_is_kept() {
    let mut stage = Stage::new(120, 40);
    stage.turn("").spawn("", "a").spawn("", "b").turn("a").turn("b");
    stage.keys("<f3>/writing<enter>");
    assert_eq!(rows(&stage), [""]);
    stage.says("b", "so");
    assert_eq!(rows(&stage), ["", "b"]);
    stage.event("b", Event::ThinkingDelta { text: "hm".to_owned() });
    assert_eq!(rows(&stage), [""]);
}

#[test]
fn escape_clears_the_filter_first_and_leaves_the_tree_then() {
    let mut stage = crew(120, 40);
    stage.keys("<f3>/miner<esc>");
    assert!(!stage.app.tree.filter().is_active() && stage.app.focus.pane == Pane::Tree);
    stage.keys("/miner<enter>");
    assert!(stage.app.tree.filter().is_active() && stage.app.focus.pane == Pane::Tree);
    stage.keys("<esc>");
    assert!(!stage.app.tree.filter().is_active() && stage.app.focus.pane == Pane::Tree);
    stage.keys("<esc>");
    assert_eq!(stage.app.focus.pane, Pane::Composer);
    assert_eq!(stage.effects, []);
}

#[test]
fn the_selection_stays_while_a_filter_is_typed_and_enter_goes_to_the_first_match() {
    let mut stage = crew(120, 40);
    stage.keys("<f3><end>");
    assert_eq!(stage.app.tree.selected().as_str(), "file_miner 4");
    stage.keys("/researcher");
    assert_eq!(stage.app.tree.selected().as_str(), "file_miner 4");
    assert_eq!(rows(&stage), ["", "researcher 0", "researcher 1", "researcher 2", "file_miner 4"]);
    stage.keys("<enter>");
    assert_eq!(stage.app.tree.selected().as_str(), "researcher 0");
    assert_eq!(rows(&stage), ["", "researcher 0", "researcher 1", "researcher 2"]);
    stage.keys("<esc>");
    assert_eq!(stage.app.tree.selected().as_str(), "researcher 0");
}

#[test]
fn a_filter_looks_into_folds_and_clearing_it_keeps_the_selected_agent_in_view() {
    let mut stage = crew(120, 40);
    stage.keys("<f3><down> ");
    assert!(!rows(&stage).contains(&"file_miner 1".to_owned()));
    stage.keys("/miner 1<enter><esc>");
    assert_eq!(stage.app.tree.selected().as_str(), "file_miner 1");
    assert!(rows(&stage).contains(&"file_miner 1".to_owned()));
    assert!(stage.screen().contains("› │  └─ ‖ file_miner 1") || stage.screen().contains("file_miner 1"));
}

#[test]
fn what_folded_away_is_found_again() {
    let mut stage = crew(120, 40);
    stage.finished("researcher 0", "file_miner 0", Outcome::Completed).wait(40_000);
    assert!(!rows(&stage).contains(&"file_miner 0".to_owned()));
    stage.keys("<f3>/miner 0");
    assert_eq!(rows(&stage), ["", "researcher 0", "file_miner 0"]);
}

#[test]
fn a_paste_goes_into_the_filter_and_never_sends() {
    let mut stage = crew(120, 40);
    stage.keys("<f3>/").paste("miner\n1");
    assert_eq!(stage.app.tree.filter().text(), "miner 1");
    let now = stage.app.ui.now;
    stage.keys("<c-u>").tell(Msg::Typed("researcher".to_owned(), now));
    assert_eq!(stage.app.tree.filter().text(), "researcher");
    assert!(stage.app.message.is_empty());
}

#[test]
fn the_filter_at_four_sizes() {
    for (width, height) in [(120, 40), (80, 24), (56, 20), (34, 10)] {
        let mut stage = crew(width, height);
        stage.keys("<f3>/miner");
        insta::assert_snapshot!(format!("tree_filter_{width}x{height}"), stage.picture());
    }
}
