//! Kinds and rules as scripts and other terminals send them: the built program, its lines, its requests, its sessions.

use serde_json::{Value, json};

use crate::support::program::{Program, Running, exit_code, stderr, stdout};
use crate::support::server::{Gate, Reply, Server};
use crate::support::stream_schema::check;
use tempfile::TempDir;

const GLOB: &[(&str, &str, &str)] = &[("c1", "glob", r#"{"pattern":"*"}"#)];

fn exec(home: TempDir, server: &Server) -> Program {
    let program = Program::within(home).args(["exec", "--base-url", &server.url(), "--model", "scripted", "--json"]);
    program.args(["--sandbox", "off"])
}

fn home() -> TempDir {
    TempDir::new().unwrap()
}

/// Writes a line and waits until its text is in the queue, as this kind.
fn say(run: &mut Running, line: &str, text: &str, kind: &str) {
    run.write(&format!("{line}\n"));
    run.wait_for_line(|line| {
        let event = &serde_json::from_str::<Value>(line).unwrap()["event"];
        let mut entries = event["entries"].as_array().into_iter().flatten();
        event["type"] == "pending" && entries.any(|entry| entry["text"] == text && entry["kind"] == kind)
    });
}

fn events(output: &str, name: &str) -> Vec<Value> {
    let events = output.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["event"].take());
    events.filter(|event| event["type"] == name).collect()
}

/// Returns the number of messages in which these words stand.
fn count(server: &Server, request: usize, words: &str) -> usize {
    server.chats()[request].contents("user").iter().filter(|text| text.contains(words)).count()
}

#[test]
fn lines_carry_kinds_and_a_session_that_goes_on_keeps_its_rule_and_its_frames() {
    let gate = Gate::new();
    let server = Server::start([Reply::calls(GLOB).gated(&gate), Reply::text("Done."), Reply::text("Again.")]);
    let mut run = exec(home(), &server).args(["--steer-stdin", "fix the tests"]).piped().run();
    gate.wait_reached();
    say(&mut run, "/rule no new files", "no new files", "rule");
    say(&mut run, "/note the CI is slow", "the CI is slow", "note");
    say(&mut run, "/instead write a report", "write a report", "instead");
    gate.open();
    let (end, home) = run.end_with_home();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    let kinds: Vec<Value> = events(&end.stdout, "user_turn").into_iter().map(|mut turn| turn["kind"].take()).collect();
    assert_eq!(kinds, ["add", "rule", "note", "instead"]);
    let rules = events(&end.stdout, "rules");
    assert_eq!(rules[0]["rules"][0]["text"], "no new files");
    let sent = server.chats()[1].contents("user");
    assert_eq!(server.chats()[1].texts("user"), ["fix the tests", "no new files", "the CI is slow", "write a report"]);
    assert!(sent[3].contains("kind=\"instead\"") && sent[3].contains("task=\"dropped: fix the tests\""), "{}", sent[3]);

    let output = exec(home, &server).args(["--continue", "and now?"]).output();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    let again = server.chats()[2].contents("user");
    assert_eq!(again[..4], sent[..]);
    assert_eq!(count(&server, 2, "no new files"), 1, "a rule that the conversation has is not told again");
    assert_eq!(events(&stdout(&output), "rules").last().unwrap()["rules"][0]["text"], "no new files");
}

#[test]
fn what_starts_no_turn_waits_in_its_session_for_the_next_message() {
    let gate = Gate::new();
    let server = Server::start([Reply::text("Done.").gated(&gate), Reply::text("Red.")]);
    let mut run = exec(home(), &server).args(["--steer-stdin", "hello"]).piped().run();
    gate.wait_reached();
    say(&mut run, "/note  it is red", "it is red", "note");
    gate.open();
    let (end, home) = run.end_with_home();
    assert_eq!((end.code, server.chats().len()), (Some(0), 1), "{}", end.stderr);
    assert!(end.stderr.contains("kept for the next message of this session: it is red"), "{}", end.stderr);
    assert!(!end.stderr.contains("not sent") && events(&end.stdout, "returned").is_empty(), "{}", end.stdout);

    let output = exec(home, &server).args(["--continue", "which colour?"]).output();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    assert!(stderr(&output).contains("--pending send or drop decides"), "{}", stderr(&output));
}

#[test]
fn what_starts_no_turn_is_returned_where_no_session_keeps_it() {
    let gate = Gate::new();
    let server = Server::start([Reply::text("Done.").gated(&gate)]);
    let mut run = exec(home(), &server).args(["--ephemeral", "--steer-stdin", "hello"]).piped().run();
    gate.wait_reached();
    say(&mut run, "/note  it is red", "it is red", "note");
    gate.open();
    let end = run.end();
    assert_eq!((end.code, server.chats().len()), (Some(0), 1), "{}", end.stderr);
    let returned = &events(&end.stdout, "returned")[0]["entries"];
    assert_eq!((&returned[0]["text"], &returned[0]["kind"]), (&json!("it is red"), &json!("note")), "{returned}");
}

#[test]
fn a_text_that_becomes_a_note_keeps_no_run_from_ending() {
    let gate = Gate::new();
    let server = Server::start([Reply::text("Done.").gated(&gate)]);
    let mut run = exec(home(), &server).args(["--input", "json"]).piped().run();
    run.write(&format!("{}\n", json!({"id": 1, "type": "send", "text": "hello"})));
    gate.wait_reached();
    run.write(&format!("{}\n", json!({"id": 2, "type": "send", "text": "it is red"})));
    run.write(&format!("{}\n", json!({"id": 3, "type": "edit", "message": "m2", "text": "it is red", "kind": "note"})));
    run.wait_for_line(|line| serde_json::from_str::<Value>(line).unwrap()["event"]["id"] == 3);
    run.write(&format!("{}\n", json!({"id": 4, "type": "end"})));
    gate.open();
    let end = run.end();
    assert_eq!((end.code, server.chats().len()), (Some(0), 1), "{}", end.stderr);
}

#[test]
fn requests_carry_kinds_and_a_rule_is_changed_and_withdrawn_by_its_message() {
    let gates = [Gate::new(), Gate::new(), Gate::new()];
    let mut replies: Vec<Reply> = gates.iter().map(|gate| Reply::calls(GLOB).gated(gate)).collect();
    replies.push(Reply::text("Done."));
    let server = Server::start(replies);
    let mut run = exec(home(), &server).args(["--input", "json"]).piped().run();
    let mut ask = |request: Value| {
        check("input", &request);
        run.write(&format!("{request}\n"));
        let mut reply = Value::Null;
        run.wait_for_line(|line| {
            reply = serde_json::from_str::<Value>(line).unwrap()["event"].take();
            reply["type"] == "reply" && reply["id"] == request["id"]
        });
        reply
    };
    ask(json!({"id": 1, "type": "send", "text": "fix the tests"}));
    gates[0].wait_reached();
    let text = "no new files";
    let rule = ask(json!({"id": 2, "type": "send", "text": text, "kind": "rule", "scope": "agent"}))["message"].take();
    let note = ask(json!({"id": 3, "type": "send", "text": "the CI is slow"}))["message"].take();
    let edited = ask(json!({"id": 4, "type": "edit", "message": note, "text": "the CI is slow", "kind": "note"}));
    assert_eq!(edited["ok"], true, "{edited}");
    gates[0].open();
    gates[1].wait_reached();
    let changed = ask(json!({"id": 5, "type": "rule", "rule": rule, "text": "no new files but tests"}));
    assert_eq!(changed["ok"], true, "{changed}");
    gates[1].open();
    gates[2].wait_reached();
    assert_eq!(ask(json!({"id": 6, "type": "rule", "rule": rule, "withdraw": true}))["ok"], true);
    let gone = ask(json!({"id": 7, "type": "rule", "rule": rule, "withdraw": true}));
    assert!(gone["reason"].as_str().is_some_and(|reason| reason.contains("no rule m2 holds")), "{gone}");
    let empty = ask(json!({"id": 8, "type": "rule", "rule": rule}));
    assert_eq!(empty["reason"], "rule needs text, scope or withdraw");
    ask(json!({"id": 9, "type": "end"}));
    gates[2].open();
    let end = run.end();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    let chats = server.chats();
    let last = |request: usize| chats[request].contents("user").pop().unwrap();
    let second = chats[1].contents("user");
    assert!(second[1].contains("kind=\"rule\"") && second[1].contains("for=\"you\""), "{}", second[1]);
    assert!(second[2].contains("kind=\"note\""), "{}", second[2]);
    assert!(last(2).contains("no new files but tests") && last(3).contains("withdrawn"), "{} {}", last(2), last(3));
    let news: Vec<Value> = events(&end.stdout, "rule_told").into_iter().map(|mut told| told["news"].take()).collect();
    assert_eq!(news, ["changed", "withdrawn"]);
    assert_eq!(chats[3].contents("user")[..3], second[..], "what was sent stays as it was");
}

#[test]
fn another_terminal_sends_a_rule_with_its_scope_and_status_shows_it() {
    let gates = [Gate::new(), Gate::new()];
    let replies = [Reply::calls(GLOB).gated(&gates[0]), Reply::text("Done.").gated(&gates[1])];
    let server = Server::start(replies);
    let run = exec(home(), &server).args(["hello"]).run();
    gates[0].wait_reached();
    let beside = |args: &[&str]| {
        let output = Program::beside(&run).args(args.iter().copied()).output();
        (exit_code(&output), stdout(&output), stderr(&output))
    };
    let (code, out, err) = beside(&["inject", "--kind", "rule", "--scope", "new-agents", "read only"]);
    assert_eq!((code, out.as_str()), (0, "m2 is pending\n"), "{err}");
    assert_eq!(beside(&["inject", "--kind", "wish", "x"]).0, 2);
    gates[0].open();
    gates[1].wait_reached();
    let (_, text, _) = beside(&["status"]);
    assert!(text.contains("  m2 rule ") && text.contains("read only"), "{text}");
    let status: Value = serde_json::from_str(&beside(&["status", "--json"]).1).unwrap();
    assert_eq!(status[0]["rules"][0]["scope"], "new_agents", "{status}");
    gates[1].open();
    assert_eq!(run.end().code, Some(0));
    assert!(server.chats()[1].contents("user")[1].contains("kind=\"rule\""));
}

#[test]
fn with_plain_framing_the_bare_words_are_sent_and_nothing_is_explained() {
    let gate = Gate::new();
    let server = Server::start([Reply::calls(GLOB).gated(&gate), Reply::text("Done.")]);
    let program = exec(home(), &server).config("steering.framing = \"plain\"");
    let mut run = program.args(["--steer-stdin", "fix the tests"]).piped().run();
    gate.wait_reached();
    say(&mut run, "/instead write a report", "write a report", "instead");
    gate.open();
    assert_eq!(run.end().code, Some(0));
    let chat = &server.chats()[1];
    assert_eq!(chat.contents("user"), ["fix the tests", "write a report"]);
    assert!(!chat.texts("system").concat().contains("steer-"));
}

#[test]
fn lines_carry_conditions_and_what_is_never_met_is_listed_as_not_sent() {
    let gate = Gate::new();
    let server = Server::start([Reply::calls(GLOB).gated(&gate), Reply::text("Done.")]);
    let mut run = exec(home(), &server).args(["--steer-stdin", "fix the tests"]).piped().run();
    gate.wait_reached();
    say(&mut run, "/when after glob: look at them", "look at them", "add");
    say(&mut run, "/every 50 steps: where are you?", "where are you?", "add");
    run.write("/when soon: go on\n");
    gate.open();
    let end = run.end();
    assert_eq!((end.code, server.chats().len()), (Some(0), 2), "{}", end.stderr);
    assert!(end.stderr.contains("\"soon\" is no condition; write one of"), "{}", end.stderr);
    assert_eq!(server.chats()[1].texts("user"), ["fix the tests", "look at them"]);
    assert!(server.chats()[1].contents("user")[1].contains("due=\"after glob\""));
    let turns = events(&end.stdout, "user_turn");
    assert_eq!(turns[1]["met"], json!({"condition": "after glob", "recurrence": "once"}));
    let unsent = &events(&end.stdout, "session_ended")[0]["unsent"];
    assert_eq!(unsent[0]["trigger"]["condition"], "50 steps", "{unsent}");
}

#[test]
fn requests_carry_conditions_and_a_session_that_goes_on_has_them() {
    let gates = [Gate::new(), Gate::new()];
    let replies = [Reply::calls(GLOB).gated(&gates[0]), Reply::text("Done.").gated(&gates[1])];
    let server = Server::start(replies);
    let mut run = exec(home(), &server).args(["--input", "json"]).piped().run();
    let mut ask = |request: Value| {
        check("input", &request);
        run.write(&format!("{request}\n"));
        let mut reply = Value::Null;
        run.wait_for_line(|line| {
            reply = serde_json::from_str::<Value>(line).unwrap()["event"].take();
            reply["type"] == "reply" && reply["id"] == request["id"]
        });
        reply
    };
    ask(json!({"id": 1, "type": "send", "text": "fix the tests"}));
    gates[0].wait_reached();
    let text = "look at them";
    let sent = ask(json!({"id": 2, "type": "send", "text": text, "when": "bash fails"}))["message"].take();
    let edit = json!({"id": 3, "type": "edit", "message": sent, "text": text, "every": "after glob"});
    assert_eq!(ask(edit)["ok"], true);
    let both = json!({"id": 4, "type": "send", "text": "x", "when": "1 step", "every": "1 step"});
    assert_eq!(ask(both)["reason"], "when and every exclude each other");
    let soon = ask(json!({"id": 5, "type": "send", "text": "x", "when": "soon"}));
    assert!(soon["reason"].as_str().is_some_and(|why| why.contains("is no condition")), "{soon}");
    gates[0].open();
    gates[1].wait_reached();
    assert!(server.chats()[1].contents("user")[1].contains("due=\"every after glob\""));
    ask(json!({"id": 6, "type": "end"}));
    gates[1].open();
    let end = run.end();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
}

#[test]
fn another_terminal_sends_a_text_with_a_condition_and_status_shows_it() {
    let gate = Gate::new();
    let server = Server::start([Reply::calls(GLOB).gated(&gate), Reply::text("Done.")]);
    let run = exec(home(), &server).args(["hello"]).run();
    gate.wait_reached();
    let beside = |args: &[&str]| {
        let output = Program::beside(&run).args(args.iter().copied()).output();
        (exit_code(&output), stdout(&output), stderr(&output))
    };
    let (code, out, err) = beside(&["inject", "--when", "after glob", "look at them"]);
    assert_eq!((code, out.as_str()), (0, "m2 is pending\n"), "{err}");
    assert_eq!(beside(&["inject", "--every", "20 steps", "where are you?"]).0, 0);
    assert_eq!(beside(&["inject", "--when", "soon", "x"]).0, 2);
    let (_, text, _) = beside(&["status"]);
    assert!(text.contains("m2 pending from inject 1 after glob for main: look at them"), "{text}");
    assert!(text.contains("every 20 steps"), "{text}");
    gate.open();
    assert_eq!(run.end().code, Some(0));
    assert!(server.chats()[1].contents("user")[1].contains("look at them"));
}

#[test]
fn another_terminal_calls_a_custom_command_of_the_session() {
    let gate = Gate::new();
    let server = Server::start([Reply::text("Done.").gated(&gate), Reply::text("Two."), Reply::text("Three.")]);
    let program = exec(home(), &server)
        .file(".claude/commands/greet.md", "Greet $1 warmly.")
        .file(".claude/commands/broken.md", "---\nallowed-tools: Bash(false:*)\n---\n!`false`")
        .args(["--steer-stdin", "hello"]);
    let run = program.piped().run();
    gate.wait_reached();
    let beside = |arguments: &[&str]| {
        let output = Program::beside(&run).args(arguments.iter().copied()).output();
        (exit_code(&output), stderr(&output))
    };
    assert_eq!(beside(&["inject", "/greet Ann"]), (0, String::new()));
    assert_eq!(beside(&["inject", "--follow-up", "//greet Ann"]), (0, String::new()));
    let (code, said) = beside(&["inject", "/broken"]);
    assert!(code == 1 && said.contains("not sent: `false` failed"), "{said}");
    gate.open();
    let mut run = run;
    run.close_stdin();
    let end = run.end();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    let texts = server.chats().last().unwrap().texts("user");
    assert_eq!(texts, ["hello", "Greet Ann warmly.", "/greet Ann"]);
}
