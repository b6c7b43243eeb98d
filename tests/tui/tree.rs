//! The agent tree: who there is, what each does, what it has used.

use steersman_base::event::{Event, Outcome};

use steersman_tui::state::Pane;

use crate::support::stage::Stage;

fn ids(stage: &Stage) -> Vec<(String, usize)> {
    let agents = &stage.app.ui.run.agents;
    let rows = stage.app.tree.rows(agents);
    rows.rows.iter().map(|row| (agents.nodes()[row.agent].id.to_string(), row.depth)).collect()
}

fn row(stage: &mut Stage, name: &str) -> String {
    let screen = stage.resize(80, 24).screen();
    screen.lines().find(|row| row.contains(name)).unwrap_or_else(|| panic!("{name} in\n{screen}")).to_owned()
}

#[test]
fn agents_stand_behind_their_parents_and_never_move() {
    let mut stage = Stage::new(120, 36);
    stage.turn("").spawn("", "researcher 0").spawn("", "file_miner 0");
    stage.spawn("researcher 0", "researcher 0_synthesizer").spawn("", "researcher 1");
    let order =
        [("", 0), ("researcher 0", 1), ("researcher 0_synthesizer", 2), ("file_miner 0", 1), ("researcher 1", 1)];
    assert_eq!(ids(&stage), order.map(|(id, depth)| (id.to_owned(), depth)));
    stage.finished("", "researcher 0", Outcome::Completed);
    assert_eq!(ids(&stage), order.map(|(id, depth)| (id.to_owned(), depth)));
}

#[test]
fn an_agent_that_was_never_announced_appears_beneath_its_parent() {
    let mut stage = Stage::new(120, 36);
    stage.says("stranger", "hello");
    assert_eq!(ids(&stage), [(String::new(), 0), ("stranger".to_owned(), 1)]);
}

#[test]
fn every_state_has_a_word_and_a_mark() {
    let mut stage = Stage::new(80, 24);
    stage.spawn("", "a").spawn("", "b");
    assert!(row(&mut stage, "main").contains("· main"));
    stage.turn("a");
    assert!(row(&mut stage, "├─").contains("○ a") && row(&mut stage, "├─").contains("model …"));
    stage.event("a", Event::ThinkingDelta { text: "hm".to_owned() });
    assert!(row(&mut stage, "├─").contains("◌ a") && row(&mut stage, "├─").contains("thinking"));
    stage.says("a", "so");
    assert!(row(&mut stage, "├─").contains("✎ a") && row(&mut stage, "├─").contains("writing"));
    stage.event("a", Event::Retrying { attempt: 2, after_ms: 500, reason: "429".to_owned() });
    assert!(row(&mut stage, "├─").contains("retrying"));
    stage.call("a", "1", "grep").call("a", "2", "grep").call("a", "3", "read");
    assert!(row(&mut stage, "├─").contains("● a") && row(&mut stage, "├─").contains("grep ×2"));
    stage.result("a", "1", "x").result("a", "2", "x");
    assert!(row(&mut stage, "├─").contains(" read 0:00"));
    stage.result("a", "3", "x");
    assert!(row(&mut stage, "├─").contains("model …"));
    stage.finished("", "a", Outcome::Completed).finished("", "b", Outcome::Failed);
    assert!(row(&mut stage, "├─").contains("✓ a") && row(&mut stage, "├─").contains("done"));
    assert!(row(&mut stage, "└─").contains("✗ b") && row(&mut stage, "└─").contains("failed"));
    stage.spawn("", "c").finished("", "c", Outcome::Cancelled);
    assert!(row(&mut stage, "└─").contains("■ c") && row(&mut stage, "└─").contains("cancelled"));
}

#[test]
fn tokens_and_time_are_counted_per_turn_and_round() {
    let mut stage = Stage::new(80, 24);
    stage.turn("").spawn("", "miner").turn("miner");
    stage.tokens("miner", 900, 100).call("miner", "1", "read").call("miner", "2", "read").wait(65_000);
    let shown = row(&mut stage, "miner");
    assert!(shown.contains("1.0k tok") && shown.contains("1:05"), "{shown}");
    stage.finished("", "miner", Outcome::Completed).wait(20_000);
    assert!(row(&mut stage, "miner").contains("1:05"));
    assert_eq!(stage.app.ui.run.agents.conversation().tokens(), 1_000);
}

#[test]
fn the_end_of_a_turn_ends_everything_beneath_it() {
    let mut stage = Stage::new(80, 24);
    stage.turn("").spawn("", "a").turn("a").call("a", "1", "grep");
    stage.turn_ended("", Outcome::Cancelled, None);
    assert_eq!(stage.app.ui.run.agents.running(), 0);
    // The row of what ended folds away once; then nothing changes by itself any more.
    assert!(stage.app.changes_at().is_some());
    stage.wait(30_000);
    assert_eq!(stage.app.changes_at(), None);
}

#[test]
fn selecting_an_agent_shows_its_transcript() {
    let mut stage = Stage::new(120, 36);
    stage.turn("").says("", "words of the main agent").spawn("", "miner").turn("miner");
    stage.says("miner", "words of the miner");
    assert!(stage.screen().contains("words of the main agent"));
    stage.keys("<f3><down>");
    let screen = stage.screen();
    assert!(screen.contains("words of the miner") && !screen.contains("words of the main agent"), "{screen}");
    stage.keys("<down><down><up>");
    assert!(stage.app.tree.selected().is_main());
    stage.keys("<end><enter>typed");
    assert!(stage.screen().contains("words of the miner"));
    assert_eq!(stage.app.message.text(), "typed");
}

#[test]
fn a_long_tree_keeps_the_selected_agent_in_view() {
    let mut stage = Stage::new(120, 20);
    stage.turn("");
    for index in 0..40 {
        stage.spawn("", &format!("miner {index}"));
    }
    stage.keys("<f3><end>");
    assert!(stage.screen().contains("miner 39"));
    stage.keys("<up><up>");
    assert!(stage.screen().contains("miner 37"));
    stage.keys("<home>");
    assert!(stage.screen().contains("› ● main") || stage.screen().contains("›○ main"), "{}", stage.screen());
}

#[test]
fn letters_that_are_keys_of_the_list_become_text_when_the_next_one_is_none() {
    for (text, at) in
        [("keep the tests", "a 0"), ("just do it", ""), ("instead of that", "b 0"), ("hello", "b 0"), ("use it", "a 0")]
    {
        let mut stage = Stage::new(80, 24);
        stage.turn("").spawn("", "a 0").turn("a 0").spawn("", "b 0").turn("b 0");
        stage.keys("<f3><home>");
        for _ in 0..["", "a 0", "b 0"].iter().position(|id| *id == at).unwrap() {
            stage.keys("<down>");
        }
        for letter in text.chars() {
            stage.wait(120).keys(&letter.to_string());
        }
        assert_eq!(stage.app.message.text(), text);
        assert_eq!(stage.app.tree.selected().as_str(), at, "{text}");
        assert_eq!(stage.app.focus.pane, Pane::Composer);
    }
}

#[test]
fn letters_with_a_pause_behind_them_stay_keys_of_the_list() {
    let mut stage = Stage::new(80, 24);
    stage.turn("").spawn("", "a 0").turn("a 0").spawn("", "b 0").turn("b 0").keys("<f3><home>");
    stage.wait(100).keys("j").wait(100).keys("j").wait(2_000).keys("e").wait(100).keys("p");
    assert_eq!(stage.app.message.text(), "ep");
    assert_eq!(stage.app.tree.selected().as_str(), "b 0");
}
