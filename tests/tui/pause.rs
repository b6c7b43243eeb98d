//! Hold and step on the screen: who is held, what is about to run, and what each key decides about it.

use std::sync::Arc;

use futures_util::FutureExt as _;
use steersman_base::event::{Decided, Event, Outcome};
use steersman_base::id::AgentId;
use steersman_base::message::{Arguments, ToolCall};
use steersman_base::protocol::Request;
use steersman_core::control::{Cancellable, Decision, PauseGate, PauseGuard, PausePlace};
use steersman_tui::msg::{Effect, Msg};
use steersman_tui::state::Pane;

use crate::support::stage::Stage;

fn call(name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: "c1".into(), name: name.to_owned(), arguments: Arguments::parse(arguments) }
}

fn grep() -> ToolCall {
    call("grep", r#"{"pattern": "fn main", "path": "src"}"#)
}

fn gate(stage: &Stage) -> Arc<PauseGate> {
    stage.handle.agent_controls().main().gate
}

/// A running turn, its agent held.
fn held(width: u16, height: u16) -> Stage {
    let mut stage = Stage::new(width, height);
    stage.keys("go<enter>");
    let taken = stage.take_turn();
    stage.turn("").deliver(&taken, false).seen("", &taken, 0);
    stage.wait(400).keys("<a-h>").screen();
    stage
}

/// Lets the agent wait before a call, as it does itself, and draws that.
fn wait_at<'a>(stage: &mut Stage, gate: &'a PauseGate, call: Option<ToolCall>) -> PauseGuard<'a> {
    let place = call.clone().map_or(PausePlace::Boundary, PausePlace::Call);
    let parking = gate.wait_at(place).expect("the gate is closed");
    stage.event("", Event::Paused { call }).screen();
    parking
}

fn decided(parking: &PauseGuard<'_>) -> Option<Decision> {
    parking.decided().now_or_never()
}

#[test]
fn one_key_holds_the_agent_and_the_same_key_lets_it_go_on() {
    let mut stage = held(80, 24);
    assert!(gate(&stage).is_paused());
    assert!(stage.screen().contains("‖ main is paused: it waits at its next call or request"));
    stage.keys("<a-h>");
    assert!(!gate(&stage).is_paused());
    assert!(!stage.screen().contains('‖'));
}

#[test]
fn the_call_is_shown_with_all_its_arguments_before_it_runs() {
    let mut stage = held(80, 24);
    let gate = gate(&stage);
    let _parking = wait_at(&mut stage, &gate, Some(grep()));
    let screen = stage.screen();
    for words in ["‖ main waits before grep", "pattern: fn main", "path: src", "Enter in an empty message runs it"] {
        assert!(screen.contains(words), "{words}:\n{screen}");
    }
}

#[test]
fn enter_in_an_empty_message_lets_it_make_one_step_and_it_stays_held() {
    let mut stage = held(80, 24);
    let gate = gate(&stage);
    let parking = wait_at(&mut stage, &gate, Some(grep()));
    stage.keys("<enter>");
    assert_eq!(decided(&parking), Some(Decision::Run));
    assert!(gate.is_paused());
    drop(parking);
    stage.event("", Event::Resumed { decision: Decided::Run });
    assert!(stage.screen().contains("main is paused"));
    let boundary = wait_at(&mut stage, &gate, None);
    assert!(stage.screen().contains("main waits before the next request"));
    stage.keys("<enter>");
    assert_eq!(decided(&boundary), Some(Decision::Run));
}

#[test]
fn text_is_sent_as_always_while_the_agent_waits() {
    let mut stage = held(80, 24);
    let gate = gate(&stage);
    let parking = wait_at(&mut stage, &gate, Some(grep()));
    stage.keys("resist<enter>");
    assert_eq!(decided(&parking), None, "typing decides nothing");
    assert_eq!(stage.sent().last().unwrap().0, "resist");
    assert!(stage.screen().contains("⋯ m2 resist"));
}

