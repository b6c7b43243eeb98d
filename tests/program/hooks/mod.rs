//! Hooks of the whole program: those that run on, those of a project, those that changed since they were trusted.

mod background;
mod broken;
mod pinned;
mod runs;
mod trust;

use std::fs;

use serde_json::{Value, json};

use crate::support::program::{Program, exit_code, stderr};
use crate::support::server::{Reply, Server};

#[test]
fn hooks_hear_of_sub_agents_failures_and_the_end_and_a_condition_narrows_them() {
    let server = Server::start([
        Reply::calls(&[
            ("c1", "read", r#"{"path":"nowhere.txt"}"#),
            ("c2", "read", r#"{"path":"other.md"}"#),
            ("c3", "agent", r#"{"name":"file_miner","task":"look"}"#),
        ]),
        Reply::text("seen"),
        Reply::text("done"),
    ]);
    let log = |event: &str, more: Value| {
        // Hooks run beside each other: each writes a file of its own.
        let mut hook = json!({ "type": "command", "command": format!("cat > {event}.json") });
        hook.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        (event.to_owned(), json!([{ "hooks": [hook] }]))
    };
    let hooks: serde_json::Map<String, Value> = [
        log("SubagentStart", json!({})),
        log("PostToolUseFailure", json!({ "if": "Read(*.txt)" })),
        log("SessionEnd", json!({})),
    ]
    .into_iter()
    .collect();
    let program = Program::new().args(["exec", "--base-url", &server.url(), "--model", "m", "go"]);
    let program = program.file(".config/steersman/hooks.json", &json!({ "hooks": hooks }).to_string());
    let (output, home) = program.output_with_home();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    let input_of = |event: &str| -> Value {
        let text = fs::read_to_string(home.path().join(format!("work/{event}.json"))).unwrap();
        let input: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{event}: {error}: {text}"));
        assert_eq!(input["hook_event_name"], event);
        input
    };
    let failure = input_of("PostToolUseFailure");
    assert_eq!(failure["tool_input"]["file_path"].as_str().unwrap().rsplit('/').next(), Some("nowhere.txt"));
    assert!(failure["error"].as_str().unwrap().starts_with("Error: "), "{failure}");
    assert_eq!(input_of("SubagentStart")["agent_type"], "file_miner");
    assert_eq!(input_of("SessionEnd")["reason"], "other");
}
