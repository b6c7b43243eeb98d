//! The rule above the message says before Enter is pressed what Enter will do.

use jiff::Timestamp;
use steersman_base::event::{Event, Outcome, Pending};
use steersman_base::id::AgentId;
use steersman_base::message::{Arguments, ToolCall};
use steersman_base::protocol::{Notice, Update};
use steersman_base::steering::AgentsGiveWay;
use steersman_tui::msg::Msg;
use steersman_tui::status::HostState;

use super::pending_list::crew;
use crate::support::stage::Stage;

/// Returns the rule of a wide screen.
fn rule(stage: &mut Stage) -> String {
    let screen = stage.resize(160, 40).screen();
    let rows: Vec<&str> = screen.lines().collect();
    rows[rows.len() - 4].to_owned()
}

fn says(stage: &mut Stage, words: &str) {
    let rule = rule(stage);
    assert!(rule.starts_with(&format!("── {words} ─")), "{words:?}: {rule}");
}

#[test]
fn a_shell_line_says_where_it_runs_and_who_gets_its_output() {
    let mut stage = Stage::new(160, 40);
    stage.keys("!git log");
    says(&mut stage, "→ runs in your own shell: main gets its output");
    stage.keys("<c-c>!!git log");
    says(&mut stage, "→ runs in your own shell: no agent gets its output");
    stage.turn("").keys("<c-c>!");
    says(&mut stage, "→ main, at the next tool boundary");
}

#[test]
fn through_a_turn_it_says_when_the_text_enters() {
    let mut stage = Stage::new(160, 40);
    stage.app.status.host = HostState::Starting;
    says(&mut stage, "→ as soon as the agent is ready");
    stage.app.status.host = HostState::Ready;
    says(&mut stage, "→ starts a turn");
    stage.turn("");
    says(&mut stage, "→ main, at the next tool boundary");
    stage.says("", "Let me see.");
    says(&mut stage, "→ main, after this answer, sooner if it calls a tool");
    stage.call("", "c1", "bash").wait(41_000);
    says(&mut stage, "→ main, after bash (running 0:41)");
    stage.call("", "c2", "grep");
    says(&mut stage, "→ main, after bash (running 0:41) and 1 more");
    stage.result("", "c1", "done").result("", "c2", "done");
    stage.event("", Event::Paused { call: None });
    says(&mut stage, "→ main runs one step");
    stage.keys("x");
    says(&mut stage, "→ main, paused: delivered when it goes on");
    stage.event("", Event::FallbackNotice { reason: "agent exhausted 3 steps".to_owned() });
    says(&mut stage, "→ main, next turn (final answer is being written)");
    stage.event("", Event::Cancelled {});
    says(&mut stage, "→ main, next turn (this one is being stopped)");
    stage.turn_ended("", Outcome::Cancelled, None);
    says(&mut stage, "→ starts a turn");
}

#[test]
fn a_call_that_waits_for_an_answer_is_not_said_to_run() {
    let mut stage = Stage::new(100, 20);
    stage.turn("").call("", "c1", "bash");
    let question = |id: &str| Event::Question {
        id: id.to_owned(),
        question: "Run this command?".to_owned(),
        detail: None,
        call: Some("c1".into()),
        offer: None,
        rule: None,
    };
    stage.event("", question("q"));
    says(&mut stage, "→ main, after bash (waits for you)");
    stage.event("", Event::Answer { id: "q".to_owned(), answer: "yes".to_owned(), words: None });
    says(&mut stage, "→ main, after bash (running 0:00)");
}

#[test]
fn of_a_held_agent_it_promises_only_what_enter_does() {
    let mut stage = Stage::new(160, 40);
    stage.turn("").event(
        "",
        Event::Paused {
            call: Some(ToolCall { id: "c1".into(), name: "bash".to_owned(), arguments: Arguments::parse("{}") }),
        },
    );
    says(&mut stage, "→ main runs one step");
    stage.keys("x");
    says(&mut stage, "→ main, paused: delivered after these calls");
    stage.keys("<bs><f9>").screen();
    says(&mut stage, "→ answer the question: 1 to 3, then Enter");
    let before = stage.effects.len();
    stage.keys("<enter>");
    assert_eq!(stage.effects.len(), before, "while a question is open Enter is for it");
    assert!(stage.screen().contains("answer the question: "));
}

#[test]
fn tab_is_offered_only_where_something_can_follow() {
    let mut stage = crew(160, 40);
    assert!(rule(&mut stage).contains("Tab after the turn"));
    stage.keys("<f3><down><enter>");
    let rule = rule(&mut stage);
    assert!(!rule.contains("Tab") && !rule.contains("F5 now"), "while tools run nothing is delivered at once: {rule}");
}

#[test]
fn it_names_the_child_whose_transcript_is_shown() {
    let mut stage = crew(160, 40);
    says(&mut stage, "→ main, now: the sub-agent goes on");
    stage.keys("<f3><down><enter>");
    says(&mut stage, "→ file_miner 0, after grep (running 0:03)");
    stage.finished("", "file_miner 0", Outcome::Completed);
    says(&mut stage, "→ main, now: the sub-agent goes on");
}

