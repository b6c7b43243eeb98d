//! What is worth a look: each reason on its row, `!` goes from one to the next, time alone brings some of them.

use steersman_base::event::{Event, Outcome, Pending};
use steersman_base::message::{Arguments, ToolCall};
use steersman_base::protocol::Update;
use steersman_session::model::agents::Warning;
use steersman_tui::msg::Msg;

use crate::support::stage::Stage;

fn warnings(stage: &Stage, agent: &str) -> Vec<Warning> {
    stage.app.ui.run.agents.get(&agent.into()).unwrap().warnings.clone()
}

fn pair(width: u16, height: u16) -> Stage {
    let mut stage = Stage::new(width, height);
    stage.turn("").call("", "m", "agent").spawn("", "a").turn("a").spawn("", "b").turn("b");
    stage
}

fn call_with(stage: &mut Stage, id: &str, arguments: &str) {
    let call = Event::ToolCall { id: id.into(), name: "grep".to_owned(), arguments: Arguments::parse(arguments) };
    stage.event("a", call).result("a", id, "x");
}

#[test]
fn the_same_call_three_times_in_a_row_is_told_until_another_comes() {
    let mut stage = pair(120, 40);
    call_with(&mut stage, "1", r#"{"a":1}"#);
    call_with(&mut stage, "2", r#"{"a":2}"#);
    call_with(&mut stage, "3", r#"{"a":2}"#);
    assert_eq!(warnings(&stage, "a"), []);
    call_with(&mut stage, "4", r#"{"a":2}"#);
    assert_eq!(warnings(&stage, "a"), [Warning::Repeats { tool: "grep".to_owned(), times: 3 }]);
    assert!(stage.screen().contains("same grep ×3") || stage.screen().contains("same call of grep, 3 times"));
    call_with(&mut stage, "5", r#"{"a":1}"#);
    assert_eq!(warnings(&stage, "a"), []);
}

#[test]
fn silence_of_the_model_is_told_by_time_alone_and_ends_with_the_next_token() {
    let mut stage = pair(120, 40);
    stage.wait(59_000);
    assert_eq!(warnings(&stage, "a"), []);
    stage.wait(1_000);
    let since = stage.app.ui.now - jiff::SignedDuration::from_secs(60);
    assert_eq!(warnings(&stage, "a"), [Warning::Silent { since }]);
    assert!(stage.screen().contains("! no token for 1:00"), "{}", stage.screen());
    stage.says("a", "so");
    assert_eq!(warnings(&stage, "a"), []);
    assert_eq!(warnings(&stage, ""), [], "the main agent is in a tool");
}

#[test]
fn silence_of_a_main_agent_without_others_is_said_in_the_status_line() {
    let mut stage = Stage::new(80, 24);
    stage.turn("");
    stage.says("", "so");
    stage.wait(61_000);
    assert!(stage.screen().contains("✎ writing 1:01 · ! no token for 1:01"), "{}", stage.screen());
    stage.says("", " far");
    assert!(!stage.screen().contains("no token for"), "{}", stage.screen());
}

#[test]
fn the_time_of_a_running_call_does_not_contain_the_wait_for_an_answer() {
    let mut stage = Stage::new(80, 24);
    stage.turn("").call("", "c", "bash").later(2_000);
    let question = |id: &str| Event::Question {
        id: id.to_owned(),
        question: "Run it?".to_owned(),
        detail: None,
        call: Some("c".into()),
        offer: None,
        rule: None,
    };
    stage.event("", question("q1")).wait(60_000);
    stage.event("", Event::Answer { id: "q1".to_owned(), answer: "yes".to_owned(), words: None }).wait(3_000);
    assert!(stage.screen().contains("● running bash 0:05"), "{}", stage.screen());
}

#[test]
fn nobody_is_silent_while_paused_in_a_tool_or_asking() {
    let mut stage = pair(120, 40);
    let call = ToolCall { id: "r".into(), name: "read".to_owned(), arguments: Arguments::parse("{}") };
    stage.event("a", Event::Paused { call: Some(call) });
    stage.event(
        "b",
        Event::Question {
            id: "q".to_owned(),
            question: "Sure?".to_owned(),
            detail: None,
            call: None,
            offer: None,
            rule: None,
        },
    );
    stage.wait(100_000);
    assert_eq!(warnings(&stage, "a"), []);
    assert_eq!(warnings(&stage, "b"), [Warning::Asking]);
    stage.event("a", Event::Resumed { decision: steersman_base::event::Decided::Run }).wait(30_000);
    assert_eq!(warnings(&stage, "a"), [], "its time counts from there");
}

#[test]
fn time_is_noticed_even_when_events_come_all_the_time() {
    let mut stage = pair(120, 40);
    for _ in 0..700 {
        // No tick: only events of another agent carry the time.
        stage.later(100).says("b", "x");
    }
    assert!(matches!(warnings(&stage, "a")[..], [Warning::Silent { .. }]));
}

#[test]
fn a_tool_slower_than_nearly_all_its_calls_is_told_once_there_are_twenty() {
    let mut stage = pair(120, 40);
    for call in 0..20 {
        assert_eq!(warnings(&stage, "b"), []);
        call_with(&mut stage, &format!("c{call}"), &format!("[{call}]"));
    }
    let start = stage.app.ui.now;
    stage.call("b", "slow", "grep").wait(1_000);
    assert_eq!(warnings(&stage, "b"), []);
    stage.wait(1_000);
    assert_eq!(warnings(&stage, "b"), [Warning::Slow { tool: "grep".to_owned(), since: start, usual_ms: 1_200 }]);
    assert!(stage.screen().contains("grep takes 0:02") || stage.screen().contains("slow grep 0:02"));
    stage.result("b", "slow", "x");
    assert_eq!(warnings(&stage, "b"), []);
}

#[test]
fn a_full_context_and_a_nearly_used_budget_are_told() {
    let mut stage = pair(120, 40);
    stage.event("a", Event::ContextCap { tokens: Some(1_000) }).tokens("a", 799, 0);
    assert_eq!(warnings(&stage, "a"), []);
    stage.tokens("a", 800, 0);
    assert_eq!(warnings(&stage, "a"), [Warning::Context { percent: 80 }]);
    stage.tokens("a", 860, 0);
    assert_eq!(warnings(&stage, "a"), [Warning::Context { percent: 86 }]);
    for step in 0..26 {
        stage.event(
            "b",
            Event::ToolCall { id: "x".into(), name: format!("tool {step}"), arguments: Arguments::parse("{}") },
        );
    }
    stage.result("b", "x", "");
    assert_eq!(warnings(&stage, "b"), [Warning::Budget { steps: 26, max: 30 }]);
}

#[test]
fn a_text_that_is_held_because_of_its_age_makes_its_agent_ask() {
    let mut stage = pair(120, 40);
    let at = stage.app.ui.now;
    let entry = |stale| Pending { held: stale, stale, ..Pending::new("m1".into(), "go", at) };
    stage.tell(Msg::Update(Update::Queues { queues: vec![("b".into(), vec![entry(true)])], paused: false }));
    assert_eq!(warnings(&stage, "b"), [Warning::Asking]);
    assert!(stage.screen().contains("? b"), "{}", stage.screen());
    stage.tell(Msg::Update(Update::Queues { queues: vec![("b".into(), vec![entry(false)])], paused: false }));
    assert_eq!(warnings(&stage, "b"), []);
}

#[test]
fn an_agent_that_has_ended_needs_no_look() {
    let mut stage = pair(120, 40);
    stage.event("a", Event::ContextCap { tokens: Some(1_000) }).tokens("a", 990, 0);
    assert_eq!(warnings(&stage, "a").len(), 1);
    stage.finished("", "a", Outcome::Completed);
    assert_eq!(warnings(&stage, "a"), []);
}

#[test]
fn the_jump_goes_around_in_the_order_of_the_rows_and_opens_folds() {
    let mut stage = Stage::new(120, 40);
    stage.turn("").spawn("", "a").spawn("", "b").spawn("a", "a1").spawn("", "c").turn("a1").turn("c");
    stage.keys("<f3>!");
    assert!(stage.screen().contains("no agent needs attention"), "{}", stage.screen());
    for agent in ["c", "a1"] {
        stage.event(
            agent,
            Event::Question {
                id: "q".to_owned(),
                question: "Sure?".to_owned(),
                detail: None,
                call: None,
                offer: None,
                rule: None,
            },
        );
    }
    stage.keys("<down> !");
    assert_eq!(stage.app.tree.selected().as_str(), "a1");
    assert!(stage.app.tree.rows(&stage.app.ui.run.agents).len() == 5, "its parent is open");
    stage.keys("!");
    assert_eq!(stage.app.tree.selected().as_str(), "c");
    stage.keys("!");
    assert_eq!(stage.app.tree.selected().as_str(), "a1");
    stage.keys("<c-o>!");
    assert_eq!(stage.app.tree.selected().as_str(), "c", "from the transcript too");
    stage.keys("<esc>!");
    assert_eq!(stage.app.message.text(), "!", "in the composer it is text");
}

#[test]
fn nothing_is_done_to_an_agent_because_of_a_lint() {
    let mut stage = pair(120, 40);
    stage.wait(600_000);
    assert_eq!(stage.effects, []);
    assert_eq!(stage.app.ui.run.agents.running(), 3);
}

#[test]
fn without_a_running_agent_time_brings_nothing() {
    let mut stage = pair(120, 40);
    stage.turn_ended("", Outcome::Completed, None).wait(30_000);
    assert_eq!(stage.app.changes_at(), None);
}

#[test]
fn warnings_at_four_sizes() {
    for (width, height) in [(120, 40), (80, 24), (56, 20), (34, 10)] {
        let mut stage = pair(width, height);
        stage.spawn("", "c").event("c", Event::ContextCap { tokens: Some(1_000) }).tokens("c", 860, 0);
        stage.event(
            "b",
            Event::Question {
                id: "q".to_owned(),
                question: "Sure?".to_owned(),
                detail: None,
                call: None,
                offer: None,
                rule: None,
            },
        );
        stage.says("c", "words").wait(75_000).says("c", "more").keys("<f3>!");
        insta::assert_snapshot!(format!("tree_warnings_{width}x{height}"), stage.picture());
    }
}