#[test]
fn the_keys_of_the_panel_work_only_when_it_has_the_focus() {
    let mut stage = held(80, 24);
    let gate = gate(&stage);
    let parking = wait_at(&mut stage, &gate, Some(grep()));
    stage.keys("r");
    assert_eq!((decided(&parking), stage.app.message.text().as_str()), (None, "r"));
    stage.keys("<bs><f11>");
    assert!(stage.app.focus.is_on(Pane::Pause));
    stage.keys("r");
    assert_eq!(decided(&parking), Some(Decision::Run));
    assert!(stage.app.focus.is_on(Pane::Pause), "the focus stays for the next step");
    stage.keys("<esc>");
    assert!(stage.app.focus.is_on(Pane::Composer));
}

#[test]
fn many_characters_at_once_and_pastes_decide_nothing_about_a_held_call() {
    for text in ["resist this", "see the log", "even so, wait", "go on without me", "\nand that\n", "just run it"] {
        let mut stage = held(80, 24);
        let gate = gate(&stage);
        let parking = wait_at(&mut stage, &gate, Some(grep()));
        let typed = Msg::Typed(text.to_owned(), stage.app.ui.now);
        stage.keys("<f11>").tell(typed).keys("<c-u>");
        stage.keys("<f11>").paste(text);
        assert_eq!((decided(&parking), gate.is_paused()), (None, true), "{text}");
        assert!(stage.app.message.about_call().is_none() && stage.app.focus.is_on(Pane::Composer), "{text}");
        assert!(stage.app.message.text().ends_with(text), "{text}");
        assert_eq!(stage.sent().len(), 1, "{text}");
    }
}

#[test]
fn enter_right_behind_many_characters_decides_nothing_before_the_next_frame() {
    let mut stage = held(80, 24);
    let gate = gate(&stage);
    let parking = wait_at(&mut stage, &gate, Some(grep()));
    let typed = Msg::Typed("look at the tests".to_owned(), stage.app.ui.now);
    stage.tell(typed).keys("<enter><enter>");
    assert_eq!((decided(&parking), stage.sent().len()), (None, 2));
    stage.screen();
    stage.wait(400).keys("<enter>");
    assert_eq!(decided(&parking), Some(Decision::Run));
}

#[test]
fn a_key_decides_only_about_the_call_that_was_on_the_screen() {
    let mut stage = held(80, 24);
    let gate = gate(&stage);
    stage.keys("<f11>").screen();
    let parking = gate.wait_at(PausePlace::Call(grep())).unwrap();
    stage.event("", Event::Paused { call: Some(grep()) }).keys("r");
    assert_eq!(decided(&parking), None, "nobody has seen that call yet");
    stage.screen();
    stage.keys("<f4>").screen();
    stage.keys("<f4>r");
    assert_eq!(decided(&parking), None, "it was behind the ledger");
    stage.screen();
    stage.keys("r");
    assert_eq!(decided(&parking), Some(Decision::Run));
}

#[test]
fn arguments_are_edited_as_json_and_checked_before_they_are_accepted() {
    let mut stage = held(80, 24);
    let gate = gate(&stage);
    let parking = wait_at(&mut stage, &gate, Some(grep()));
    stage.keys("my draft<f11>e");
    assert_eq!(stage.app.message.text(), "{\n  \"pattern\": \"fn main\",\n  \"path\": \"src\"\n}");
    stage.keys("<c-u>nonsense<enter>");
    assert_eq!(decided(&parking), None);
    assert!(stage.screen().contains("not run: invalid JSON"));
    let text = r#"{"pattern": "struct", "path": "src"}"#;
    stage.app.message.load(text);
    stage.keys("<enter>");
    assert_eq!(decided(&parking), Some(Decision::Edited(Arguments::parse(text))));
    assert_eq!(stage.app.message.text(), "my draft", "the draft is back");
}

#[test]
fn a_list_is_no_arguments() {
    let mut stage = held(80, 24);
    let gate = gate(&stage);
    let parking = wait_at(&mut stage, &gate, Some(grep()));
    stage.keys("<f11>e");
    stage.app.message.load("[1, 2]");
    stage.keys("<enter>");
    assert!(stage.screen().contains("not run: arguments must be a JSON object"));
    assert_eq!(decided(&parking), None);
}

