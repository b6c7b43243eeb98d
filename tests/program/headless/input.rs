//! What `exec` takes from programs: requests, prompts of several parts, rules.

use serde_json::{Value, json};

use super::{exec, lines, of};
use crate::support::program::{End, Program, Running, exit_code, stderr, stdout};
use crate::support::server::{Gate, Reply, Server};
use crate::support::stream_schema::check;

/// Sends a request and returns its reply.
fn ask(run: &mut Running, request: &Value) -> Value {
    check("input", request);
    run.write(&format!("{request}\n"));
    reply(run, &request["id"])
}

fn reply(run: &mut Running, id: &Value) -> Value {
    let mut found = Value::Null;
    run.wait_for_line(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        let is_it = line["event"]["type"] == "reply" && line["event"]["id"] == *id;
        if is_it {
            found = line["event"].clone();
        }
        is_it
    });
    found
}

fn requests(server: &Server, args: &[&str]) -> Running {
    exec(server).args(["--input", "json"]).args(args.iter().copied()).file("work/kept", "").piped().run()
}

fn wait_for(run: &mut Running, name: &str) {
    let part = format!("\"type\":\"{name}\"");
    run.wait_for_line(|line| line.contains(&part));
}

/// Sends a request and waits for its reply and for an event that it brings about, whichever comes first.
fn ask_until(run: &mut Running, request: &Value, name: &str) -> Value {
    check("input", request);
    run.write(&format!("{request}\n"));
    let (mut reply, mut has_come) = (Value::Null, false);
    run.wait_for_line(|line| {
        let event = serde_json::from_str::<Value>(line).unwrap()["event"].take();
        has_come |= event["type"] == name;
        if event["type"] == "reply" && event["id"] == request["id"] {
            reply = event;
        }
        has_come && !reply.is_null()
    });
    reply
}

fn result(end: &End) -> Value {
    lines(&end.stdout).pop().unwrap()["event"].clone()
}

#[test]
fn a_pipe_that_nobody_writes_into_is_not_waited_for() {
    let server = Server::start([Reply::text("done")]);
    let mut run = exec(&server).args(["hello"]).piped().run();
    run.wait_for_error("going on without it");
    // The pipe is open until here.
    let end = run.end();
    assert_eq!((end.code, server.chats()[0].texts("user")), (Some(0), vec!["hello".to_owned()]), "{}", end.stderr);
}

#[test]
fn requests_are_answered_by_their_id_and_the_session_stays_open_until_its_end() {
    let gate = Gate::new();
    let server = Server::start([Reply::text("one").gated(&gate), Reply::text("two"), Reply::text("three")]);
    let mut run = requests(&server, &[]);
    let first = ask(&mut run, &json!({"id": "a", "type": "send", "text": "several\nlines"}));
    assert_eq!((&first["ok"], &first["reason"]), (&json!(true), &Value::Null));
    gate.wait_reached();
    let second = ask(&mut run, &json!({"id": 2, "type": "send", "text": "second", "delivery": "follow_up"}));
    let third = ask(&mut run, &json!({"id": 3, "type": "send", "text": "third", "delivery": "follow_up"}));
    let edited = ask(&mut run, &json!({"id": 4, "type": "edit", "message": second["message"], "text": "other"}));
    assert_eq!(edited["ok"], true);
    let withdrawn = ask(&mut run, &json!({"id": 5, "type": "withdraw", "message": third["message"]}));
    assert_eq!(withdrawn["returned"][0]["text"], "third");
    let again = ask(&mut run, &json!({"id": 6, "type": "withdraw", "message": third["message"]}));
    assert_eq!((&again["ok"], again["reason"].is_string()), (&json!(false), true));
    gate.open();
    wait_for(&mut run, "turn_ended");
    wait_for(&mut run, "turn_ended");
    // Half a character is no reason to lose a text.
    run.write("\u{feff}{\"id\":7,\"type\":\"send\",\"text\":\"last\\ud83d\"}\n");
    assert_eq!(reply(&mut run, &json!(7))["ok"], true);
    assert_eq!(ask(&mut run, &json!({"id": 8, "type": "end"}))["ok"], true);
    let end = run.end();
    assert_eq!((end.code, end.stderr.as_str()), (Some(0), ""));
    assert_eq!(result(&end)["answer"], "three");
    assert_eq!(server.chats()[2].texts("user"), ["several\nlines", "other", "last\u{fffd}"]);
}

