//! How `exec` ends for programs: by signals, without a reader, and without anything more to read.

use std::fs;
use std::io::{PipeWriter, Write as _};
use std::path::Path;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{exec, lines, of};
use crate::support::program::{Program, Running, stderr, stdout};
use crate::support::server::{Gate, Reply, Server};
use crate::support::skip::{Need, skip};

/// The forms of output, and requests as input.
const FORMS: [&[&str]; 5] = [
    &["--output", "answer", "hello"],
    &["--output", "progress", "hello"],
    &["--output", "result", "hello"],
    &["--json", "hello"],
    &["--input", "json", "hello"],
];

fn bash(command: &str) -> Reply {
    Reply::calls(&[("c1", "bash", &json!({ "command": command }).to_string())])
}

/// Starts a run; requests come through a pipe that stays open.
fn start(server: &Server, form: &[&str], stdout: PipeWriter) -> Running {
    let program = exec(server).args(form.iter().copied()).stdout(stdout.into());
    if form.contains(&"--input") { program.piped().run() } else { program.run() }
}

fn requests(server: &Server, args: &[&str]) -> Running {
    let program = exec(server).args(["--input", "json"]).args(args.iter().copied());
    program.file("work/kept", "").piped().run()
}

#[test]
fn a_signal_ends_a_run_whatever_form_its_output_has_and_although_nobody_reads_that() {
    for form in FORMS {
        for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
            let gate = Gate::new();
            let server = Server::start([Reply::text("never").gated(&gate)]);
            let (reader, mut writer) = std::io::pipe().unwrap();
            // Not a byte more has room.
            writer.write_all(&vec![b'x'; 64 * 1024]).unwrap();
            let run = start(&server, form, writer);
            gate.wait_reached();
            run.signal(signal);
            assert_eq!(run.end().code, Some(code), "{form:?} {signal:?}");
            server.wait_hung_up(1);
            drop(reader);
        }
    }
}

