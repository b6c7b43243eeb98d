//! `exec` with inputs and outputs that stand still, never end, or are gone: it stays within bounds, and can be ended.

use std::fs;
use std::io::{PipeReader, Read as _, Write as _};

use rustix::io::ioctl_fionread;
use rustix::process::Signal;
use serde_json::{Value, json};
use steersman_base::event::{Envelope, Event};
use steersman_base::limits;

use crate::support::program::{Program, Running, exit_code, stderr, stdout};
use crate::support::server::{Gate, Reply, Server, Step};

fn exec(server: &Server) -> Program {
    Program::new().args(["exec", "--base-url", &server.url(), "--model", "m", "--sandbox", "off"])
}

fn events(lines: &str) -> Vec<Event> {
    lines.lines().map(|line| serde_json::from_str::<Envelope>(line).unwrap().event).collect()
}

/// A reply that goes on for as many pieces of 64 KiB, and then does not end.
fn long_reply(pieces: usize) -> Reply {
    let piece = || Step::delta(json!({"content": "word ".repeat(64 * 1024 / 5)}));
    Reply::stream((0..pieces).map(|_| piece()).chain([Step::Wait(Gate::new())]))
}

/// Waits until a pipe takes no more.
fn wait_full(reader: &PipeReader) {
    while ioctl_fionread(reader).unwrap() < 60 * 1024 {
        std::thread::yield_now();
    }
}

fn removal() -> Reply {
    Reply::calls(&[("c1", "bash", r#"{"command":"rm  kept \t"}"#)])
}

fn steered(server: &Server) -> Running {
    exec(server).args(["--json", "--steer-stdin", "hello"]).file("work/kept", "").piped().run()
}

// --- output

#[test]
fn a_signal_ends_a_run_whose_reader_stopped_reading() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130)] {
        let server = Server::start([long_reply(14)]);
        let (reader, writer) = std::io::pipe().unwrap();
        let run = exec(&server).args(["--json", "hello"]).stdout(writer.into()).run();
        wait_full(&reader);
        run.signal(signal);
        assert_eq!(run.end().code, Some(code));
        server.wait_hung_up(1);
    }
}

#[test]
fn a_stop_ends_a_run_whose_outputs_are_one_pipe_that_nobody_reads() {
    let server = Server::start([long_reply(14)]);
    let (reader, writer) = std::io::pipe().unwrap();
    let both = writer.try_clone().unwrap();
    let program = exec(&server).args(["--json", "--steer-stdin", "hello"]).piped();
    let mut run = program.stdout(writer.into()).stderr(both.into()).run();
    wait_full(&reader);
    run.write("/nonsense\n/stop\n");
    assert_eq!(run.end().code, Some(130));
    drop(reader);
}

#[test]
fn a_reader_that_is_gone_is_noticed_although_nothing_is_written() {
    for json in [&["--json"][..], &[]] {
        let gate = Gate::new();
        let server = Server::start([Reply::text("Nobody reads this.").gated(&gate)]);
        let (reader, writer) = std::io::pipe().unwrap();
        let run = exec(&server).args(json.iter().copied()).args(["hello"]).stdout(writer.into()).run();
        gate.wait_reached();
        drop(reader);
        assert_eq!(run.end().code, Some(130));
        server.wait_hung_up(1);
    }
}

#[test]
fn a_slow_reader_gets_the_whole_answer() {
    // Eighty pieces: the server cuts a text at its blanks.
    let answer = vec!["Line.\n".repeat(1_500); 80].join(" ");
    let server = Server::start([Reply::text(&answer)]);
    let (mut reader, writer) = std::io::pipe().unwrap();
    let run = exec(&server).args(["hello"]).stdout(writer.into()).run();
    let mut read = Vec::new();
    let mut piece = [0; 700];
    loop {
        match reader.read(&mut piece).unwrap() {
            0 => break,
            count => read.extend_from_slice(&piece[..count]),
        }
    }
    assert_eq!(run.end().code, Some(0));
    assert!(read == answer.as_bytes(), "{} bytes of {}", read.len(), answer.len());
}

