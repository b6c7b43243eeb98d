//! `exec --output stream-json`: the lines that scripts for Claude Code read.

use serde_json::{Value, json};

use super::{exec, lines};
use crate::support::program::{Program, exit_code, stderr, stdout};
use crate::support::server::{Gate, Reply, Server};

fn kinds(lines: &[Value]) -> Vec<String> {
    let kind = |line: &Value| {
        let part = &line["message"]["content"][0]["type"];
        [&line["type"], &line["subtype"], part].into_iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
    };
    lines.iter().map(kind).collect()
}

#[test]
fn a_run_is_its_start_the_parts_of_each_message_and_the_result() {
    let call = Reply::calls(&[("c1", "calculator", r#"{"expression":"1+1"}"#)]);
    let server = Server::start([call, Reply::text("It is 2.")]);
    let output = exec(&server).args(["--output", "stream-json", "what is 1+1?"]).output();
    assert_eq!((exit_code(&output), stderr(&output).as_str()), (0, ""));
    let lines = lines(&stdout(&output));
    assert_eq!(
        kinds(&lines),
        ["system init", "assistant tool_use", "user tool_result", "assistant text", "result success"]
    );
    let session = &lines[0]["session_id"];
    assert!(session.is_string() && lines.iter().all(|line| &line["session_id"] == session));
    let start = &lines[0];
    assert_eq!((&start["model"], &start["permissionMode"]), (&json!("m"), &json!("ask")));
    assert!(start["tools"].as_array().unwrap().contains(&json!("calculator")) && start["cwd"].is_string());
    let call = &lines[1]["message"]["content"][0];
    assert_eq!((&call["id"], &call["name"]), (&json!("c1"), &json!("calculator")));
    assert_eq!((&call["input"], &lines[1]["message"]["role"]), (&json!({"expression": "1+1"}), &json!("assistant")));
    let result = &lines[2]["message"]["content"][0];
    assert_eq!((&result["tool_use_id"], &result["is_error"]), (&json!("c1"), &json!(false)));
    assert!(lines[1]["message"]["id"] != lines[3]["message"]["id"]);
    let end = &lines[4];
    assert_eq!((&end["result"], &end["is_error"], &end["num_turns"]), (&json!("It is 2."), &json!(false), &json!(2)));
    assert_eq!((&end["stop_reason"], &end["permission_denials"]), (&json!("end_turn"), &json!([])));
    assert!(end["usage"]["input_tokens"].is_u64() && end["duration_ms"].is_u64());
}

#[test]
fn what_was_not_allowed_is_in_the_result_with_its_arguments() {
    let server =
        Server::start([Reply::calls(&[("c1", "bash", r#"{"command":"rm kept"}"#)]), Reply::text("I leave it.")]);
    let output = exec(&server).args(["--output", "stream-json", "hello"]).file("work/kept", "").output();
    let end = lines(&stdout(&output)).pop().unwrap();
    let denial = json!({"tool_name": "bash", "tool_use_id": "c1", "tool_input": {"command": "rm kept"}});
    assert_eq!(end["permission_denials"], json!([denial]));
}

#[test]
fn a_sub_agent_of_the_command_line_says_which_call_it_is_of() {
    let server = Server::routed(|request| {
        let is_child = request.texts("system").iter().any(|text| text.contains("You count."));
        match (is_child, request.texts("tool").len()) {
            (true, _) => Reply::text("Seven."),
            (false, 0) => Reply::calls(&[("c1", "agent", r#"{"name":"counter","task":"count"}"#)]),
            (false, _) => Reply::text("There are seven."),
        }
    });
    let agents =
        json!({"counter": {"description": "Counts: \"all\"", "prompt": "You count.", "tools": ["Read", "Grep"]}});
    let agents = agents.to_string();
    let output = exec(&server).args(["--output", "stream-json", "--agents", &agents, "hello"]).output();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    let lines = lines(&stdout(&output));
    let of_child: Vec<&Value> = lines.iter().filter(|line| line["parent_tool_use_id"] == "c1").collect();
    assert_eq!(of_child.len(), 1, "{lines:#?}");
    assert_eq!(of_child[0]["message"]["content"][0]["text"], "Seven.");
    assert_eq!(lines.last().unwrap()["num_turns"], 2);
}

#[test]
fn a_run_that_fails_or_never_begins_has_a_result_too() {
    let server = Server::start([Reply::json(401, json!({"error": {"message": "wrong key"}}))]);
    let output = exec(&server).args(["--output", "stream-json", "hello"]).output();
    let end = lines(&stdout(&output)).pop().unwrap();
    assert_eq!((&end["subtype"], &end["is_error"]), (&json!("error_during_execution"), &json!(true)));
    assert!(end["errors"][0].as_str().unwrap().contains("wrong key"), "{end}");

    let output = Program::new().args(["exec", "--output", "stream-json", "hello"]).output();
    let lines = lines(&stdout(&output));
    assert_eq!(
        (kinds(&lines), exit_code(&output)),
        (vec!["system init".to_owned(), "result error_during_execution".to_owned()], 2)
    );
    assert_eq!(lines[1]["exit_code"], 2);
}

#[test]
fn texts_that_are_sent_meanwhile_are_lines_of_the_user() {
    let gate = Gate::new();
    let call = Reply::calls(&[("c1", "calculator", r#"{"expression":"1+1"}"#)]);
    let server = Server::start([call.gated(&gate), Reply::text("Done.")]);
    let mut run = exec(&server).args(["--output", "stream-json", "--steer-stdin", "hello"]).piped().run();
    gate.wait_reached();
    run.write("and this\n");
    run.close_stdin();
    gate.open();
    let end = run.end();
    let texts: Vec<Value> = lines(&end.stdout)
        .into_iter()
        .filter(|line| line["type"] == "user" && line["message"]["content"][0]["type"] == "text")
        .map(|line| line["message"]["content"][0]["text"].clone())
        .collect();
    assert_eq!(texts, ["and this"]);
}

#[test]
fn the_first_line_names_the_mcp_servers_and_how_they_stand() {
    let server = Server::start([Reply::text("Hello.")]);
    let config = json!({"mcpServers": {"docs": {"command": "docs-server"}, "wiki": {"command": "wiki-server"}}});
    let program = exec(&server).file("servers.json", &config.to_string());
    let file = program.home().join("servers.json");
    let output = program.args(["--output", "stream-json", "--mcp-config", file.to_str().unwrap(), "hello"]).output();
    let init = lines(&stdout(&output)).remove(0);
    let expected = json!([{"name": "docs", "status": "pending"}, {"name": "wiki", "status": "pending"}]);
    assert_eq!(init["mcp_servers"], expected, "{}", stderr(&output));
}