#[test]
fn esc_leaves_the_arguments_as_they_were_and_what_was_typed_comes_back() {
    let mut stage = held(80, 24);
    let gate = gate(&stage);
    let parking = wait_at(&mut stage, &gate, Some(grep()));
    stage.keys("my draft<f11>e");
    stage.app.message.load("{\"path\": \"tests\"}");
    assert!(stage.screen().contains("Esc: leaves"));
    stage.keys("<esc>");
    assert_eq!(stage.app.message.text(), "my draft");
    assert_eq!(decided(&parking), None);
    assert!(!stage.effects.contains(&Effect::Request(Request::Stop)));
    stage.keys("<c-_>");
    assert!(stage.app.message.text().contains("\"path\": \"tests\""));
}

#[test]
fn a_call_is_skipped_with_a_reason_and_not_without_one() {
    let mut stage = held(80, 24);
    let gate = gate(&stage);
    let parking = wait_at(&mut stage, &gate, Some(grep()));
    stage.keys("<f11>s<enter>");
    assert!(stage.screen().contains("write a reason"));
    stage.keys("use the index instead<enter>");
    assert_eq!(decided(&parking), Some(Decision::Skip("use the index instead".to_owned())));
    assert!(stage.app.message.is_empty());
    assert!(stage.sent().iter().all(|(text, _)| text == "go"), "the reason is no message");
}

#[test]
fn what_is_written_about_a_call_that_is_gone_is_kept() {
    let mut stage = held(80, 24);
    let gate = gate(&stage);
    let parking = wait_at(&mut stage, &gate, Some(grep()));
    stage.keys("my draft<f11>sbecause");
    drop(parking);
    stage.event("", Event::Resumed { decision: Decided::Cancelled }).turn_ended("", Outcome::Cancelled, None);
    assert_eq!(stage.app.message.text(), "my draft");
    assert!(stage.screen().contains("does not wait before this call any more"));
    stage.keys("<c-_>");
    assert!(stage.app.message.text().contains("because"));
}

#[test]
fn g_lets_it_go_on_and_the_keys_go_to_the_message_again() {
    let mut stage = held(80, 24);
    let gate = gate(&stage);
    let parking = wait_at(&mut stage, &gate, Some(grep()));
    stage.keys("<f11>g");
    assert_eq!(decided(&parking), Some(Decision::Run));
    assert!(!gate.is_paused());
    stage.event("", Event::Resumed { decision: Decided::Run });
    assert!(stage.app.focus.is_on(Pane::Composer));
    assert!(!stage.screen().contains("main waits"));
}

#[test]
fn a_decision_that_comes_too_late_says_so() {
    let mut stage = held(80, 24);
    let gate = gate(&stage);
    let parking = wait_at(&mut stage, &gate, Some(grep()));
    drop(parking);
    stage.keys("<enter>");
    assert!(stage.screen().contains("main does not wait there any more: nothing was decided"));
}

#[test]
fn an_agent_that_has_ended_cannot_be_held() {
    let mut stage = held(120, 40);
    stage.call("", "c1", "agent").spawn("", "file_miner 0").finished("", "file_miner 0", Outcome::Completed);
    stage.keys("<f3><down><a-h>");
    assert!(stage.screen().contains("file_miner 0 is not running any more"));
}

#[test]
fn all_are_held_and_go_on_together() {
    let mut stage = held(80, 24);
    stage.keys("<a-h>");
    let request = steersman_tui::pause::all(&stage.app.ui.run.pauses);
    stage.carry_out(Effect::Request(request));
    assert!(gate(&stage).is_paused());
    assert!(stage.app.ui.run.pauses.is_paused(&AgentId::new("file_miner 7")), "who comes later is held too");
    let request = steersman_tui::pause::all(&stage.app.ui.run.pauses);
    stage.carry_out(Effect::Request(request));
    assert!(!gate(&stage).is_paused() && !stage.app.ui.run.pauses.is_paused(&AgentId::main()));
}

