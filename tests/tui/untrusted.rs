//! What comes from outside is shown, never obeyed: one hostile text through every place of the screen and every export.

use std::sync::Arc;
use std::time::Duration;

use steersman_base::error::StartError;
use steersman_base::event::{Delivery, Event, Outcome, Usage};
use steersman_base::id::AgentId;
use steersman_base::message::{Arguments, ToolCall};
use steersman_base::protocol::Notice;
use steersman_core::control::Staleness;
use steersman_tui::effect::PaneEffect;
use steersman_tui::export::export;
use steersman_tui::msg::{Effect, Msg};

use crate::support::stage::Stage;

/// A title, a cleared screen, a C1 sequence, a line turned around, and letters that nobody sees.
const EVIL: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}cba\u{2066}\u{200b}\u{e0041}\u{7f}\u{8}";
/// An agent that is called so.
const CHILD: &str = "miner\u{1b}]0;owned\u{7}\u{9b}31m\u{202e} 0";
/// From a large screen to one that has room for nearly nothing.
const SIZES: [(u16, u16); 4] = [(160, 50), (80, 24), (34, 10), (20, 5)];

fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{e0000}'..='\u{e0fff}')
}

/// Draws the screen at every size and looks into each cell.
fn harmless(stage: &mut Stage, place: &str) {
    for (width, height) in SIZES {
        stage.resize(width, height);
        let buffer = stage.draw();
        for cell in &buffer.content {
            assert!(!cell.symbol().contains(is_hostile), "{place} at {width}x{height}: {:?}", cell.symbol());
        }
    }
    stage.resize(160, 50).draw();
}

fn evil_arguments() -> Arguments {
    Arguments::parse(&serde_json::json!({ "path": EVIL, EVIL: { "deep": [EVIL] } }).to_string())
}

fn evil_call(id: &str) -> Event {
    Event::ToolCall { id: id.into(), name: format!("tool{EVIL}"), arguments: evil_arguments() }
}

/// A main agent and a child that say, call and return nothing but the hostile text.
fn scene() -> Stage {
    let mut stage = Stage::new(160, 50);
    stage.handle.set_staleness(Staleness { age: Some(Duration::ZERO), steps: None });
    stage.event("", Event::TurnStarted { turn: 1 }).event("", Event::RoundStarted { turn: 1, round: 1 });
    let content = format!("do {EVIL}");
    stage.event(
        "",
        Event::UserTurn {
            content,
            mid_loop: false,
            injection: None,
            step: 0,
            after: None,
            sender: None,
            kind: steersman_base::steering::TextKind::Add,
            met: None,
            images: Vec::new(),
        },
    );
    stage.event("", Event::ThinkingDelta { text: EVIL.to_owned() });
    stage.says("", EVIL).says("", &format!("# {EVIL}\n\n`{EVIL}` [{EVIL}](http://{EVIL})\n\n```{EVIL}\n{EVIL}\n```\n"));
    stage.event("", evil_call("c1"));
    stage.event("", Event::ToolProgress { id: "c1".into(), text: EVIL.to_owned() });
    let spawned = Event::AgentSpawned {
        child: CHILD.into(),
        persona: format!("miner{EVIL}"),
        task: format!("look {EVIL}"),
        call: Some("c1".into()),
        model: Some(format!("model{EVIL}")),
        max_steps: Some(3),
        tools: vec![format!("tool{EVIL}")],
    };
    stage.event("", spawned).turn(CHILD).says(CHILD, EVIL);
    for id in ["d1", "d2", "d3"] {
        stage.event(CHILD, evil_call(id)).result(CHILD, id, &format!("Error: {EVIL}"));
    }
    stage.event(CHILD, evil_call("d4"));
    stage
}