#[test]
fn an_answer_without_end_is_cut_and_that_is_said() {
    let server = Server::start([long_reply(64), Reply::text("Short.")]);
    let mut run = exec(&server).args(["--json", "--steer-stdin", "hello"]).piped().run();
    run.write("> again\n");
    let end = run.end();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    assert!(end.stderr.contains("the reply was cut at 1.0 MiB: the rest of it was not read"), "{}", end.stderr);
    server.wait_hung_up(1);
    let in_history: usize = server.chats()[1].texts("assistant").iter().map(String::len).sum();
    assert!(in_history <= limits::ANSWER_BYTES, "{in_history} bytes are in the history");
}

#[test]
fn an_event_is_bounded_and_tells_what_was_cut() {
    let arguments = json!({"path": "x", "content": "long ".repeat(300_000), "more": vec!["y"; 200_000]}).to_string();
    let server =
        Server::start([Reply::calls(&[("c1", "write", &arguments)]), Reply::text("one\u{2028}two\u{2029}three")]);
    let most = 256 * 1024;
    let output = exec(&server).args(["--json", "--max-event-bytes", &most.to_string(), "hello"]).output();
    assert_eq!(exit_code(&output), 0);
    let lines = stdout(&output);
    let call = lines.lines().find(|line| line.contains("\"tool_call\"")).unwrap();
    assert!(call.len() < most + 4096, "{} bytes", call.len());
    assert!(serde_json::from_str::<Envelope>(call).is_ok());
    let call: Value = serde_json::from_str(call).unwrap();
    assert!(call["event"]["cut_bytes"].as_u64().unwrap() > 1_000_000, "{}", call["event"]["cut_bytes"]);
    assert!(!lines.contains(['\u{2028}', '\u{2029}']));
    assert!(
        events(&lines)
            .iter()
            .any(|event| { matches!(event, Event::Assistant { text, .. } if text == "one\u{2028}two\u{2029}three") })
    );
}

