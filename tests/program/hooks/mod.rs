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
        let mut hook = json!({ "type": "command", "command": "cat >> log.jsonl; echo >> log.jsonl" });
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
    let log = fs::read_to_string(home.path().join("work/log.jsonl")).unwrap();
    let told: Vec<Value> = log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let mut told = told;
    told.sort_by_key(|told| told["hook_event_name"].to_string());
    let names: Vec<&str> = told.iter().map(|told| told["hook_event_name"].as_str().unwrap()).collect();
    assert_eq!(names, ["PostToolUseFailure", "SessionEnd", "SubagentStart"], "{log}");
    assert_eq!(told[0]["tool_input"]["file_path"].as_str().unwrap().rsplit('/').next(), Some("nowhere.txt"));
    assert!(told[0]["error"].as_str().unwrap().starts_with("Error: "), "{log}");
    assert_eq!((&told[2]["agent_type"], &told[1]["reason"]), (&json!("file_miner"), &json!("other")));
}
