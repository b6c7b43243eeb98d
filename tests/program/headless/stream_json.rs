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
    assert_eq!((&start["model"], &start["permissionMode"]), (&json!("m"), &json!("default")));
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
    let denial = json!({"tool_name": "Bash", "tool_use_id": "c1", "tool_input": {"command": "rm kept"}});
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

/// Returns the parts of the lines of a kind, with their messages.
fn messages<'a>(lines: &'a [Value], kind: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["type"] == kind).map(|line| &line["message"]).collect()
}

#[test]
fn every_member_that_the_readers_of_claude_code_require_is_there() {
    let call = Reply::calls(&[("c1", "calculator", r#"{"expression":"1+1"}"#)]).thinking("I count.").usage(90, 7);
    let server = Server::start([call, Reply::text("It is 2.").usage(120, 5)]);
    let output = exec(&server).args(["--output", "stream-json", "what is 1+1?"]).output();
    let lines = lines(&stdout(&output));
    let said = messages(&lines, "assistant");
    assert_eq!(said[0]["content"][0], json!({"type": "thinking", "thinking": "I count.", "signature": ""}));
    let used: Vec<(&Value, &Value)> =
        said.iter().map(|said| (&said["usage"]["input_tokens"], &said["usage"]["output_tokens"])).collect();
    let (first, second) = ((&json!(90), &json!(7)), (&json!(120), &json!(5)));
    assert_eq!(used, [first, first, second], "each part names what its reply used");
    assert!(said.iter().all(|said| said["stop_reason"].is_null() && said["type"] == "message"));
    assert!(lines.last().unwrap()["duration_api_ms"].is_u64());
    assert!(lines[0]["slash_commands"].is_array());
    let mut names: Vec<&str> = lines.iter().filter_map(|line| line["uuid"].as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), lines.len(), "each line has a name of its own");
}

#[test]
fn replies_of_agents_that_work_at_the_same_time_are_messages_of_their_own() {
    let gate = Gate::new();
    let held = gate.clone();
    let server = Server::routed(move |request| {
        let task = request.texts("user").concat();
        let is_child = request.texts("system").iter().any(|text| text.contains("You count."));
        match (is_child, request.texts("tool").len()) {
            (true, _) if task.contains("birds") => Reply::text("Seven birds.").gated(&held),
            (true, _) => Reply::text("Two cats."),
            (false, 0) => Reply::calls(&[
                ("c1", "agent", r#"{"name":"counter","task":"count birds"}"#),
                ("c2", "agent", r#"{"name":"counter","task":"count cats"}"#),
            ]),
            (false, _) => Reply::text("Nine."),
        }
    });
    let agents = json!({"counter": {"description": "Counts.", "prompt": "You count."}}).to_string();
    let mut run = exec(&server).args(["--output", "stream-json", "--agents", &agents, "hello"]).piped().run();
    gate.wait_reached();
    run.wait_for_line(|line| line.contains("Two cats."));
    gate.open();
    let lines = lines(&run.end().stdout);
    let id = |words: &str| {
        let said = messages(&lines, "assistant").into_iter().find(|said| said["content"][0]["text"] == words);
        said.unwrap_or_else(|| panic!("{words}: {lines:#?}"))["id"].clone()
    };
    let mut ids = [id("Seven birds."), id("Two cats."), id("Nine.")].map(|id| id.to_string());
    ids.sort();
    assert!(ids[0] != ids[1] && ids[1] != ids[2], "{ids:?}");
}

#[test]
fn pieces_are_the_events_of_a_message_where_they_are_asked_for() {
    let server = Server::start([Reply::text("It is 2.").thinking("Hm.")]);
    let output = exec(&server).args(["--output", "stream-json", "--include-partial-messages", "hello"]).output();
    let lines = lines(&stdout(&output));
    let events: Vec<&Value> =
        lines.iter().filter(|line| line["type"] == "stream_event").map(|line| &line["event"]).collect();
    let mut kinds: Vec<&str> = events.iter().filter_map(|event| event["type"].as_str()).collect();
    kinds.dedup();
    assert_eq!(
        kinds,
        [
            "message_start",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop"
        ]
    );
    let text: String = events.iter().filter_map(|event| event["delta"]["text"].as_str()).collect();
    assert_eq!(text, "It is 2.");
    let end = events.iter().find(|event| event["type"] == "message_delta").unwrap();
    assert_eq!(end["delta"]["stop_reason"], "end_turn");
    let without = exec(&Server::start([Reply::text("It is 2.")])).args(["--output", "stream-json", "hello"]).output();
    assert!(!stdout(&without).contains("stream_event"));
}

#[test]
fn the_flags_of_claude_code_for_its_output_work_here() {
    let run = |form: &str| {
        let server = Server::start([Reply::text("It is 2.")]);
        let flags = ["-p", "--base-url", &server.url(), "--model", "m", "--output-format", form, "--verbose", "hello"];
        let output = Program::new().args(flags).output();
        assert_eq!(exit_code(&output), 0, "{form}: {}", stderr(&output));
        stdout(&output)
    };
    assert_eq!(run("text"), "It is 2.\n");
    let result = lines(&run("json"));
    assert_eq!((kinds(&result), &result[0]["result"]), (vec!["result success".to_owned()], &json!("It is 2.")));
    assert_eq!(kinds(&lines(&run("stream-json"))), ["system init", "assistant text", "result success"]);
}

fn user_line(content: &Value) -> String {
    json!({"type": "user", "message": {"role": "user", "content": content}}).to_string() + "\n"
}

#[test]
fn each_user_message_of_a_stream_is_a_turn_with_a_result_of_its_own() {
    let server = Server::start([Reply::text("One."), Reply::text("Two.")]);
    let flags = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"];
    let mut run = exec(&server).args(flags).piped().run();
    run.write(&user_line(&json!("first")));
    run.write(&user_line(&json!([{"type": "text", "text": "second"}])));
    run.close_stdin();
    let end = run.end();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    let lines = lines(&end.stdout);
    let expected = ["system init", "assistant text", "result success", "assistant text", "result success"];
    assert_eq!(kinds(&lines), expected, "{}", end.stderr);
    assert_eq!((&lines[2]["result"], &lines[4]["result"]), (&json!("One."), &json!("Two.")));
    let asked: Vec<Vec<String>> = server.chats().iter().map(|request| request.texts("user")).collect();
    assert_eq!(asked.last().unwrap(), &["first", "second"]);
}

#[test]
fn a_stream_answers_requests_about_the_run_and_names_what_it_cannot_take() {
    let server = Server::start([Reply::text("One.")]);
    let mut run = exec(&server).args(["--input", "stream-json"]).piped().run();
    let request = |id: &str, kind: &str| {
        json!({"type": "control_request", "request_id": id, "request": {"subtype": kind}}).to_string() + "\n"
    };
    run.write(&request("r1", "initialize"));
    run.write(&request("r2", "set_sail"));
    run.write(&user_line(&json!([{"type": "image", "source": {}}])));
    run.write("no json\n");
    run.write(&user_line(&json!("first")));
    run.close_stdin();
    let end = run.end();
    let lines = lines(&end.stdout);
    let responses: Vec<(&Value, &Value)> = lines
        .iter()
        .filter(|line| line["type"] == "control_response")
        .map(|line| (&line["response"]["request_id"], &line["response"]["subtype"]))
        .collect();
    assert_eq!(responses, [(&json!("r1"), &json!("success")), (&json!("r2"), &json!("error"))]);
    assert!(end.stderr.contains("image") && end.stderr.contains("no JSON"), "{}", end.stderr);
    assert_eq!(lines.last().unwrap()["result"], "One.");
}

#[test]
fn tools_and_their_arguments_have_the_names_of_claude_code() {
    let call = Reply::calls(&[("c1", "read", r#"{"path":"notes.md"}"#)]);
    let server = Server::start([call, Reply::text("Read.")]);
    let program = exec(&server).file("work/notes.md", "x");
    let path = program.work().canonicalize().unwrap().join("notes.md");
    let lines = lines(&stdout(&program.args(["--output", "stream-json", "hello"]).output()));
    let call = &messages(&lines, "assistant")[0]["content"][0];
    assert_eq!((&call["name"], &call["input"]), (&json!("Read"), &json!({"file_path": path})));
    let tools = lines[0]["tools"].as_array().unwrap();
    assert!(tools.contains(&json!("Bash")) && tools.contains(&json!("calculator")), "{tools:?}");
}