#[test]
fn it_says_what_goes_on_in_the_background_when_a_text_ends_the_wait_for_it() {
    let mut stage = Stage::new(160, 40);
    stage.turn("").call("", "c1", "bash").wait(3_000);
    says(&mut stage, "→ main, after bash (running 0:03)");
    assert!(rule(&mut stage).contains("F5 now: the command goes on"), "{}", rule(&mut stage));
    stage.call("", "c2", "read");
    assert!(!rule(&mut stage).contains("F5 now"), "not all of them can go on: {}", rule(&mut stage));

    let mut stage = Stage::new(160, 40);
    let arguments = Arguments::parse(r#"{"command":"git commit","outside":true}"#);
    stage.turn("").event("", Event::ToolCall { id: "c1".into(), name: "bash".to_owned(), arguments });
    assert!(!rule(&mut stage).contains("F5 now"), "outside of the sandbox it is waited for: {}", rule(&mut stage));

    for (setting, enter, f5) in [
        (AgentsGiveWay::Always, "→ main, now: the sub-agents go on", true),
        (AgentsGiveWay::Now, "→ main, after agent (running 0:03) and 1 more", true),
        (AgentsGiveWay::Never, "→ main, after agent (running 0:03) and 1 more", false),
    ] {
        let mut stage = Stage::new(160, 40);
        stage.app.agents_give_way = setting;
        stage.turn("").call("", "c1", "agent").call("", "c2", "agent").wait(3_000);
        says(&mut stage, enter);
        let rule = rule(&mut stage);
        assert_eq!(rule.contains("F5 now"), f5, "{setting:?}: {rule}");
    }
}

#[test]
fn texts_that_a_failed_turn_holds_back_are_counted() {
    let mut stage = Stage::new(160, 40);
    stage.keys("start<enter>");
    let taken = stage.take_turn();
    stage.turn("").deliver(&taken, false).keys("more<enter>");
    stage.pause().turn_ended("", Outcome::Failed, Some("HTTP 500"));
    says(&mut stage, "→ the 1 pending: added to the open task");
    stage.keys("x");
    says(&mut stage, "→ after the 1 pending, adds to the open task: \"start\"");
}

#[test]
fn an_edit_says_what_its_three_keys_do() {
    let mut stage = super::pending_list::waiting(&["one"]);
    stage.keys("<f2>e");
    says(
        &mut stage,
        "editing m2 for main: Enter puts it back in its place · Esc leaves it as it was · F5 delivers it now",
    );
}

#[test]
fn in_a_narrow_rule_the_words_get_shorter_and_none_is_cut() {
    let mut stage = crew(160, 40);
    stage.call("", "c2", "grep");
    for (width, words) in
        [(100, "→ main, after agent (running 0:03) and 1 more"), (40, "→ main, after agent"), (34, "→ after agent")]
    {
        let screen = stage.resize(width, 24).screen();
        assert!(screen.lines().any(|row| row.starts_with("── →") && row.contains(words)), "{width}:\n{screen}");
        assert!(screen.contains(": stops"), "{screen}");
    }
}

#[test]
fn each_follow_up_has_a_turn_of_its_own() {
    let mut stage = Stage::new(120, 40);
    stage.turn("").keys("one<tab>two<tab>three<tab>");
    let screen = stage.screen();
    for (text, when) in [("one", "→ after this turn"), ("two", "and the 1 before it"), ("three", "and the 2 before it")]
    {
        assert!(screen.lines().any(|row| row.contains(text) && row.ends_with(when)), "{when}: {screen}");
    }
}

#[test]
fn a_session_that_is_only_read_offers_nothing_and_asks_about_nothing() {
    let mut stage = Stage::new(100, 24);
    stage.turn("").call("", "c1", "bash");
    stage.tell(Msg::from(Notice::ReadOnly("session 1 runs in another program".to_owned())));
    let waits =
        Pending { held: true, stale: true, ..Pending::new("m9".into(), "and the tests", Timestamp::UNIX_EPOCH) };
    stage.tell(Msg::Update(Update::Queues { queues: vec![(AgentId::main(), vec![waits])], paused: true }));
    let screen = stage.wait(1_000).screen();
    assert!(screen.contains("Only read here. / commands"), "{screen}");
    assert!(screen.contains("○ only read here: session 1 runs in another program"), "{screen}");
    assert!(screen.contains("and the tests") && screen.contains("→ waits, is not sent from here"), "{screen}");
    assert!(screen.contains("→ nothing: this session is only read here"), "{screen}");
    for offer in ["Send this now?", "the last turn failed", "comes back", "Esc:", "Enter sends"] {
        assert!(!screen.contains(offer), "{offer}: {screen}");
    }
    let screen = stage.keys("mine").screen();
    assert!(screen.contains("→ nothing: this session is only read here"), "{screen}");
}
