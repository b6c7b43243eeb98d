//! `exec` as a user meets it: the built program against a scripted server, or with its embedded model.

use std::fs;

use rustix::process::Signal;
use serde_json::json;
use steersman::approval::Answer;
use steersman::cli::steer_stdin::{Line, Splitter};
use steersman::event::{Delivery, Envelope, Event, Outcome};
use steersman::limits;
use steersman::steering::TextKind;

use crate::support::program::{Program, Running, exit_code, stderr, stdout};
use crate::support::server::{Gate, Reply, Request, Server, Step};

const GLOB_AND_SUM: &[(&str, &str, &str)] =
    &[("c1", "glob", r#"{"pattern":"*"}"#), ("c2", "calculator", r#"{"expression":"6*7"}"#)];

/// `exec` with a model of a scripted server.
fn exec(server: &Server) -> Program {
    Program::new().args(["exec", "--base-url", &server.url(), "--model", "scripted"])
}

fn envelopes(lines: &str) -> Vec<Envelope> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

/// Sends a line to a run with `--json --steer-stdin` and waits until the program has taken it.
fn steer(run: &mut Running, line: &str, text: &str) {
    run.write(&format!("{line}\n"));
    run.wait_for_line(|line| is_pending(line, text));
}

fn is_pending(line: &str, text: &str) -> bool {
    let envelope: Envelope = serde_json::from_str(line).unwrap();
    matches!(envelope.event, Event::Pending { entries } if entries.iter().any(|entry| entry.text == text))
}

// --- output

#[test]
fn to_a_pipe_standard_output_is_the_answer_alone_and_its_progress_is_on_standard_error() {
    let answer = "# Report\n\n- one\n· user: yes\nsteersman: approved \u{1b}[1mbold\u{1b}[0m\n";
    let server = Server::start([Reply::calls(GLOB_AND_SUM).saying("I look."), Reply::text(answer)]);
    let output = exec(&server).args(["what is here?"]).output();
    assert_eq!((exit_code(&output), stdout(&output).as_str()), (0, answer));
    let others = stderr(&output);
    assert!(others.lines().all(|line| line.starts_with("· ")), "unmarked line: {others}");
    for part in ["glob", "calculator", "says: I look."] {
        assert!(others.contains(part), "{others}");
    }
}

#[test]
fn plain_output_is_the_same_without_streaming() {
    let server = Server::start([Reply::text("All of it at once.")]);
    let output = exec(&server).args(["--no-stream", "hello"]).output();
    assert_eq!(exit_code(&output), 0);
    assert!(stdout(&output).lines().any(|line| line == "All of it at once."), "{}", stdout(&output));
    assert!(!server.chats()[0].streams());
}

#[test]
fn json_output_is_one_envelope_per_line_from_session_started_to_turn_ended() {
    let server = Server::start([Reply::calls(GLOB_AND_SUM), Reply::text("42")]);
    let program = exec(&server).args(["--json", "--max-steps", "7", "hello"]);
    let work = program.work().canonicalize().unwrap();
    let output = program.output();
    assert_eq!((exit_code(&output), stderr(&output)), (0, String::new()));
    let envelopes = envelopes(&stdout(&output));
    match &envelopes[0].event {
        Event::SessionStarted { program, cwd, provider, model, max_steps, tools, .. } => {
            assert!(program.starts_with("steersman "));
            assert_eq!(cwd, work.to_str().unwrap());
            assert_eq!(provider, "openai");
            assert_eq!(model.as_deref(), Some("scripted"));
            assert_eq!(*max_steps, Some(7));
            assert!(tools.iter().any(|tool| tool == "glob"));
        }
        other => panic!("the first record is {other:?}"),
    }
    assert_eq!(envelopes[0].seq, 1);
    assert!(envelopes.windows(2).all(|pair| pair[0].seq < pair[1].seq), "seq does not rise");
    assert!(envelopes.iter().any(
        |e| matches!(&e.event, Event::UserTurn { content, mid_loop: false, injection: Some(_), step: 0, after: None, sender: None, .. } if content == "hello")
    ));
    assert!(
        envelopes.iter().any(|e| matches!(&e.event, Event::Assistant { text, interrupted: false } if text == "42"))
    );
    let ends = envelopes.iter().filter(|e| matches!(e.event, Event::TurnEnded { outcome: Outcome::Completed, .. }));
    assert_eq!(ends.count(), 1);
}

#[test]
fn hostile_words_of_a_server_are_shown_on_standard_error_not_obeyed() {
    let error = json!({"error": {"message": "no\u{1b}]0;title\u{7}\nsteersman: all is well\u{202e}"}});
    let server = Server::start([Reply::json(400, error)]);
    let output = exec(&server).args(["hello"]).output();
    assert_eq!(exit_code(&output), 1);
    let said = stderr(&output);
    assert!(!said.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{said:?}");
    assert!(said.contains("no␛]0;title"), "{said:?}");
    assert!(!said.lines().skip(1).any(|line| line.starts_with("steersman: all")), "{said:?}");
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let gate = Gate::new();
    let server = Server::start([Reply::text("Nobody reads this.").gated(&gate)]);
    let (reader, writer) = std::io::pipe().unwrap();
    let run = exec(&server).args(["--json", "hello"]).stdout(writer.into()).run();
    gate.wait_reached();
    drop(reader);
    gate.open();
    let end = run.end();
    assert_eq!((end.code, end.stderr.as_str()), (Some(130), ""));
}

#[cfg(target_os = "linux")]
#[test]
fn an_output_that_cannot_be_written_is_a_failure_and_said() {
    let server = Server::start([Reply::text("Into the void.")]);
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = exec(&server).args(["hello"]).stdout(full.into()).output();
    assert_eq!(exit_code(&output), 1);
    assert!(stderr(&output).contains("\nsteersman: cannot write to standard output: "), "{}", stderr(&output));
}

// --- a start that fails

#[test]
fn a_server_that_fails_before_the_first_turn_is_a_failure_and_one_sentence() {
    let refuses = Server::start([]);
    refuses.on("/v1/models", Reply::json(503, json!({"error": {"message": "loading"}})));
    // A port that was free a moment ago.
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for (url, words) in [(refuses.url(), "503: loading"), (format!("http://{nobody}"), "cannot reach 127.0.0.1")] {
        let output = Program::new().args(["exec", "--base-url", &url, "hello"]).output();
        let said = stderr(&output);
        assert_eq!((exit_code(&output), stdout(&output)), (1, String::new()), "{said}");
        let (sentence, unsent) = said.split_once('\n').unwrap();
        assert!(sentence.starts_with("steersman: ") && sentence.contains(words), "{said}");
        assert_eq!(unsent, "steersman: not sent: hello\n");
    }
}

#[test]
fn the_record_begins_and_ends_also_when_nothing_could_run() {
    let refuses = Server::start([]);
    refuses.on("/v1/models", Reply::json(503, json!({"error": {"message": "loading"}})));
    let url = refuses.url();
    let cases: [(&[&str], u8, &str); 5] = [
        (&["hello"], 2, "no model is configured"),
        (&["--base-url", "localhost", "hello"], 2, "is not an address"),
        (&["--config", "/nonexistent.toml", "hello"], 2, "cannot read"),
        (&["--base-url", "http://127.0.0.1:9", " "], 2, "the prompt is blank"),
        (&["--base-url", &url, "hello"], 1, "503: loading"),
    ];
    for (args, code, words) in cases {
        let output = Program::new().args(["exec", "--json"]).args(args.iter().copied()).output();
        assert_eq!(exit_code(&output), i32::from(code), "{args:?}");
        let events: Vec<Event> = envelopes(&stdout(&output)).into_iter().map(|envelope| envelope.event).collect();
        assert!(matches!(events.first(), Some(Event::SessionStarted { .. })), "{args:?}: {events:?}");
        let Some(Event::SessionEnded { code: told, message: Some(message) }) = events.last() else {
            panic!("{args:?}: {events:?}");
        };
        assert_eq!(*told, code, "{args:?}");
        assert!(message.contains(words) && stderr(&output).contains(words), "{args:?}: {message}");
    }
}

#[test]
fn the_record_of_a_run_ends_with_its_exit_code_behind_everything_that_came_back() {
    let gate = Gate::new();
    let server = Server::start([Reply::text("one").gated(&gate)]);
    let mut run = exec(&server).args(["--json", "--steer-stdin", "hello"]).piped().run();
    gate.wait_reached();
    steer(&mut run, "later", "later");
    run.write("/stop\n");
    let events: Vec<Envelope> = envelopes(&run.end().stdout);
    let [.., returned, last] = events.as_slice() else { panic!("{events:?}") };
    assert!(matches!(&returned.event, Event::Returned { entries } if entries.len() == 1), "{returned:?}");
    assert_eq!(last.event, Event::SessionEnded { code: 130, message: None });
    let server = Server::start([Reply::text("ok")]);
    let output = exec(&server).args(["--json", "hello"]).output();
    let last = envelopes(&stdout(&output)).pop().unwrap();
    assert_eq!(last.event, Event::SessionEnded { code: 0, message: None });
}

// --- prompt and settings

#[test]
fn a_dash_reads_the_prompt_from_standard_input() {
    let server = Server::start([Reply::text("ok")]);
    let mut run = exec(&server).args(["-"]).piped().run();
    run.write("two\nlines\n");
    run.close_stdin();
    assert_eq!(run.end().code, Some(0));
    assert_eq!(server.chats()[0].texts("user"), ["two\nlines"]);
}

#[test]
fn a_dash_with_nothing_to_read_is_refused() {
    let server = Server::start([]);
    let output = exec(&server).args(["-"]).output();
    assert_eq!((exit_code(&output), stderr(&output)), (2, "steersman: the prompt is blank\n".to_owned()));
}

#[test]
fn without_a_key_no_authorization_is_sent_and_with_one_it_is() {
    let server = Server::start([Reply::text("a"), Reply::text("b"), Reply::text("c")]);
    assert_eq!(exit_code(&exec(&server).args(["hello"]).output()), 0);
    // A key that is for somebody else stays at home, until it is named.
    let with_key = || exec(&server).args(["hello"]).env("OPENAI_API_KEY", "sk-1");
    assert_eq!(exit_code(&with_key().output()), 0);
    assert_eq!(exit_code(&with_key().args(["--api-key-env", "OPENAI_API_KEY"]).output()), 0);
    let keys: Vec<Option<String>> =
        server.chats().iter().map(|chat| chat.header("authorization").map(str::to_owned)).collect();
    assert_eq!(keys, [None, None, Some("Bearer sk-1".to_owned())]);
}

#[test]
fn a_server_without_a_named_model_is_asked_and_the_first_is_taken_saying_so() {
    let server = Server::start([Reply::text("ok"), Reply::text("ok")]);
    server.on("/v1/models", Reply::json(200, json!({"data": [{"id": "first"}, {"id": "second"}]})));
    for base_url in [server.url(), server.origin().to_owned()] {
        let output = Program::new().args(["exec", "--base-url", &base_url, "hello"]).output();
        assert_eq!(exit_code(&output), 0);
        let said = stderr(&output);
        assert!(said.contains("steersman: using first, the first of the server's 2 models\n"), "{said}");
    }
    assert!(server.chats().iter().all(|chat| chat.body["model"] == "first"));
}

#[test]
fn a_server_that_lists_no_models_is_a_wrong_configuration() {
    let server = Server::start([]);
    server.on("/v1/models", Reply::json(200, json!({"data": []})));
    let output = Program::new().args(["exec", "--base-url", &server.url(), "hello"]).output();
    assert_eq!(exit_code(&output), 2);
    assert!(stderr(&output).contains("--model NAME"), "{}", stderr(&output));
}

#[test]
fn a_system_prompt_of_the_file_is_found_beside_it() {
    let server = Server::start([Reply::text("ok")]);
    let program = exec(&server).args(["--config", "conf/mine.toml", "hello"]);
    fs::create_dir(program.work().join("conf")).unwrap();
    fs::write(program.work().join("conf/mine.toml"), "system_prompt = 'prompt.md'").unwrap();
    fs::write(program.work().join("conf/prompt.md"), "You are terse.").unwrap();
    assert_eq!(exit_code(&program.output()), 0);
    assert!(server.chats()[0].texts("system")[0].starts_with("You are terse."));
}

#[test]
fn used_up_steps_end_in_an_answer_and_0() {
    let call = |id| Reply::calls(&[(id, "calculator", r#"{"expression":"1+1"}"#)]);
    let server = Server::start([call("c1"), call("c2"), call("c3"), call("c4"), Reply::text("From what was found.")]);
    let output = exec(&server).args(["--json", "--max-steps", "3", "hello"]).output();
    assert_eq!(exit_code(&output), 0);
    let envelopes = envelopes(&stdout(&output));
    assert!(envelopes.iter().any(|e| matches!(e.event, Event::TurnEnded { outcome: Outcome::Synthesized, .. })));
    assert!(envelopes.iter().any(|e| e.agent.as_str() == "synthesizer"));
    assert!(server.chats()[4].tools().is_empty());
}

// --- steering

#[test]
fn a_line_of_standard_input_enters_after_all_results_of_the_batch() {
    let gate = Gate::new();
    let server = Server::start([Reply::calls(GLOB_AND_SUM).gated(&gate), Reply::text("Both done.")]);
    let mut run = exec(&server).args(["--json", "--steer-stdin", "hello"]).piped().run();
    gate.wait_reached();
    steer(&mut run, "and count the tests", "and count the tests");
    gate.open();
    let end = run.end();
    assert_eq!((end.code, end.stderr.as_str()), (Some(0), ""));
    let chats = server.chats();
    assert_eq!(chats.len(), 2);
    assert_eq!(chats[1].roles(), ["system", "user", "assistant", "tool", "tool", "user"]);
    let framed = "<steer-m2 kind=\"add\" sent=\"while you wrote, 2 calls before this\" task=\"goes on: hello\" reply=\"[m2]\">\nand count the \
                  tests\n</steer-m2>";
    assert_eq!(chats[1].contents("user"), ["hello", framed]);
}

#[test]
fn a_text_sent_into_the_final_answer_starts_the_next_turn_and_a_follow_up_one_more() {
    let gate = Gate::new();
    let server = Server::start([Reply::text("one").gated(&gate), Reply::text("two"), Reply::text("three")]);
    let mut run = exec(&server).args(["--json", "--steer-stdin", "first"]).piped().run();
    gate.wait_reached();
    steer(&mut run, "> third", "third");
    steer(&mut run, "second", "second");
    gate.open();
    let end = run.end();
    assert_eq!((end.code, end.stderr.as_str()), (Some(0), ""));
    let last: Vec<String> = server.chats().iter().map(|chat| chat.texts("user").pop().unwrap()).collect();
    assert_eq!(last, ["first", "second", "third"]);
}

#[test]
fn the_end_of_input_changes_nothing() {
    let gate = Gate::new();
    let server = Server::start([Reply::text("still here").gated(&gate)]);
    let mut run = exec(&server).args(["--steer-stdin", "hello"]).piped().run();
    gate.wait_reached();
    run.close_stdin();
    gate.open();
    let end = run.end();
    assert_eq!(end.code, Some(0));
    assert!(end.stdout.contains("still here"));
}

#[test]
fn stop_cancels_and_lists_what_was_not_sent() {
    let words = [Step::delta(json!({"content": "half an "})), Step::Wait(Gate::new())];
    let server = Server::start([Reply::stream(words)]);
    let mut run = exec(&server).args(["--json", "--steer-stdin", "hello"]).piped().run();
    run.wait_for_line(|line| line.contains("half an "));
    steer(&mut run, "sooner", "sooner");
    steer(&mut run, "> later", "later");
    run.write("/stop\nmuch later\n");
    let end = run.end();
    assert_eq!(end.code, Some(130));
    assert!(end.stderr.starts_with("steersman: not sent: sooner\nsteersman: not sent: later\n"), "{:?}", end.stderr);
    assert_eq!(server.chats().len(), 1);
    let last = envelopes(&end.stdout).into_iter().rev().find(|e| matches!(e.event, Event::TurnEnded { .. }));
    assert!(matches!(last.unwrap().event, Event::TurnEnded { outcome: Outcome::Cancelled, .. }));
    server.wait_hung_up(1);
}

#[test]
fn a_failure_ends_with_1_sends_nothing_more_and_lists_what_was_not_sent() {
    let gate = Gate::new();
    let error = json!({"error": {"message": "the model is on holiday"}});
    let server = Server::start([Reply::json(400, error).gated(&gate), Reply::text("must not be asked")]);
    let mut run = exec(&server).args(["--json", "--steer-stdin", "hello"]).piped().run();
    gate.wait_reached();
    steer(&mut run, "and then?", "and then?");
    gate.open();
    let end = run.end();
    assert_eq!(end.code, Some(1));
    assert!(end.stderr.contains("the model is on holiday"), "{}", end.stderr);
    assert!(end.stderr.ends_with("steersman: not sent: and then?\n"), "{}", end.stderr);
    assert_eq!(server.chats().len(), 1);
}

#[test]
fn signals_stop_the_turn_and_decide_the_exit_code() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let gate = Gate::new();
        let server = Server::start([Reply::text("never").gated(&gate)]);
        let mut run = exec(&server).args(["--json", "--steer-stdin", "hello"]).piped().run();
        gate.wait_reached();
        steer(&mut run, "kept", "kept");
        run.signal(signal);
        let end = run.end();
        assert_eq!(end.code, Some(code), "{signal:?}");
        assert_eq!(end.stderr, "steersman: not sent: kept\n");
        server.wait_hung_up(1);
    }
}

#[test]
fn a_line_that_is_too_long_is_refused_and_said() {
    let gate = Gate::new();
    let server = Server::start([Reply::text("ok").gated(&gate)]);
    let mut run = exec(&server).args(["--json", "--steer-stdin", "hello"]).piped().run();
    gate.wait_reached();
    run.write(&format!("{}\n", "x".repeat(limits::MESSAGE_BYTES + 100)));
    steer(&mut run, "short", "short");
    server.reply_text("ok");
    gate.open();
    let end = run.end();
    assert_eq!(end.code, Some(0));
    assert!(end.stderr.contains("longer than 2 MiB"), "{}", end.stderr);
    assert_eq!(server.chats()[1].texts("user"), ["hello", "short"]);
}

// --- steering sub-agents

/// Spawns a `file_miner` per task.
fn spawns(tasks: &[&str]) -> Reply {
    let calls: Vec<(String, String)> = tasks
        .iter()
        .map(|task| (format!("c {task}"), json!({"name": "file_miner", "task": task}).to_string()))
        .collect();
    let calls: Vec<(&str, &str, &str)> = calls.iter().map(|(id, args)| (id.as_str(), "agent", args.as_str())).collect();
    Reply::calls(&calls)
}

/// Streams a word, waits, then streams a call.
fn streamed_call(gate: &Gate) -> Reply {
    let function = json!({"name": "glob", "arguments": r#"{"pattern":"*"}"#});
    let call = json!({"tool_calls": [{"index": 0, "id": "k", "type": "function", "function": function}]});
    let words = Step::delta(json!({"content": "I look. "}));
    Reply::stream([words, Step::Wait(gate.clone()), Step::delta(call), Step::finish("tool_calls"), Step::done()])
}

/// Waits until a text is pending for each of these agents.
fn wait_pending(run: &mut Running, text: &str, agents: &[&str]) {
    let mut missing = agents.to_vec();
    run.wait_for_line(|line| {
        let envelope: Envelope = serde_json::from_str(line).unwrap();
        if is_pending(line, text) {
            missing.retain(|agent| *agent != envelope.agent.as_str());
        }
        missing.is_empty()
    });
}

#[test]
fn lines_reach_two_children_that_stream_side_by_side_each_its_own_and_all_of_them() {
    let gates = [Gate::new(), Gate::new()];
    let held = gates.clone();
    let server = Server::routed(move |request| match (request.texts("user")[0].as_str(), request.roles().len()) {
        ("hello", 2) => spawns(&["one", "two"]),
        ("one", 2) => streamed_call(&held[0]),
        ("two", 2) => streamed_call(&held[1]),
        (_, _) => Reply::text("Done."),
    });
    let mut run = exec(&server).args(["--json", "--steer-stdin", "hello"]).piped().run();
    gates.iter().for_each(Gate::wait_reached);
    run.write("@file_miner 0 the sources only\n");
    wait_pending(&mut run, "the sources only", &["file_miner 0"]);
    run.write("@all hurry\n");
    wait_pending(&mut run, "hurry", &["", "file_miner 0", "file_miner 1"]);
    run.write("@file_miner 7 is nobody\n");
    run.write("> @file_miner 1 and then?\n@main @all is a word\n");
    wait_pending(&mut run, "@all is a word", &[""]);
    gates.iter().for_each(Gate::open);
    let end = run.end();
    assert_eq!(end.code, Some(0));
    let refused = [
        "no agent @file_miner runs; @main before it sends it as text: @file_miner 7 is nobody",
        "a sub-agent has one turn only, nothing can follow it: and then?",
    ];
    assert_eq!(end.stderr, refused.map(|words| format!("steersman: not sent, {words}\n")).concat());
    let last = |first: &str| {
        let of_agent = |chat: &Request| chat.texts("user")[0] == first;
        server.chats().into_iter().rev().find(of_agent).unwrap().texts("user")
    };
    assert_eq!(last("one"), ["one", "the sources only", "hurry"]);
    assert_eq!(last("two"), ["two", "hurry"]);
    assert_eq!(last("hello"), ["hello", "hurry", "@all is a word"]);
}

#[test]
fn a_text_that_its_child_did_not_take_is_told_and_the_run_goes_on() {
    let gate = Gate::new();
    let held = gate.clone();
    let server = Server::routed(move |request| match (request.texts("user")[0].as_str(), request.roles().len()) {
        ("hello", 2) => spawns(&["one"]),
        ("one", _) => Reply::text("From one.").gated(&held),
        (_, _) => Reply::text("Done."),
    });
    let mut run = exec(&server).args(["--json", "--steer-stdin", "hello"]).piped().run();
    gate.wait_reached();
    run.write("@file_miner 0 too late\n");
    wait_pending(&mut run, "too late", &["file_miner 0"]);
    gate.open();
    let end = run.end();
    assert_eq!((end.code, end.stderr.as_str()), (Some(0), "steersman: not sent, file_miner 0 has ended: too late\n"));
}

// --- lines

#[test]
fn each_form_of_a_line_means_what_the_help_says() {
    let text = |text: &str| Line::Text(text.to_owned(), TextKind::Add);
    let follow_up = |text: &str| Line::FollowUp(text.to_owned());
    for (line, meaning) in [
        ("hello", text("hello")),
        ("  hello ", text("  hello ")),
        ("/instead do that", Line::Text("do that".to_owned(), TextKind::Instead)),
        ("/note  it is red ", Line::Text("it is red".to_owned(), TextKind::Note)),
        ("/rule no new files", Line::Text("no new files".to_owned(), TextKind::Rule)),
        ("/rule ", Line::Unknown("/rule".to_owned())),
        ("/add it", Line::Unknown("/add it".to_owned())),
        ("/stop", Line::Stop),
        ("/stop ", Line::Stop),
        ("/stop it", Line::Unknown("/stop it".to_owned())),
        ("/etc", Line::Unknown("/etc".to_owned())),
        ("/yes", Line::Answer(None, Answer::Once)),
        ("/yes 12 ", Line::Answer(Some(12), Answer::Once)),
        ("/yes please", Line::Unknown("/yes please".to_owned())),
        ("/session 1", Line::Answer(Some(1), Answer::Session)),
        ("/always", Line::Answer(None, Answer::Always)),
        ("/always on", Line::Unknown("/always on".to_owned())),
        ("/no", Line::Answer(None, Answer::No(None))),
        ("/no 3", Line::Answer(Some(3), Answer::No(None))),
        ("/no 3 not this one", Line::Answer(Some(3), Answer::No(Some("not this one".to_owned())))),
        ("/no not this one", Line::Answer(None, Answer::No(Some("not this one".to_owned())))),
        ("//stop", text("/stop")),
        ("///x", text("//x")),
        ("/usr/bin is a directory", text("/usr/bin is a directory")),
        ("> later", follow_up("later")),
        (">later", follow_up("later")),
        (">  later", follow_up(" later")),
        (">> later", follow_up("> later")),
        ("\\> quoted", text("> quoted")),
        ("\\x", text("\\x")),
        (">", Line::Ignore),
        ("> ", Line::Ignore),
        ("", Line::Ignore),
        (" \t", Line::Ignore),
        ("\u{200B}\u{FEFF}", Line::Ignore),
    ] {
        assert_eq!(Line::parse(line), meaning, "{line:?}");
    }
}

#[test]
fn lines_are_read_whatever_ends_them() {
    let input = b"one\r\n\ntw\xFFo\n/stop\r\nlast";
    let text = |text: &str| Line::Text(text.to_owned(), TextKind::Add);
    let whole = [(text("one"), 0), (Line::Ignore, 5), (Line::NotText, 6), (Line::Stop, 11), (text("last"), 18)];
    for size in [1, 2, 3, 7, input.len()] {
        let (mut splitter, mut read) = (Splitter::default(), Vec::new());
        input.chunks(size).for_each(|piece| splitter.push(piece, |line, began| read.push((line, began))));
        splitter.finish(|line, began| read.push((line, began)));
        assert_eq!(read, whole, "in pieces of {size}");
    }
}

// --- the embedded model

#[test]
fn the_embedded_model_reports_on_real_files() {
    let program = Program::new().args(["exec", "--provider", "demo", "--json", "look at this project"]);
    fs::create_dir_all(program.home().join(".config/steersman")).unwrap();
    fs::write(program.home().join(".config/steersman/config.toml"), "pace = 0").unwrap();
    let work = program.work();
    fs::create_dir_all(work.join("src")).unwrap();
    fs::write(work.join("README.md"), "# Marmalade\n\nA program about oranges.\n").unwrap();
    fs::write(work.join("src/main.rs"), "fn main() {\n    println!(\"oranges\");\n}\n").unwrap();
    let output = program.output();
    assert_eq!((exit_code(&output), stderr(&output)), (0, String::new()));
    let envelopes = envelopes(&stdout(&output));
    assert!(matches!(&envelopes[0].event, Event::SessionStarted { provider, .. } if provider == "demo"));
    assert!(envelopes.iter().any(|e| matches!(e.event, Event::AgentSpawned { .. })), "no sub-agent was started");
    let report = envelopes.iter().rev().find_map(|e| match &e.event {
        Event::Assistant { text, .. } if e.agent.is_main() => Some(text),
        _ => None,
    });
    let report = report.expect("a report");
    assert!(report.contains("README.md") && report.contains("main.rs"), "{report}");
}

#[test]
fn pending_events_carry_the_delivery_of_a_follow_up() {
    let gate = Gate::new();
    let server = Server::start([Reply::text("one").gated(&gate), Reply::text("two")]);
    let mut run = exec(&server).args(["--json", "--steer-stdin", "first"]).piped().run();
    gate.wait_reached();
    steer(&mut run, "> second", "second");
    gate.open();
    let found = envelopes(&run.end().stdout).into_iter().any(|e| match e.event {
        Event::Pending { entries } => entries.iter().any(|entry| entry.delivery == Delivery::FollowUp),
        _ => false,
    });
    assert!(found);
}

#[test]
fn a_used_up_budget_ends_with_1_and_the_sentence() {
    for json in [&[][..], &["--json"]] {
        let server = Server::start([Reply::calls(GLOB_AND_SUM)]);
        let program = exec(&server).args(json.iter().copied()).args(["--max-tokens-total", "100", "hello"]);
        let output = program.output();
        assert_eq!(exit_code(&output), 1);
        let said = stderr(&output);
        let sentence = "the budget of 100 tokens is used up, 120 were used; raise it with --max-tokens-total (on the screen: /budget)";
        assert!(said.contains(sentence), "{said}");
        assert_eq!(said.matches("stopped before the next request").count(), 1, "{said}");
        assert_eq!(server.chats().len(), 1);
    }
}

#[test]
fn a_worker_that_does_not_answer_keeps_no_signal_from_ending_the_run() {
    let server = Server::start([]);
    for signal in [Signal::INT, Signal::TERM, Signal::QUIT, Signal::USR1, Signal::ABORT] {
        let running = exec(&server).args(["hello"]).env("STEERSMAN_TEST_FAULT", "setup").run();
        running.wait_handled(signal);
        running.signal(signal);
        let end = running.end();
        assert_eq!(end.code, Some(128 + signal.as_raw()), "{signal:?}: {}", end.stderr);
    }
}