#[test]
fn an_answer_of_a_sub_agent_is_cut_like_any_result() {
    let answer = "Found.\n".repeat(50_000);
    let reply = Reply::text(&answer);
    let server = Server::routed(move |request| match (request.texts("user")[0].as_str(), request.roles().len()) {
        ("hello", 2) => Reply::calls(&[("c1", "agent", r#"{"name":"file_miner","task":"dig"}"#)]),
        ("dig", _) => reply.clone(),
        (_, _) => Reply::text("Done."),
    });
    let output = exec(&server).args(["--json", "hello"]).output();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    let result = server.chats().into_iter().find_map(|chat| chat.texts("tool").pop()).unwrap();
    assert!(result.len() < limits::COMMAND_BYTES + 1024, "{} bytes", result.len());
    assert!(result.starts_with("Found.\n") && result.ends_with("Found.\n"));
    assert!(result.contains(" bytes left out; the whole output is in /"), "{}", &result[result.len() / 2 - 200..]);
}

// --- input

#[test]
fn endless_input_is_not_collected_and_a_signal_ends_it() {
    for line in ["x".repeat(1000) + "\n", "/yes\n".to_owned(), "y".repeat(1 << 16), "\n".to_owned()] {
        let gate = Gate::new();
        let server = Server::start([Reply::text("never").gated(&gate)]);
        let mut run = steered(&server);
        gate.wait_reached();
        let mut stdin = run.take_stdin();
        let (begun, is_begun) = std::sync::mpsc::channel();
        let bytes = line.repeat((1 << 16) / line.len()).into_bytes();
        let writer = std::thread::spawn(move || {
            let mut pieces = 0_usize;
            while stdin.write_all(&bytes).is_ok() {
                pieces += 1;
                if pieces == 3 {
                    let _ = begun.send(());
                }
            }
            pieces
        });
        is_begun.recv().unwrap();
        run.signal(Signal::TERM);
        assert_eq!(run.end().code, Some(143));
        writer.join().unwrap();
    }
}

#[test]
fn lines_that_no_queue_takes_are_left_unread() {
    let gate = Gate::new();
    let server = Server::start([Reply::text("never").gated(&gate)]);
    let mut run = steered(&server);
    gate.wait_reached();
    let mut stdin = run.take_stdin();
    let line = "x".repeat(2 * 1024 - 1) + "\n";
    let writer = std::thread::spawn(move || {
        let mut lines = 0;
        while lines < 10_000 && stdin.write_all(line.as_bytes()).is_ok() {
            lines += 1;
        }
        lines
    });
    let pending = |line: &str| {
        let envelope: Envelope = serde_json::from_str(line).unwrap();
        matches!(envelope.event, Event::Pending { entries } if entries.len() == limits::PENDING_ENTRIES)
    };
    run.wait_for_line(pending);
    run.signal(Signal::TERM);
    assert_eq!(run.end().code, Some(143));
    let lines: usize = writer.join().unwrap();
    let most = limits::PENDING_ENTRIES + 2 * limits::STEER_LINES + 200;
    assert!(lines < most, "{lines} lines were taken");
}

#[test]
fn every_line_that_was_read_is_delivered_or_returned_and_named() {
    let gate = Gate::new();
    let server = Server::start([Reply::text("the last answer").gated(&gate)]);
    let mut run = steered(&server);
    gate.wait_reached();
    let lines: String = (1..=130).map(|number| format!("text {number}\n")).collect();
    run.write(&(lines + "/stop\n"));
    let end = run.end();
    assert_eq!(end.code, Some(130));
    let named: Vec<&str> = end.stderr.lines().filter_map(|line| line.strip_prefix("steersman: not sent: ")).collect();
    let returned: Vec<String> = events(&end.stdout)
        .into_iter()
        .filter_map(|event| if let Event::Returned { entries } = event { Some(entries) } else { None })
        .flatten()
        .map(|entry| entry.message.text)
        .collect();
    let all: Vec<String> = (1..=130).map(|number| format!("text {number}")).collect();
    assert_eq!(named, all);
    assert_eq!(returned, all);
}

#[test]
fn a_command_or_a_name_that_nobody_knows_is_refused() {
    let gate = Gate::new();
    let server = Server::start([Reply::text("one").gated(&gate), Reply::text("two")]);
    let mut run = steered(&server);
    gate.wait_reached();
    run.write("/yess 1\n@nobody help\n@src/main.rs is a path\n");
    run.wait_for_error("not sent, no agent @nobody runs");
    gate.open();
    let end = run.end();
    assert_eq!(end.code, Some(0));
    assert!(end.stderr.contains("not sent, there is no such command here"), "{}", end.stderr);
    assert_eq!(server.chats()[1].texts("user"), ["hello", "@src/main.rs is a path"]);
}

// --- questions

#[test]
fn a_question_shows_everything_and_is_answered_by_its_number() {
    let server = Server::start([removal(), Reply::text("I leave it.")]);
    let mut run = steered(&server);
    run.wait_for_error("question 1: Run this command?");
    run.wait_for_error("│ rm  kept·→");
    run.wait_for_error("answer: /yes 1");
    run.write("/yes 2\n");
    run.wait_for_error("no question 2 is open; open: 1");
    run.write("/no 1 keep it\n");
    let (end, home) = run.end_with_home();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    assert!(server.chats()[1].texts("tool")[0].contains("keep it"));
    assert!(home.path().join("work/kept").exists());
}

#[test]
fn what_an_agent_asks_is_answered_by_the_number_of_an_option_or_by_words() {
    let ask =
        r#"{"questions": [{"question": "Which database?", "options": [{"label": "SQLite"}, {"label": "Postgres"}]}]}"#;
    for (line, told) in
        [("/answer 1 2", "Postgres"), ("/answer MariaDB it is", "MariaDB it is"), ("/no 1 ask Ann", "ask Ann")]
    {
        let server = Server::start([Reply::calls(&[("c1", "ask_user", ask)]), Reply::text("Done.")]);
        let mut run = steered(&server);
        run.wait_for_error("│ Which database?");
        run.wait_for_error("answer: /answer 1");
        run.write("/answer 1 7\n");
        run.wait_for_error("not answered: the options are 1 to 2");
        run.write("/yes 1\n");
        run.wait_for_error("yes is no answer to this question");
        run.write(&format!("{line}\n"));
        let end = run.end();
        assert_eq!(end.code, Some(0), "{}", end.stderr);
        let result = &server.chats()[1].texts("tool")[0];
        assert!(result.contains(told), "{result}");
    }
}

#[test]
fn what_an_agent_asks_where_nobody_answers_is_its_default_and_the_run_goes_on() {
    let ask = r#"{"questions": [{"question": "Which?", "options": [{"label": "a"}, {"label": "b"}], "default": "b"}], "wait": false}"#;
    let server = Server::start([Reply::calls(&[("c1", "ask_user", ask)]), Reply::text("Done.")]);
    let end = exec(&server).args(["hello"]).run().end();
    assert_eq!((end.code, end.stdout.as_str()), (Some(0), "Done.\n"), "{}", end.stderr);
    assert_eq!(server.chats()[1].texts("tool"), ["b (nobody answered: this is the default)"]);
}

#[test]
fn a_yes_that_was_typed_before_the_question_was_written_approves_nothing() {
    let server = Server::start([removal(), Reply::text("I leave it.")]);
    let (mut reader, mut writer) = std::io::pipe().unwrap();
    // Standard error stands still: what the program writes comes behind this.
    let filled = vec![b'x'; 64 * 1024];
    writer.write_all(&filled).unwrap();
    let program = exec(&server).args(["--steer-stdin", "hello"]).file("work/kept", "").piped();
    let mut run = program.stderr(writer.into()).run();
    server.wait_requested(1);
    run.write("/yes\n/yes 1\n");
    let mut said = String::new();
    let mut piece = [0; 4096];
    reader.read_exact(&mut vec![0; filled.len()]).unwrap();
    while !said.contains("answer: /yes 1") || said.matches("not answered").count() < 2 {
        let count = reader.read(&mut piece).unwrap();
        assert!(count > 0, "{said}");
        said.push_str(&String::from_utf8_lossy(&piece[..count]));
    }
    run.write("/no 1\n");
    std::thread::spawn(move || std::io::copy(&mut reader, &mut std::io::sink()));
    let (end, home) = run.end_with_home();
    assert_eq!(end.code, Some(0));
    assert!(home.path().join("work/kept").exists(), "{said}");
}

#[test]
fn an_input_that_has_ended_before_the_first_question_refuses_it() {
    let server = Server::start([removal(), Reply::text("I leave it.")]);
    let (output, home) =
        exec(&server).args(["--json", "--steer-stdin", "hello"]).file("work/kept", "").output_with_home();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    assert!(stderr(&output).contains("1 call was refused because nobody was there to ask"), "{}", stderr(&output));
    assert!(home.path().join("work/kept").exists());
}

#[test]
fn a_standing_yes_stands_also_when_the_input_has_ended() {
    let server = Server::start([removal(), Reply::text("It is gone.")]);
    let program = exec(&server).args(["--yes", "--steer-stdin", "hello"]).file("work/kept", "");
    let (output, home) = program.output_with_home();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    assert!(!fs::exists(home.path().join("work/kept")).unwrap(), "{}", stderr(&output));
}

#[test]
fn a_line_or_a_prompt_that_is_no_text_is_refused() {
    let server = Server::start([]);
    let mut run = exec(&server).args(["-"]).piped().run();
    run.take_stdin().write_all(b"caf\xe9").unwrap();
    let end = run.end();
    assert_eq!((end.code, end.stderr.as_str()), (Some(2), "steersman: standard input is not UTF-8 text\n"));
}