#[test]
fn a_line_that_is_no_request_is_answered_too() {
    let server = Server::start([]);
    let mut run = requests(&server, &[]);
    run.write("{\"id\":1,\"type\":\"sing\"}\nnot json\n\n");
    let unknown = reply(&mut run, &json!(1));
    assert!(unknown["reason"].as_str().unwrap().contains("sing"), "{unknown}");
    assert_eq!(reply(&mut run, &Value::Null)["ok"], false);
    let missing = ask(&mut run, &json!({"id": 2, "type": "decide", "decision": "edited"}));
    assert_eq!(missing["reason"], "edited needs arguments");
    run.close_stdin();
    let end = run.end();
    assert_eq!((end.code, &result(&end)["answer"]), (Some(0), &Value::Null));
    // Also before a reply that came while the agent was being made.
    let lines = lines(&end.stdout);
    assert_eq!(lines[0]["event"]["type"], "session_started");
    assert!(lines.is_sorted_by_key(|line| line["seq"].as_u64()), "{}", end.stdout);
}

#[test]
fn a_model_is_answered_when_it_is_known_whether_it_can_be_used() {
    let listing = Gate::new();
    let server = Server::start([Reply::text("by the other")]);
    let list = Reply::json(200, json!({"data": [{"id": "m"}, {"id": "other"}]}));
    server.on("/v1/models", list.gated(&listing));
    let mut run = requests(&server, &[]);
    for (id, name) in [(1, "missing"), (2, "nowhere/other"), (3, "other")] {
        run.write(&format!("{}\n", json!({"id": id, "type": "model", "name": name})));
    }
    // A later request for a model ends an earlier one that is not answered yet.
    let replaced = reply(&mut run, &json!(1));
    assert!(replaced["reason"].as_str().unwrap().contains("another model"), "{replaced}");
    assert_eq!(reply(&mut run, &json!(2))["ok"], false);
    listing.open();
    assert_eq!(reply(&mut run, &json!(3))["ok"], true);
    ask(&mut run, &json!({"id": 4, "type": "send", "text": "hello"}));
    wait_for(&mut run, "turn_ended");
    ask(&mut run, &json!({"id": 5, "type": "end"}));
    assert_eq!(run.end().code, Some(0));
    assert_eq!(server.chats()[0].body["model"], "other");
}

