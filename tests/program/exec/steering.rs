//! Steering by standard input (`--steer-stdin`): when a line enters, what a stop, a signal or a failure leaves unsent,
//! lines to sub-agents, and what each form of a line means.

use rustix::process::Signal;
use serde_json::json;
use steersman::program::cli::steer_stdin::{Line, Splitter};
use steersman_base::event::{Delivery, Envelope, Event, Outcome};
use steersman_base::limits;
use steersman_base::steering::TextKind;
use steersman_core::approval::Answer;

use super::{GLOB_AND_SUM, envelopes, exec, is_pending, steer};
use crate::support::program::Running;
use crate::support::server::{Gate, Reply, Request, Server, Step};

// --- the main agent

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

// --- sub-agents

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
    let never = ["--set", "steering.agents_give_way=never"];
    let mut run = exec(&server).args(never).args(["--json", "--steer-stdin", "hello"]).piped().run();
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
fn a_text_in_the_last_answer_of_a_child_continues_it_and_the_run_goes_on() {
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
    assert_eq!((end.code, end.stderr.as_str()), (Some(0), ""));
    let of_child = server.chats().into_iter().rev().find(|chat| chat.texts("user")[0] == "one").unwrap();
    assert!(of_child.texts("user").last().is_some_and(|text| text.contains("too late")));
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
