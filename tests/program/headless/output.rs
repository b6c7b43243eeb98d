//! What `exec` writes for programs, and how it ends.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, symlink};
use std::path::Path;
use std::sync::Mutex;
use std::thread;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{exec, lines, of};
use crate::support::program::{Program, exit_code, stderr, stdout};
use crate::support::server::{Gate, Reply, Server};
use crate::support::stream_schema::check;

fn write_call() -> Reply {
    Reply::calls(&[("c1", "write", r#"{"path":"new.txt","content":"one\ntwo\n"}"#)])
}

fn removal() -> Reply {
    Reply::calls(&[("c1", "bash", r#"{"command":"rm kept"}"#)])
}

fn sum(id: &str) -> Reply {
    Reply::calls(&[(id, "calculator", r#"{"expression":"1+1"}"#)])
}

#[test]
fn each_line_names_session_turn_and_round_and_the_end_says_everything_again() {
    let server = Server::start([write_call(), Reply::text("It is written.")]);
    let output = exec(&server).args(["--json", "hello"]).output();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    let lines = lines(&stdout(&output));
    let session = lines[0]["session"].as_str().unwrap();
    assert!(lines.iter().all(|line| line["session"] == session));
    assert_eq!((&lines[0]["turn"], &lines[0]["round"]), (&Value::Null, &Value::Null));
    let result = of(&lines, "tool_result")[0];
    assert_eq!((&result["turn"], &result["round"]), (&json!(1), &json!(1)));
    assert_eq!((&result["event"]["name"], &result["event"]["error"]), (&json!("write"), &Value::Null));
    assert_eq!(result["event"]["text"], result["event"]["content"]);
    let changed = &of(&lines, "files_changed")[0]["event"];
    assert_eq!(changed["id"], "c1");
    assert_eq!(changed["files"], json!([{"path": "new.txt", "created": true, "added": 2, "removed": 0}]));
    let turn = of(&lines, "turn_ended")[0];
    assert_eq!((&turn["turn"], &turn["round"]), (&json!(1), &json!(2)));
    let turn = &turn["event"];
    assert_eq!(
        (&turn["answer"], &turn["finish"], &turn["error"]),
        (&json!("It is written."), &json!("stop"), &Value::Null)
    );
    assert_eq!(turn["usage"]["rounds"], 2);
    let user = &of(&lines, "user_turn")[0]["event"];
    assert_eq!((&user["text"], &user["id"]), (&json!("hello"), &user["injection"]));
    let end = &lines.last().unwrap()["event"];
    assert_eq!((&end["exit_code"], &end["code"], &end["outcome"]), (&json!(0), &json!(0), &json!("completed")));
    assert_eq!((&end["answer"], &end["files"]), (&json!("It is written."), &json!(["new.txt"])));
    assert_eq!((&end["usage"], &end["cost_nanos"]), (&turn["usage"], &Value::Null));
    assert_eq!(end["by_model"][0]["usage"], end["usage"]);
}

#[test]
fn a_question_says_what_kind_where_and_why_and_an_answer_by_whom() {
    let server = Server::start([removal(), Reply::text("I leave it.")]);
    let program = exec(&server).args(["--json", "--steer-stdin", "hello"]).file("work/kept", "").piped();
    let work = program.work().canonicalize().unwrap();
    let mut run = program.run();
    run.wait_for_error("answer: /yes 1");
    run.write("/no 1 keep it\n");
    let end = run.end();
    let lines = lines(&end.stdout);
    let question = &of(&lines, "question")[0]["event"];
    assert_eq!((&question["number"], &question["kind"]), (&json!(1), &json!("command")));
    assert_eq!(question["directory"], work.to_str().unwrap());
    assert_eq!(of(&lines, "answer")[0]["event"]["by"], "input");
    assert_eq!(of(&lines, "tool_result")[0]["event"]["error"]["kind"], "declined");
    assert_eq!(lines.last().unwrap()["event"]["refused"][0]["kind"], "declined");
}

#[test]
fn a_failed_call_says_whether_it_was_refused_wrong_or_failed() {
    let calls = Reply::calls(&[
        ("c1", "bash", r#"{"command":"rm kept"}"#),
        ("c2", "nothing", "{}"),
        ("c3", "read", r#"{"wrong":1}"#),
        ("c4", "read", r#"{"path":"missing"}"#),
    ]);
    let server = Server::start([calls, Reply::text("Nothing worked.")]);
    let output = exec(&server).args(["--json", "--strict", "hello"]).output();
    let lines = lines(&stdout(&output));
    let kinds: Vec<&Value> = of(&lines, "tool_result").iter().map(|line| &line["event"]["error"]["kind"]).collect();
    assert_eq!(kinds, ["refused", "invalid", "invalid", "failed"]);
    let end = &lines.last().unwrap()["event"];
    assert_eq!((exit_code(&output), &end["exit_code"]), (3, &json!(3)));
    assert_eq!((&end["refused"][0]["name"], &end["refused"][0]["id"]), (&json!("bash"), &json!("c1")));
}

#[test]
fn strict_tells_by_the_exit_code_what_stands_against_a_completed_run() {
    type Case<'a> = (&'a [&'a str], Vec<Reply>, i32, i32, &'a str);
    let refused = || Reply::json(401, json!({"error": {"message": "no such key"}}));
    let cases: [Case; 4] = [
        (&["--max-steps", "1"], vec![sum("c1"), sum("c2"), Reply::text("From what was found.")], 0, 4, "synthesized"),
        (&["--max-rounds", "1"], vec![sum("c1"), Reply::text("never")], 1, 5, "failed"),
        (&[], vec![refused()], 1, 6, "failed"),
        (&[], vec![Reply::text("fine")], 0, 0, "completed"),
    ];
    for (args, replies, plain, strict, outcome) in cases {
        for (flag, code) in [("--json", plain), ("--strict", strict)] {
            let server = Server::start(replies.clone());
            let output = exec(&server).args(args.iter().copied()).args([flag, "hello"]).output();
            assert_eq!(exit_code(&output), code, "{args:?} {flag}: {}", stderr(&output));
        }
        let server = Server::start(replies);
        let output =
            exec(&server).args(args.iter().copied()).args(["--strict", "--output", "result", "hello"]).output();
        let result: Value = serde_json::from_str(&stdout(&output)).unwrap();
        check("result", &result);
        assert_eq!((&result["exit_code"], &result["outcome"]), (&json!(strict), &json!(outcome)));
    }
}

#[test]
fn a_server_that_does_not_take_the_key_is_named_as_that() {
    let server = Server::start([Reply::json(401, json!({"error": {"message": "no such key"}}))]);
    let output = exec(&server).args(["--json", "hello"]).output();
    let lines = lines(&stdout(&output));
    let error = json!({"kind": "authentication", "status": 401, "retryable": false});
    assert_eq!(of(&lines, "turn_ended")[0]["event"]["error"], error);
    assert_eq!(lines.last().unwrap()["event"]["error"], error);
}

#[test]
fn strict_names_a_key_that_is_refused_before_there_is_a_model() {
    for (flag, code) in [("--json", 1), ("--strict", 6)] {
        let server = Server::start([]);
        server.on("/v1/models", Reply::json(401, json!({"error": {"message": "no such key"}})));
        let args = ["exec", "--base-url", &server.url(), "--sandbox", "off", flag, "hello"];
        let output = Program::new().args(args).output();
        assert_eq!(exit_code(&output), code, "{}", stderr(&output));
    }
}

#[test]
fn a_run_ends_when_its_time_is_over() {
    for (args, code) in [(vec!["--json"], 1), (vec!["--json", "--strict"], 5)] {
        let gate = Gate::new();
        let server = Server::start([Reply::text("never").gated(&gate)]);
        let output = exec(&server).args(args).args(["--max-time", "1s", "hello"]).output();
        assert_eq!(exit_code(&output), code, "{}", stderr(&output));
        let end = lines(&stdout(&output)).pop().unwrap();
        assert_eq!(end["event"]["reason"], "the time of --max-time is over");
        assert_eq!(end["event"]["exit_code"], code);
    }
}

#[test]
fn the_answer_goes_to_a_file_as_one_step_and_the_result_is_one_object() {
    let server = Server::start([Reply::text("The answer.")]);
    let program = exec(&server).args(["--output", "result", "-o", "last.md", "hello"]).file("work/last.md", "old");
    let (output, home) = program.output_with_home();
    let result: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!((exit_code(&output), &result["answer"]), (0, &json!("The answer.")));
    assert_eq!(fs::read_to_string(home.path().join("work/last.md")).unwrap(), "The answer.");
    assert_eq!(fs::read_dir(home.path().join("work")).unwrap().count(), 1);
}

#[test]
fn a_file_that_cannot_be_written_is_a_failure_and_an_answer_that_never_came_leaves_it() {
    let server = Server::start([Reply::text("The answer.")]);
    for (path, why) in [
        ("missing/last.md", "its directory cannot be used: No such file or directory (os error 2)"),
        ("there", "it is a directory"),
    ] {
        let program = exec(&server).args(["-o", path, "hello"]).file("work/there/x", "");
        let output = program.output();
        assert_eq!((exit_code(&output), server.chats().len()), (2, 0), "nothing was asked");
        let sentence = format!("cannot write {path}: {why}\n");
        assert!(stderr(&output).ends_with(&sentence), "{}", stderr(&output));
    }
    // A device that takes nothing fails when it is written.
    let output = exec(&server).args(["-o", "/dev/full", "hello"]).output();
    assert_eq!(exit_code(&output), 1);
    let sentence = "cannot write /dev/full: No space left on device (os error 28)\n";
    assert!(stderr(&output).ends_with(sentence), "{}", stderr(&output));
    let server = Server::start([Reply::json(400, json!({"error": {"message": "no"}}))]);
    let program = exec(&server).args(["-o", "last.md", "hello"]).file("work/last.md", "old");
    let (_, home) = program.output_with_home();
    assert_eq!(fs::read_to_string(home.path().join("work/last.md")).unwrap(), "old");
}

#[test]
fn what_is_no_file_of_its_own_is_written_through_and_stays_what_it_is() {
    let run = |path: &str, prepare: &dyn Fn(&Path)| {
        let server = Server::start([Reply::text("The answer.")]);
        let program = exec(&server).args(["-o", path, "hello"]).file("work/real.md", "old");
        prepare(&program.work());
        let (output, home) = program.output_with_home();
        assert_eq!(exit_code(&output), 0, "{path}: {}", stderr(&output));
        home
    };
    let at = |home: &TempDir, name: &str| home.path().join("work").join(name);
    let read = |home: &TempDir, name: &str| fs::read_to_string(at(home, name)).unwrap();
    let home = run("link.md", &|work| symlink("real.md", work.join("link.md")).unwrap());
    assert!(at(&home, "link.md").is_symlink() && read(&home, "real.md") == "The answer.");
    let home = run("link.md", &|work| symlink("new.md", work.join("link.md")).unwrap());
    assert!(at(&home, "link.md").is_symlink() && read(&home, "new.md") == "The answer.");
    let home = run("real.md", &|work| fs::hard_link(work.join("real.md"), work.join("other.md")).unwrap());
    assert_eq!(read(&home, "other.md"), "The answer.");
    let reader = Mutex::new(None);
    let home = run("fifo", &|work| {
        let fifo = work.join("fifo");
        rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
        *reader.lock().unwrap() = Some(thread::spawn(move || fs::read_to_string(fifo).unwrap()));
    });
    assert_eq!(reader.into_inner().unwrap().unwrap().join().unwrap(), "The answer.");
    assert!(fs::metadata(at(&home, "fifo")).unwrap().file_type().is_fifo());
    run("/dev/null", &|_| {});
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
}

#[test]
fn files_of_the_command_line_may_come_out_of_a_command_and_begin_with_a_mark() {
    let server = Server::start([Reply::text("{\"n\": 1}")]);
    let program = exec(&server)
        .file("work/prompt.md", "\u{feff}Count.\n")
        .file("work/schema.json", "\u{feff}{\"type\": \"object\"}");
    for name in ["prompt.md", "schema.json"] {
        let path = program.work().join(name);
        let content = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
        thread::spawn(move || fs::write(path, content));
    }
    let fifo = program.work().join("notes");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    thread::spawn(move || fs::write(fifo, "Two."));
    let args = ["--prompt-file", "prompt.md", "--output-schema", "schema.json", "--attach", "notes"];
    let output = program.args(args).output();
    assert_eq!((exit_code(&output), stdout(&output).as_str()), (0, "{\"n\": 1}\n"), "{}", stderr(&output));
    assert_eq!(server.chats()[0].texts("user"), ["Count.\n\nnotes:\n```\nTwo.\n```"]);
}

#[test]
fn the_result_is_there_also_when_nothing_could_run() {
    let output = Program::new().args(["exec", "--output", "result", "hello"]).output();
    let result: Value = serde_json::from_str(&stdout(&output)).unwrap();
    check("result", &result);
    assert_eq!((exit_code(&output), &result["exit_code"]), (2, &json!(2)));
    assert!(result["reason"].as_str().unwrap().contains("no model is configured"));
}

#[test]
fn progress_and_answer_share_standard_output_where_that_is_asked_for() {
    let server = Server::start([sum("c1"), Reply::text("Two.")]);
    let output = exec(&server).args(["--output", "progress", "hello"]).output();
    let text = stdout(&output);
    assert!(text.contains("· ") && text.contains("calculator") && text.contains("Two."), "{text}");
    assert_eq!(stderr(&output), "");
}

#[test]
fn pieces_can_be_left_out_and_a_cut_text_carries_its_size_and_hash() {
    let long = "long ".repeat(2_000);
    let arguments = json!({"path": "x", "content": long}).to_string();
    let server = Server::start([Reply::calls(&[("c1", "write", &arguments)]), Reply::text("one two three")]);
    let args = ["--json", "--deltas", "off", "--max-event-bytes", "4096", "hello"];
    let lines = lines(&stdout(&exec(&server).args(args).output()));
    assert!(of(&lines, "assistant_delta").is_empty());
    assert_eq!(of(&lines, "assistant").last().unwrap()["event"]["text"], "one two three");
    let call = &of(&lines, "tool_call")[0]["event"];
    assert_eq!((&call["cut"][0]["field"], &call["cut"][0]["bytes"]), (&json!("arguments/content"), &json!(long.len())));
    // `python3 -c 'import hashlib; print(hashlib.sha256(b"long " * 2000).hexdigest())'`
    assert_eq!(call["cut"][0]["sha256"], SHA256_OF_LONG);
    assert!(call.to_string().len() < 8192);
}

const SHA256_OF_LONG: &str = "52b73dcd3b8083ba34777ab11ee46577ce0e1b560adac250a2805c6e3c3126e2";

#[test]
fn a_mistake_in_the_arguments_ends_the_output_for_programs_too() {
    for (args, form) in [
        (vec!["exec", "--json", "--nonsense", "hello"], "json"),
        (vec!["exec", "--output", "json", "--max-time", "never", "hello"], "json"),
        (vec!["exec", "--output=result", "--nonsense"], "result"),
    ] {
        let output = Program::new().args(args.iter().copied()).output();
        assert_eq!(exit_code(&output), 2, "{args:?}");
        assert!(!stderr(&output).is_empty());
        let lines = lines(&stdout(&output));
        let last = lines.last().unwrap();
        let end = if form == "json" { &last["event"] } else { last };
        assert_eq!(end["exit_code"], 2, "{args:?}: {lines:?}");
        assert_eq!(form == "json", lines[0]["event"]["type"] == "session_started");
    }
    let output = Program::new().args(["exec", "--nonsense", "hello"]).output();
    assert_eq!((exit_code(&output), stdout(&output).as_str()), (2, ""));
}