#[test]
fn no_place_of_the_screen_obeys_what_came_from_outside() {
    let mut stage = scene();
    harmless(&mut stage, "transcript and tree");
    stage.keys("<f3><down>");
    harmless(&mut stage, "the transcript, the title and the row of a child");
    stage.keys("i");
    harmless(&mut stage, "its details");
    stage.keys("/miner").paste(EVIL);
    harmless(&mut stage, "the filter");
    stage.keys("<esc><esc>");
    stage.keys("<a-o>");
    harmless(&mut stage, "open blocks");

    stage.tell(Msg::from(Notice::Models(Ok(vec![
        format!("model{EVIL}").as_str().into(),
        format!("model{EVIL}2").as_str().into(),
    ]))));
    stage.keys("<c-c>/model ");
    harmless(&mut stage, "models that are offered");
    stage.keys("<tab>");
    harmless(&mut stage, "a model that was taken");
    stage.keys("<c-c>@mi");
    harmless(&mut stage, "agents that are offered");
    stage.keys("<tab>words");
    harmless(&mut stage, "the border with a target");
    stage.keys("<f5>");
    harmless(&mut stage, "what became of it");
    stage.tell(Msg::from(Notice::Info(EVIL.to_owned()))).tell(Msg::from(Notice::Models(Err(EVIL.to_owned()))));
    harmless(&mut stage, "the status line");

    stage.event("", Event::Retrying { attempt: 2, after_ms: 1, reason: EVIL.to_owned() });
    harmless(&mut stage, "a retry");
    stage.event("", Event::FallbackNotice { reason: EVIL.to_owned() });
    stage.event("", Event::AgentFinished { child: CHILD.into(), outcome: Outcome::Failed, message: Some(EVIL.into()) });
    stage.result("", "c1", EVIL);
    harmless(&mut stage, "the end of a child");
    stage.turn_ended("", Outcome::Failed, Some(EVIL));
    harmless(&mut stage, "the end of a turn");
    stage.tell(Msg::from(Notice::BuildFailed(StartError::Failed(EVIL.to_owned()))));
    harmless(&mut stage, "an agent that could not be built");
}

#[test]
fn the_panel_of_a_held_agent_and_what_is_written_about_its_call_are_harmless() {
    for arguments in [evil_arguments(), Arguments::Raw(EVIL.to_owned())] {
        let mut stage = scene();
        stage.keys("<a-h>");
        let call = ToolCall { id: "c9".into(), name: format!("tool{EVIL}"), arguments };
        let gate = Arc::clone(&stage.handle.agent_controls().main().gate);
        let _parking = gate.wait_at(steersman_core::control::PausePlace::Call(call.clone())).unwrap();
        stage.event("", Event::Paused { call: Some(call) });
        harmless(&mut stage, "the panel");
        stage.keys("<f11>s");
        harmless(&mut stage, "a reason");
        stage.keys("<esc><f11>e");
        harmless(&mut stage, "arguments in the message");
    }
}

#[test]
fn pending_texts_questions_receipts_and_the_ledger_are_harmless() {
    let mut stage = scene();
    stage.handle.inject_user_message(&AgentId::main(), (&format!("old {EVIL}"), Delivery::Steer)).unwrap();
    stage.refresh();
    harmless(&mut stage, "the pending list");
    std::thread::sleep(Duration::from_millis(2));
    assert!(stage.drain().is_empty(), "held for its age");
    harmless(&mut stage, "the question");
    stage.keys("<f2>");
    harmless(&mut stage, "the focused list");
    stage.keys("e");
    harmless(&mut stage, "the edit of an entry");
    stage.keys("<esc>");
    let id = stage.handle.interloper().peek()[0].id.clone();
    stage.handle.interloper().confirm(&id);
    stage.handle.set_staleness(Staleness::default());
    let taken = stage.drain();
    stage.deliver_after("", &taken, 1, &format!("tool{EVIL}")).seen("", &taken, 1);
    stage.event("", Event::Tokens(Usage { input: Some(10), output: Some(2), ..Usage::default() }));
    harmless(&mut stage, "the receipt");
    stage.keys("<f4>");
    harmless(&mut stage, "the ledger");
    stage.keys("<esc>");
    for arguments in ["ledger x.csv", "ledger x.md", "transcript x.md"] {
        let effects = export(&stage.app, arguments);
        let [PaneEffect::Outside(Effect::Write { text, .. })] = effects.as_slice() else { panic!("{effects:?}") };
        let found = text.replace("\r\n", "\n").chars().find(|&c| c != '\n' && is_hostile(c));
        assert!(text.contains("owned") && found.is_none(), "{arguments}: {found:?} in {text:?}");
    }
    stage.keys("<f3><down><esc>");
    let effects = export(&stage.app, "transcript x.md");
    let [PaneEffect::Outside(Effect::Write { text, .. })] = effects.as_slice() else { panic!("{effects:?}") };
    let found = text.chars().find(|&c| c != '\n' && is_hostile(c));
    assert!(text.contains("owned") && found.is_none(), "{found:?} in {text:?}");
}