#[test]
fn a_question_is_answered_by_a_request_and_a_yes_before_it_approves_nothing() {
    let removal = Reply::calls(&[("c1", "bash", r#"{"command":"rm kept"}"#)]);
    let server = Server::start([removal, Reply::text("I leave it.")]);
    let mut run = requests(&server, &["hello"]);
    let early = json!({"id": 1, "type": "answer", "question": 9, "answer": "yes"});
    assert_eq!(ask_until(&mut run, &early, "question")["ok"], false);
    let no = json!({"id": 2, "type": "answer", "question": 1, "answer": "no", "reason": "keep it"});
    assert_eq!(ask(&mut run, &no)["ok"], true);
    ask(&mut run, &json!({"id": 3, "type": "end"}));
    let (end, home) = run.end_with_home();
    assert!(home.path().join("work/kept").exists());
    assert_eq!(of(&lines(&end.stdout), "answer")[0]["event"]["by"], "input");
    assert!(server.chats()[1].texts("tool")[0].contains("keep it"));
}

#[test]
fn cancel_stops_the_turn_returns_what_waits_and_leaves_the_session_open() {
    let gate = Gate::new();
    let server = Server::start([Reply::text("never").gated(&gate), Reply::text("again")]);
    let mut run = requests(&server, &["hello"]);
    gate.wait_reached();
    ask(&mut run, &json!({"id": 1, "type": "send", "text": "later", "delivery": "follow_up"}));
    let stopped = ask_until(&mut run, &json!({"id": 2, "type": "cancel"}), "turn_ended");
    assert_eq!(stopped["returned"][0]["text"], "later");
    ask(&mut run, &json!({"id": 3, "type": "send", "text": "once more"}));
    ask(&mut run, &json!({"id": 4, "type": "budget", "max_tokens": 1_000_000}));
    ask(&mut run, &json!({"id": 5, "type": "end"}));
    let end = run.end();
    assert_eq!((end.code, &result(&end)["answer"]), (Some(0), &json!("again")));
    assert_eq!(result(&end)["unsent"][0]["text"], "later");
}

#[test]
fn close_task_closes_what_a_stopped_turn_left_open() {
    let gate = Gate::new();
    let server = Server::start([Reply::text("never").gated(&gate), Reply::text("again")]);
    let mut run = requests(&server, &["hello"]);
    gate.wait_reached();
    ask_until(&mut run, &json!({"id": 1, "type": "cancel"}), "turn_ended");
    assert_eq!(ask_until(&mut run, &json!({"id": 2, "type": "close_task"}), "task_closed")["ok"], true);
    ask(&mut run, &json!({"id": 3, "type": "send", "text": "new work"}));
    ask(&mut run, &json!({"id": 4, "type": "end"}));
    let end = run.end();
    assert_eq!((end.code, &result(&end)["answer"]), (Some(0), &json!("again")));
}

#[test]
fn a_paused_agent_waits_for_a_decision() {
    let call = Reply::calls(&[("c1", "calculator", r#"{"expression":"1+1"}"#)]);
    let server = Server::start([call, Reply::text("skipped")]);
    let mut run = requests(&server, &[]);
    assert_eq!(ask(&mut run, &json!({"id": 1, "type": "pause", "agent": ""}))["ok"], true);
    ask_until(&mut run, &json!({"id": 2, "type": "send", "text": "hello"}), "parked");
    let skip = json!({"id": 3, "type": "decide", "call": "c1", "decision": "skip", "reason": "no sums"});
    assert_eq!(ask(&mut run, &skip)["ok"], true);
    ask(&mut run, &json!({"id": 4, "type": "pause", "agent": "", "paused": false}));
    ask(&mut run, &json!({"id": 5, "type": "end"}));
    let end = run.end();
    assert_eq!(result(&end)["answer"], "skipped");
    assert!(server.chats()[1].texts("tool")[0].contains("no sums"));
}

#[test]
fn a_prompt_has_its_files_and_the_standard_input_as_fenced_blocks() {
    let server = Server::start([Reply::text("ok")]);
    let program = exec(&server).args(["--prompt-file", "ask.md", "--attach", "data.csv"]);
    let program = program.file("work/ask.md", "Sum it up.\n").file("work/data.csv", "a,b\n```\n");
    let mut run = program.piped().run();
    run.write("from a pipe\n");
    run.close_stdin();
    assert_eq!(run.end().code, Some(0));
    let prompt = "Sum it up.\n\ndata.csv:\n````\na,b\n```\n````\n\nStandard input:\n```\nfrom a pipe\n```";
    assert_eq!(server.chats()[0].texts("user"), [prompt]);
}

#[test]
fn the_system_prompt_the_tools_and_the_rules_of_one_run_are_given_as_arguments() {
    let touch = Reply::calls(&[("c1", "bash", r#"{"command":"touch made"}"#)]);
    let server = Server::start([touch.clone(), Reply::text("ok")]);
    let program = exec(&server).args(["--append-system-prompt", "more.md", "--tools", "bash,read"]);
    let program = program.args(["--allow", "bash: touch *", "hello"]).file("work/more.md", "Be brief.\n");
    let (output, home) = program.output_with_home();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    assert!(home.path().join("work/made").exists(), "{}", stderr(&output));
    let chat = &server.chats()[0];
    assert!(chat.texts("system")[0].contains("Be brief."));
    let mut tools = chat.tools();
    tools.sort();
    assert_eq!(tools, ["bash", "read"]);
    let server = Server::start([touch, Reply::text("ok")]);
    let args = ["--yes", "--deny", "bash: touch *", "--strict", "hello"];
    let (output, home) = exec(&server).args(args).output_with_home();
    assert_eq!(exit_code(&output), 3, "{}", stderr(&output));
    assert!(!home.path().join("work/made").exists());
}

#[test]
fn an_unknown_tool_and_a_rule_that_is_none_are_refused() {
    let server = Server::start([]);
    for (args, words) in [(["--tools", "sing"], "there is no tool sing"), (["--allow", "sing: *"], "sing")] {
        let output = exec(&server).args(args).args(["hello"]).output();
        assert!(exit_code(&output) != 0 && stderr(&output).contains(words), "{}", stderr(&output));
        assert_eq!(stdout(&output), "");
    }
}

#[test]
fn a_configuration_of_the_user_can_be_left_out() {
    let server = Server::start([Reply::text("ok"), Reply::text("ok")]);
    for (flag, words) in [(None, "You are terse."), (Some("--ignore-user-config"), "")] {
        let program = exec(&server).args(flag).args(["hello"]).config("system_prompt = 'prompt.md'");
        let output = program.file(".config/steersman/prompt.md", "You are terse.").output();
        assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
        let system = server.chats().pop().unwrap().texts("system").remove(0);
        assert_eq!(system.starts_with("You are terse."), !words.is_empty(), "{flag:?}");
    }
}

#[test]
fn a_project_is_trusted_for_one_run_by_the_hash_that_the_warning_names() {
    let server = Server::start([Reply::text("ok"), Reply::text("ok")]);
    let project = |program: Program| {
        program
            .file("work/.git/HEAD", "")
            .file("work/.steersman/config.toml", "max_steps = 7\n")
            .args(["--json", "hello"])
    };
    let output = project(exec(&server)).output();
    let said = stderr(&output);
    let (_, hash) = said.split_once("--trust-project ").unwrap_or_else(|| panic!("{said}"));
    let hash = hash.split_whitespace().next().unwrap();
    let steps = |output: &str| lines(output)[0]["event"]["max_steps"].clone();
    assert_ne!(steps(&stdout(&output)), 7);
    let output = project(exec(&server).args(["--trust-project", hash])).output();
    assert_eq!(steps(&stdout(&output)), 7, "{}", stderr(&output));
}

#[test]
fn what_stands_behind_the_end_is_returned() {
    let server = Server::start([Reply::text("one")]);
    let mut run = requests(&server, &[]);
    let first = json!({"id": 1, "type": "send", "text": "first"});
    run.write(&format!(
        "{first}\n{}\n{}\n",
        json!({"id": 2, "type": "end"}),
        json!({"id": 3, "type": "send", "text": "too late"})
    ));
    let end = run.end();
    let result = result(&end);
    assert_eq!((&result["exit_code"], &result["unsent"][0]["text"]), (&json!(0), &json!("too late")), "{result}");
    assert_eq!(server.chats()[0].texts("user"), ["first"]);
}

#[test]
fn an_agent_that_the_input_leaves_paused_ends_the_run_and_its_call_does_not_run() {
    for end in ["{\"type\":\"end\"}\n", ""] {
        let call = Reply::calls(&[("c1", "write", r#"{"path":"made","content":"x"}"#)]);
        let server = Server::start([call, Reply::text("never")]);
        let mut run = requests(&server, &[]);
        ask(&mut run, &json!({"id": 1, "type": "pause"}));
        run.write(&format!("{}\n", json!({"id": 2, "type": "send", "text": "hello"})));
        wait_for(&mut run, "parked");
        run.write(end);
        run.close_stdin();
        let (ended, home) = run.end_with_home();
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        assert!(ended.stderr.contains("keeps an agent paused"), "{}", ended.stderr);
        assert_eq!(result(&ended)["reason"], "the input has ended, and it keeps an agent paused");
        assert!(!home.path().join("work/made").exists());
    }
}

#[test]
fn a_run_ends_with_its_input_after_a_stop_that_ended_agents_in_the_background() {
    let gate = Gate::new();
    let held = gate.clone();
    let task = json!({"name": "file_miner", "task": "Count birds.", "background": true}).to_string();
    let server = Server::routed(move |request| match (request.texts("user")[0].as_str(), request.roles().len()) {
        ("Count birds.", _) => Reply::text("Seven.").gated(&held),
        (_, 2) => Reply::calls(&[("c1", "agent", task.as_str())]),
        (_, _) => Reply::text("I wait."),
    });
    let mut run = requests(&server, &[]);
    ask_until(&mut run, &json!({"id": 1, "type": "send", "text": "hello"}), "turn_ended");
    ask_until(&mut run, &json!({"id": 2, "type": "cancel"}), "agent_finished");
    ask(&mut run, &json!({"id": 3, "type": "end"}));
    let end = run.end();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    assert_eq!(result(&end)["answer"], "I wait.");
}
