//! `exec` as a user meets it: the built program against a scripted server, or with its embedded model. What it puts out,
//! and how it ends.

mod startup;
mod steering;

use std::fs;

use rustix::process::Signal;
use serde_json::json;
use steersman_base::event::{Envelope, Event, Outcome};

use crate::support::program::{Program, Running, exit_code, stderr, stdout};
use crate::support::server::{Gate, Reply, Server};

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

// --- the end

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
