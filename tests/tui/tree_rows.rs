//! What the rows of the agent tree show, at every size: states, figures, sums, details.

use std::sync::Arc;

use steersman_base::event::{Event, Outcome, Usage};
use steersman_base::message::{Arguments, ToolCall};
use steersman_session::model::agents::AgentStatus;

use crate::support::stage::Stage;

/// A crew of which each does something else.
pub fn crew(width: u16, height: u16) -> Stage {
    let mut stage = Stage::new(width, height);
    stage.turn("").event("", Event::ContextCap { tokens: Some(131_072) });
    stage.tokens("", 40_000, 2_000).call("", "a", "agent").wait(2_000);
    stage.spawn("", "researcher 0").turn("researcher 0");
    stage.spawn("researcher 0", "file_miner 0").turn("file_miner 0");
    stage.spawn("researcher 0", "file_miner 1").turn("file_miner 1");
    stage.tokens("researcher 0", 9_000, 300).call("researcher 0", "b", "bash").wait(5_000);
    stage.tokens("file_miner 0", 3_000, 100);
    for second in 0..8 {
        for _ in 0..1 << second {
            stage.says("file_miner 0", "word ");
        }
        stage.wait(1_000);
    }
    let call = ToolCall { id: "r".into(), name: "read".to_owned(), arguments: Arguments::parse("{}") };
    stage.event("file_miner 1", Event::Paused { call: Some(call) });
    stage.spawn("", "researcher 1").turn("researcher 1").tokens("researcher 1", 2_000, 50);
    let message = Some("HTTP 401: no such key".to_owned());
    stage.event("", Event::AgentFinished { child: "researcher 1".into(), outcome: Outcome::Failed, message });
    stage.spawn("", "file_miner 2").finished("", "file_miner 2", Outcome::Cancelled);
    stage.spawn("", "researcher 2").turn("researcher 2").finished("", "researcher 2", Outcome::Synthesized);
    stage.spawn("", "file_miner 3").turn("file_miner 3");
    let question = "Run it?".to_owned();
    stage.event(
        "file_miner 3",
        Event::Question { id: "q1".to_owned(), question, detail: None, call: None, offer: None, rule: None },
    );
    stage.spawn("", "file_miner 4").finished("", "file_miner 4", Outcome::Completed);
    stage
}

fn row_of(screen: &str, name: &str) -> String {
    screen.lines().find(|row| row.contains(name)).unwrap_or_else(|| panic!("{name} in\n{screen}")).to_owned()
}

#[test]
fn the_tree_at_four_sizes() {
    for (width, height) in [(120, 40), (80, 24), (56, 20), (34, 10)] {
        let mut stage = crew(width, height);
        insta::assert_snapshot!(format!("tree_{width}x{height}"), stage.picture());
        stage.keys("<f3><down>");
        insta::assert_snapshot!(format!("tree_focused_{width}x{height}"), stage.picture());
    }
}

#[test]
fn the_details_of_an_agent_at_four_sizes() {
    for (width, height) in [(120, 40), (80, 24), (56, 20), (34, 10)] {
        let mut stage = crew(width, height);
        stage.keys("<f3><down><down>i");
        insta::assert_snapshot!(format!("tree_details_{width}x{height}"), stage.picture());
    }
}

#[test]
fn details_open_and_fold_and_say_why_an_agent_failed() {
    let mut stage = crew(120, 40);
    stage.keys("<f3><end><up><up><up><up>");
    assert_eq!(stage.app.tree.selected().as_str(), "researcher 1");
    assert!(!stage.screen().contains("HTTP 401"), "folded");
    let screen = stage.keys("i").screen();
    for words in ["HTTP 401: no such key", "Look at the sources.", "file_miner", "qwen3-35b", "read", "0 of 30 steps"] {
        assert!(screen.contains(words), "{words} in\n{screen}");
    }
    assert!(!stage.keys("i").screen().contains("HTTP 401"));
}

#[test]
fn the_row_of_an_agent_counts_its_own_tokens_and_the_tree_those_beneath_it_too() {
    let mut stage = crew(90, 30);
    let screen = stage.screen();
    let row = row_of(&screen, "researcher 0");
    assert!(row.contains("9.3k tok"), "{row}");
    let totals = *stage.app.ui.run.agents.get(&"researcher 0".into()).unwrap().totals();
    assert_eq!((totals.agents, totals.running, totals.paused, totals.tokens), (3, 3, 1, 9_300 + 3_100));
    assert_eq!(stage.app.ui.run.agents.conversation().tokens(), 42_000 + 9_300 + 3_100 + 2_050);
}

#[test]
fn what_a_server_says_that_a_round_cost_is_summed_and_marked_where_it_is_not_all() {
    let mut stage = Stage::new(120, 40);
    stage.turn("").spawn("", "a").turn("a");
    let cost = |nanos| Event::Tokens(Usage { input: Some(10), cost_nanos: nanos, ..Usage::default() });
    stage.event("a", cost(Some(120_000_000)));
    assert!(stage.keys("<f3>i").screen().contains("$0.12"), "{}", stage.screen());
    assert!(!stage.screen().contains("$0.12+"));
    stage.event("", cost(None));
    assert!(stage.screen().contains("$0.12+"));
}

#[test]
fn a_tool_is_named_with_the_time_that_it_runs() {
    let mut stage = Stage::new(80, 24);
    stage.turn("").spawn("", "a").turn("a").call("a", "1", "bash").wait(41_000);
    assert!(row_of(&stage.screen(), "─ ● a").contains("bash 0:41"));
    stage.call("a", "2", "a_tool_with_a_very_long_name");
    let row = row_of(&stage.screen(), "─ ● a");
    assert!(row.contains("… 0:41"), "the time is never cut off: {row}");
}