#[test]
fn long_and_hostile_arguments_are_whole_scrollable_and_harmless() {
    let mut stage = held(80, 24);
    let gate = gate(&stage);
    let lines: Vec<String> = (0..200).map(|line| format!("line {line}\u{1b}[2J")).collect();
    let arguments = serde_json::json!({"content": lines.join("\n"), "path\u{202e}": "x"}).to_string();
    let _parking = wait_at(&mut stage, &gate, Some(call("write\u{1b}]0;x\u{7}", &arguments)));
    let screen = stage.screen();
    assert!(screen.contains("line 0␛[2J") && screen.contains("more") && !screen.contains('\u{1b}'), "{screen}");
    stage.keys("<f11><end>");
    let screen = stage.screen();
    assert!(screen.contains("path<U+202E>: x") && screen.contains("line 199"), "{screen}");
    stage.keys("<up>").screen();
    stage.keys("<home>");
    assert!(stage.screen().contains("line 0␛"));
}

#[test]
fn the_panel_at_every_size_names_what_it_can_and_decides_nothing_by_itself() {
    for (width, height) in [(1, 1), (5, 2), (20, 5), (30, 8), (200, 3), (34, 60)] {
        let mut stage = held(width, height);
        let gate = gate(&stage);
        let parking = wait_at(&mut stage, &gate, Some(grep()));
        let has_room = width >= 20 && height >= 5;
        let screen = stage.keys("<f11>").screen();
        assert!(!has_room || screen.contains("main waits befor"), "{width}x{height}:\n{screen}");
        let screen = stage.keys("e").screen();
        assert!(!has_room || screen.contains("main: other argum"), "{width}x{height}:\n{screen}");
        stage.keys("<esc><esc>").screen();
        assert_eq!(decided(&parking), None, "{width}x{height}");
        assert!(stage.app.message.is_empty() && stage.app.message.about_call().is_none(), "{width}x{height}");
    }
}

#[test]
fn the_panel_at_four_sizes() {
    for (width, height) in [(120, 40), (80, 24), (56, 20), (34, 10)] {
        let mut stage = held(width, height);
        let gate = gate(&stage);
        let _parking = wait_at(&mut stage, &gate, Some(grep()));
        insta::assert_snapshot!(format!("waiting_{width}x{height}"), stage.above_the_rule());
        stage.keys("<f11>");
        insta::assert_snapshot!(format!("focused_{width}x{height}"), stage.above_the_rule());
        stage.keys("e");
        insta::assert_snapshot!(format!("arguments_{width}x{height}"), stage.above_the_rule());
    }
}

#[test]
fn an_agent_that_ended_while_all_were_held_is_not_held_any_more() {
    let mut stage = Stage::new(120, 40);
    stage.turn("").call("", "c1", "agent").spawn("", "file_miner 0").turn("file_miner 0");
    stage.keys("/pause all<enter>").keys("<f3><down>");
    assert!(stage.screen().contains("‖ paused"), "while it runs it is");
    stage.finished("", "file_miner 0", Outcome::Completed);
    let screen = stage.screen();
    assert!(!screen.contains("‖ paused") && !screen.contains("file_miner 0 is paused"), "{screen}");
}

#[test]
fn the_second_of_two_enters_that_came_as_one_runs_no_call() {
    let mut stage = held(120, 40);
    let gate = gate(&stage);
    let parking = wait_at(&mut stage, &gate, Some(grep()));
    stage.keys("mind the tests<enter><enter>");
    assert_eq!(decided(&parking), None, "the text was sent, nothing was approved");
    assert!(stage.screen().contains("main still waits: Enter came too soon after another; press it again"));
    stage.wait(400).keys("<enter>");
    assert_eq!(decided(&parking), Some(Decision::Run));
}

#[test]
fn hold_all_lets_nobody_go_on_who_was_held_alone() {
    let mut stage = held(120, 40);
    let gate = gate(&stage);
    let parking = wait_at(&mut stage, &gate, Some(grep()));
    let child = stage.handle.agent_controls().enroll(&"file_miner 0".into(), &Cancellable::new());
    stage.keys("/pause all<enter>");
    assert!(gate.is_paused() && child.gate.is_paused() && decided(&parking).is_none());
    assert!(stage.screen().contains("every agent is paused; /pause all lets them go on"), "{}", stage.screen());
    stage.keys("/hold all<enter>");
    assert!(!gate.is_paused() && !child.gate.is_paused());
    assert!(stage.screen().contains("every agent goes on"));
}
