//! The wire form of every event: one JSON object per line, all fields present, read back equal.
//!
//! `wire_form` is the table of them all.

mod wire_form;

use serde_json::{Value, json};
use steersman_base::event::{Envelope, Event, Usage};
use steersman_base::id::{AgentId, CallId};
use steersman_base::message::{Arguments, ToolCall};
use wire_form::golden;

fn envelope(event: Event) -> Envelope {
    Envelope { seq: 12, at: at("2026-11-21T09:30:00.123456Z"), agent: AgentId::main(), parent: None, event }
}

fn at(text: &str) -> jiff::Timestamp {
    text.parse().unwrap()
}

fn call() -> CallId {
    CallId::new("call_1")
}

fn read_call() -> ToolCall {
    ToolCall { id: call(), name: "read".to_owned(), arguments: Arguments::parse(r#"{"path":"README.md"}"#) }
}

/// The types of the loop in their usual order, and behind them those of the host.
const TYPES: [&str; 49] = [
    "session_started",
    "turn_started",
    "round_started",
    "round_ended",
    "user_turn",
    "thinking_delta",
    "assistant_delta",
    "thinking",
    "assistant",
    "tokens",
    "tool_call",
    "tool_progress",
    "tool_result",
    "agent_spawned",
    "agent_finished",
    "context_cap",
    "fallback_notice",
    "retrying",
    "cancelled",
    "turn_ended",
    "pending",
    "question",
    "answer",
    "step_limit",
    "model_switched",
    "compacting",
    "compacted",
    "context_size",
    "notice",
    "task_closed",
    "reset",
    "history",
    "extension",
    "session_ended",
    "seen",
    "returned",
    "parked",
    "unparked",
    "tool_details",
    "guards",
    "changes_undone",
    "rules",
    "rule_told",
    "plan_changed",
    "plan_told",
    "hook_ran",
    "job_started",
    "job_output",
    "job_ended",
];

#[test]
fn every_event_is_written_exactly_as_the_wire_form_says() {
    for (event, wire) in golden() {
        assert_eq!(serde_json::to_string(&event).unwrap(), wire);
        assert!(wire.starts_with(&format!(r#"{{"type":"{}""#, event.type_name())), "{wire}");
    }
}

#[test]
fn every_event_is_read_back_equal() {
    for (event, wire) in golden() {
        assert_eq!(serde_json::from_str::<Event>(wire).unwrap(), event, "{wire}");
    }
}

#[test]
fn the_table_holds_every_type_of_the_wire_form() {
    for name in TYPES {
        assert!(golden().iter().any(|(event, _)| event.type_name() == name), "no golden line for {name}");
    }
    assert!(golden().iter().all(|(event, _)| TYPES.contains(&event.type_name())));
}

#[test]
fn an_envelope_is_one_line_with_all_its_fields() {
    let event = Event::ToolCall { id: call(), name: "read".into(), arguments: read_call().arguments };
    assert_eq!(
        serde_json::to_string(&envelope(event)).unwrap(),
        r#"{"seq":12,"at":"2026-11-21T09:30:00.123456Z","agent":"","parent":null,"event":{"type":"tool_call","id":"call_1","name":"read","arguments":{"path":"README.md"}}}"#
    );
    for (event, _) in golden() {
        assert!(!serde_json::to_string(&envelope(event)).unwrap().contains('\n'));
    }
}

#[test]
fn the_envelope_of_a_child_names_its_parent() {
    let rescue = AgentId::new("researcher 0").synthesizer();
    let child = Envelope { agent: rescue, parent: Some("researcher 0".into()), ..envelope(Event::Reset {}) };
    assert_eq!(
        serde_json::to_string(&child).unwrap(),
        r#"{"seq":12,"at":"2026-11-21T09:30:00.123456Z","agent":"researcher 0_synthesizer","parent":"researcher 0","event":{"type":"reset"}}"#
    );
}

#[test]
fn times_always_have_six_digits() {
    for (given, written) in [
        ("2026-11-21T09:30:00Z", "2026-11-21T09:30:00.000000Z"),
        ("2026-11-21T09:30:00.5Z", "2026-11-21T09:30:00.500000Z"),
        ("2026-11-21T09:30:00.123456789Z", "2026-11-21T09:30:00.123456Z"),
        ("2026-11-21T10:30:00.000001+01:00", "2026-11-21T09:30:00.000001Z"),
    ] {
        let written_envelope = serde_json::to_value(Envelope { at: at(given), ..envelope(Event::Reset {}) }).unwrap();
        assert_eq!(written_envelope["at"], written);
    }
}

#[test]
fn an_envelope_is_read_back_equal_and_written_again_the_same() {
    for (event, _) in golden() {
        let line = serde_json::to_string(&envelope(event.clone())).unwrap();
        let read: Envelope = serde_json::from_str(&line).unwrap();
        assert_eq!(read, envelope(event));
        assert_eq!(serde_json::to_string(&read).unwrap(), line);
    }
}

#[test]
fn an_unknown_type_is_read_as_unknown() {
    let line = r#"{"seq":3,"at":"2026-11-21T09:30:00.123456Z","agent":"","parent":null,"event":{"type":"dreamt","of":["sheep"],"deep":{"a":1}}}"#;
    let read: Envelope = serde_json::from_str(line).unwrap();
    assert_eq!((read.seq, read.event), (3, Event::Unknown));
}

#[test]
fn unknown_fields_are_ignored_wherever_they_stand() {
    for (event, _) in golden() {
        let mut line = serde_json::to_value(envelope(event.clone())).unwrap();
        line["mood"] = json!("fine");
        line["event"]["colour"] = json!({"red": 1});
        if let Some(entry) = line["event"]["entries"].get_mut(0) {
            entry["stars"] = json!(5);
        }
        if let Some(message) = line["event"].get_mut("message").filter(|message| message.is_object()) {
            message["lang"] = json!("en");
        }
        assert_eq!(serde_json::from_value::<Envelope>(line).unwrap(), envelope(event));
    }
}

#[test]
fn no_field_is_ever_left_out() {
    // The nullable fields are null, not absent: a reader in any language finds every key.
    for (event, wire) in golden() {
        let written: Value = serde_json::from_str(wire).unwrap();
        let same_type = golden().into_iter().filter(|(other, _)| other.type_name() == event.type_name());
        for (_, other) in same_type {
            let other: Value = serde_json::from_str(other).unwrap();
            let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
            assert_eq!(keys(&written), keys(&other));
        }
    }
}

#[test]
fn the_size_of_the_prompt_counts_unknown_parts_as_nothing() {
    let usage = Usage { input: Some(10), cached: Some(5), output: Some(2), ..Usage::default() };
    assert_eq!((usage.prompt(), usage.context()), (15, 17));
    assert_eq!((Usage::default().prompt(), Usage::default().context()), (0, 0));
    let absurd = Usage { input: Some(u64::MAX), cached: Some(1), output: Some(1), ..Usage::default() };
    assert_eq!(absurd.context(), u64::MAX);
}