#[test]
fn a_question_makes_its_agent_ask_until_it_is_answered() {
    let mut stage = crew(120, 40);
    assert_eq!(stage.app.ui.run.agents.get(&"file_miner 3".into()).unwrap().status(), AgentStatus::Asking);
    let answer = Event::Answer { id: "q1".to_owned(), answer: "yes".to_owned(), words: None };
    stage.event("file_miner 3", answer);
    assert_eq!(stage.app.ui.run.agents.get(&"file_miner 3".into()).unwrap().status(), AgentStatus::Waiting);
}

#[test]
fn an_agent_that_is_let_go_is_not_paused_any_more() {
    let mut stage = crew(120, 40);
    assert_eq!(stage.app.ui.run.agents.get(&"file_miner 1".into()).unwrap().status(), AgentStatus::Paused);
    stage.event("file_miner 1", Event::Resumed { decision: steersman_base::event::Decided::Run });
    assert_eq!(stage.app.ui.run.agents.get(&"file_miner 1".into()).unwrap().status(), AgentStatus::Waiting);
}

#[test]
fn an_agent_has_one_row_with_its_mark_name_work_time_and_tokens() {
    let mut stage = crew(120, 40);
    let screen = stage.screen();
    let rows: Vec<&str> = screen.lines().skip(1).take(9).collect();
    for (row, words) in rows.iter().zip([
        &["● main", "agent 0:15"][..],
        &["● researcher 0", "bash 0:13", "9.3k tok"],
        &["✎ file_miner 0", "writing", "3.1k tok"],
        &["‖ file_miner 1", "paused"],
        &["✗ researcher 1", "failed", "2.1k tok"],
        &["■ file_miner 2", "cancelled"],
        &["⊘ researcher 2", "step limit"],
        &["? file_miner 3", "! asks you", "0:00"],
        &["✓ file_miner 4", "done"],
    ]) {
        assert!(words.iter().all(|word| row.contains(word)), "{words:?} in\n{screen}");
    }
    assert!(!screen.contains(['▰', '▱', '━', '▁', '▃']), "nothing there has to be guessed\n{screen}");
}

#[test]
fn the_details_and_help_say_what_each_sign_means() {
    let mut stage = Stage::new(120, 500);
    stage.turn("");
    let help = stage.keys("<f1>").screen();
    for state in AgentStatus::ALL {
        assert!(help.contains(state.meaning()), "{state:?}\n{help}");
    }
    for sign in ["Signs in the tree", "! reason", "9.3k tok", "Σ", "+2 done"] {
        assert!(help.contains(sign), "{sign}\n{help}");
    }
    let mut stage = crew(120, 40);
    stage.keys("<f3><down>i");
    for words in ["● runs tools", "✎ the model writes", "‖ you paused it", "✗ failed"] {
        assert!(stage.screen().contains(words), "{words}\n{}", stage.screen());
        stage.keys("<down>");
    }
}

#[test]
fn agents_that_come_move_nothing_of_what_is_read() {
    for (width, height) in [(160, 40), (120, 36), (80, 24)] {
        let mut stage = Stage::new(width, height);
        stage.turn("").says("", &format!("{}\n\n", "A sentence of some length. ".repeat(20)).repeat(40));
        stage.screen();
        stage.keys("<pgup>").screen();
        let before = stage.screen();
        for child in ["a", "b", "c"] {
            stage.spawn("", child).turn(child);
        }
        let after = stage.screen();
        let text = |screen: &str| screen.lines().skip(1).take(10).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(text(&before), text(&after), "{width}x{height}\n{after}");
        assert!(after.contains("4 of 4 running"), "they are counted\n{after}");
        assert!(!after.contains("○ a"), "{after}");
        stage.keys("<c-end>").screen();
        stage.wait(1);
        assert!(stage.screen().contains("○ a"), "{}", stage.screen());
    }
}

#[test]
fn a_very_deep_tree_keeps_names_in_view() {
    let mut stage = Stage::new(60, 24);
    stage.turn("");
    let mut parent = String::new();
    for depth in 0..40 {
        let child = format!("deep {depth}");
        stage.spawn(&parent, &child);
        parent = child;
    }
    stage.keys("<f3><end>");
    assert!(stage.screen().contains("deep 39"), "{}", stage.screen());
}

#[test]
fn a_name_that_breaks_the_line_is_made_visible() {
    let mut stage = Stage::new(80, 24);
    stage.turn("").spawn("", "evil\u{1b}[2J\nname").turn("evil\u{1b}[2J\nname");
    stage.call("evil\u{1b}[2J\nname", "1", "to\u{7}ol");
    let screen = stage.screen();
    assert!(!screen.contains('\u{1b}') && !screen.contains('\u{7}'), "{screen}");
}

#[test]
fn the_rows_are_laid_out_for_a_picture_and_not_for_each_agent_that_comes() {
    for agents in [2_000, 8_000] {
        let mut stage = Stage::new(80, 24);
        stage.turn("");
        stage.screen();
        let before = stage.app.tree.rows(&stage.app.ui.run.agents);
        let mut parent = String::new();
        for number in 0..agents {
            let child = format!("miner {number}");
            stage.spawn(&parent, &child);
            parent = child;
        }
        // Rows that are laid out anew take the place of these.
        assert_eq!((Arc::strong_count(&before), before.len()), (2, 1), "with {agents} agents");
        stage.screen();
        assert_eq!(Arc::strong_count(&before), 1);
        assert_eq!(stage.app.tree.rows(&stage.app.ui.run.agents).len(), agents + 1);
    }
}