#[test]
fn a_signal_just_behind_the_last_turn_leaves_the_end_of_the_output_whole() {
    for _ in 0..20 {
        let server = Server::start([Reply::text("Done.")]);
        let mut run = exec(&server).args(["--json", "hello"]).run();
        run.wait_for_line(|line| line.contains(r#""type":"turn_ended""#));
        run.signal(Signal::TERM);
        let end = run.end();
        let last = lines(&end.stdout).pop().unwrap();
        assert_eq!(last["event"]["type"], "session_ended", "{:?} {}", end.code, end.stdout);
        assert!([Some(0), Some(143)].contains(&end.code), "{:?}", end.code);
    }
}

#[test]
fn a_signal_ends_a_run_whose_answer_nobody_takes_and_its_output_is_whole() {
    let server = Server::start([Reply::text("Done.")]);
    let program = exec(&server).args(["--json", "-o", "pipe", "hello"]);
    let pipe = program.work().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut run = program.run();
    run.wait_for_line(|line| line.contains(r#""type":"turn_ended""#));
    run.signal(Signal::TERM);
    let end = run.end();
    assert_eq!(end.code, Some(143), "{}", end.stderr);
    let last = lines(&end.stdout).pop().unwrap();
    assert_eq!((&last["event"]["type"], &last["event"]["code"]), (&"session_ended".into(), &143.into()));
}

#[test]
fn an_input_that_ends_without_a_text_is_said_to_hold_none() {
    for input in ["", "{\"type\":\"end\"}\n"] {
        let server = Server::start([]);
        let mut run = exec(&server).args(["--input", "json"]).piped().run();
        run.write(input);
        run.close_stdin();
        let end = run.end();
        let sentence = "the input has ended without a text to send";
        assert_eq!((end.code, end.stderr), (Some(0), format!("steersman: {sentence}\n")));
        let last = lines(&end.stdout).pop().unwrap();
        assert_eq!(last["event"]["reason"], sentence);
        assert_eq!((&last["event"]["outcome"], &last["event"]["exit_code"]), (&"completed".into(), &0.into()));
        // Nothing was saved that could be resumed.
        assert_eq!((&last["session"], &last["event"]["session"]), (&Value::Null, &Value::Null));
    }
}

#[test]
fn a_run_that_can_save_nothing_names_no_session_in_any_line() {
    for form in ["json", "stream-json", "result"] {
        let server = Server::start([Reply::text("done")]);
        // A file is where the directory of the sessions would be.
        let program = Program::new().file(".local/state/steersman/sessions", "");
        let output =
            program.args(["exec", "--base-url", &server.url(), "--model", "m", "--output", form, "go"]).output();
        assert!(stderr(&output).contains("The session cannot be saved"), "{}", stderr(&output));
        let written = lines(&stdout(&output));
        assert!(!written.is_empty() && stdout(&output).contains("done"), "{form}: {}", stdout(&output));
        for line in written {
            let named = ["session", "session_id"].map(|member| &line[member]);
            assert_eq!((named, &line["event"]["session"]), ([&Value::Null; 2], &Value::Null), "{form}: {line}");
        }
    }
}

/// Lets the state lie on a disk of its own that is full, in a mount namespace.
const FULL_DISK: &str = r#"
    state="$HOME/.local/state/steersman"; mkdir -p "$state"
    exec unshare --mount -- sh -c 'mount -t tmpfs -o size=256k tmpfs "$1" || exit 77; cat /dev/zero > "$1/filler" 2> /dev/null
        shift; exec "$@"' sh "$state" "$0" "$@""#;

#[test]
fn a_full_disk_is_said_and_once_there_is_room_nothing_is_missing() {
    if !std::process::Command::new("unshare").args(["--mount", "true"]).status().is_ok_and(|status| status.success()) {
        return skip(Need::of_program("unshare"), "no mount namespace for a full disk");
    }
    let server = Server::start([Reply::text("one"), Reply::text("two")]);
    let arguments = ["exec", "--base-url", &server.url(), "--model", "m", "--sandbox", "off", "--input", "json"];
    let mut run = Program::new().behind(FULL_DISK).args(arguments).piped().run();
    run.wait_for_error("The session cannot be saved: No space left on device");
    run.write("{\"type\":\"send\",\"text\":\"first\"}\n");
    run.wait_for_line(|line| line.contains(r#""type":"turn_ended""#));
    let state = run.home().join(".local/state/steersman");
    let inside = Path::new("/proc").join(run.id().to_string()).join("root").join(state.strip_prefix("/").unwrap());
    fs::remove_file(inside.join("filler")).unwrap();
    run.write("{\"type\":\"send\",\"text\":\"second\"}\n");
    run.wait_for_error("The session is saved again");
    run.wait_for_line(|line| line.contains(r#""type":"turn_ended""#));
    let journal = fs::read_dir(inside.join("sessions")).unwrap().map(|entry| entry.unwrap().path());
    let journal = journal.filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    let session = fs::read_to_string(journal.into_iter().next().unwrap()).unwrap();
    for text in ["first", "one", "second"] {
        assert!(session.contains(&format!("\"{text}\"")), "{text} is missing: {session}");
    }
    run.close_stdin();
    let end = run.end();
    let written = lines(&end.stdout);
    assert_eq!((&written[0]["session"], end.code), (&Value::Null, Some(0)), "{}", end.stderr);
    let last = &written.last().unwrap()["event"]["session"];
    assert!(last.as_str().is_some_and(|name| session.contains(name)), "{last}");
    assert_eq!(end.stderr.matches("The session cannot be saved").count(), 1, "{}", end.stderr);
}

#[test]
fn a_reader_that_is_gone_ends_a_run_in_every_form_although_its_input_stays_open() {
    for form in FORMS {
        let gate = Gate::new();
        let server = Server::start([Reply::text("never").gated(&gate)]);
        let (reader, writer) = std::io::pipe().unwrap();
        let run = start(&server, form, writer);
        gate.wait_reached();
        drop(reader);
        assert_eq!(run.end().code, Some(130), "{form:?}");
        server.wait_hung_up(1);
    }
}

#[test]
fn a_reader_that_is_gone_ends_a_session_that_only_waits_for_requests() {
    let server = Server::start([]);
    let (reader, writer) = std::io::pipe().unwrap();
    let run = start(&server, &["--input", "json"], writer);
    run.wait_handled(Signal::TERM);
    drop(reader);
    assert_eq!(run.end().code, Some(130));
}

#[test]
fn a_question_that_is_open_when_the_requests_end_is_refused() {
    for end in ["{\"type\":\"end\"}\n", ""] {
        let server = Server::start([bash("rm kept"), Reply::text("I leave it.")]);
        let mut run = requests(&server, &["--strict", "hello"]);
        run.wait_for_line(|line| line.contains("\"type\":\"question\""));
        run.write(end);
        run.close_stdin();
        let (end, home) = run.end_with_home();
        assert_eq!(end.code, Some(3), "{}", end.stderr);
        assert!(home.path().join("work/kept").exists());
        assert_eq!(of(&lines(&end.stdout), "answer")[0]["event"]["by"], "nobody", "{}", end.stdout);
    }
}

#[test]
fn what_was_allowed_is_allowed_also_when_the_requests_have_ended() {
    let server = Server::start([bash("rm kept"), Reply::text("It is gone.")]);
    let mut run = requests(&server, &["--yes", "hello"]);
    run.close_stdin();
    let (end, home) = run.end_with_home();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    assert!(!home.path().join("work/kept").exists());

    // An answer for the session holds, and for nothing else.
    let gate = Gate::new();
    let server =
        Server::start([bash("touch one"), bash("touch one").gated(&gate), bash("rm kept"), Reply::text("Done.")]);
    let mut run = requests(&server, &["hello"]);
    run.wait_for_line(|line| line.contains("\"type\":\"question\""));
    run.write(&format!("{}\n", json!({"id": 1, "type": "answer", "question": 1, "answer": "session"})));
    gate.wait_reached();
    std::fs::remove_file(run.home().join("work/one")).unwrap();
    run.close_stdin();
    gate.open();
    let (end, home) = run.end_with_home();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    let lines = lines(&end.stdout);
    let answers: Vec<&Value> = of(&lines, "answer").into_iter().map(|line| &line["event"]["answer"]).collect();
    assert!(home.path().join("work/one").exists(), "{answers:?} {}", end.stderr);
    assert!(home.path().join("work/kept").exists());
}
