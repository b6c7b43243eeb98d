//! kill -9 at every step towards the disk of a reference turn: the session is gone on with, and no text is lost or doubled.
//!
//! `STEERSMAN_KILLS=all cargo test --test suite session::killed` plays 200 points: every step, the rest at random times.
//! Without it some of the steps are played, spread over the turn.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use steersman::session::journal::SessionFiles;
use tempfile::TempDir;

use crate::support::program::{Program, stderr};
use crate::support::server::{Reply, Server};

/// Points of the whole run.
const ALL: u64 = 200;
/// Points of the short one.
const SOME: u64 = 8;

/// A model that writes a file and then answers, whatever it was asked before.
fn model() -> Server {
    Server::routed(|request| {
        let is_told = request.roles().last().is_some_and(|role| role == "tool");
        let is_first = request.texts("user").last().is_some_and(|text| text == "write it");
        if is_first && !is_told {
            Reply::calls(&[("c1", "write", r#"{"path":"made.txt","content":"made"}"#)])
        } else {
            Reply::text("Done.")
        }
    })
}

fn exec(home: TempDir, server: &Server, args: &[&str]) -> Program {
    let program = Program::within(home).args(["exec", "--yes", "--base-url", &server.url(), "--model", "m"]);
    program.args(args.iter().copied())
}

/// Runs the turn undisturbed; returns how many steps it makes, and how long it takes.
fn undisturbed() -> (u64, Duration) {
    let server = model();
    let began = Instant::now();
    let home = TempDir::new().unwrap();
    let steps: PathBuf = home.path().join("steps");
    let program = exec(home, &server, &["write it"]).env("STEERSMAN_TEST_STEPS", steps.to_str().unwrap());
    let (output, home) = program.output_with_home();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let made = std::fs::read_to_string(home.path().join("steps")).unwrap().parse().unwrap();
    (made, began.elapsed())
}

/// Goes on with what a killed program left, and checks it.
fn check(home: TempDir, server: &Server, point: &str) {
    let was_asked = !server.chats().is_empty();
    let files = SessionFiles::within(&home.path().join(".local/state/steersman")).list().unwrap();
    let made = home.path().join("work/made.txt");
    if made.exists() {
        assert_eq!(std::fs::read_to_string(&made).unwrap(), "made", "{point}");
    }
    let Some(file) = files.first() else {
        assert!(!was_asked, "{point}: a request was sent for a text that is not on the disk");
        return;
    };
    if file.header().is_none() {
        assert!(!was_asked, "{point}: a request was sent for a session that says nothing");
        return;
    }
    let (output, home) = exec(home, server, &["--continue", "and now?"]).output_with_home();
    assert_eq!(output.status.code(), Some(0), "{point}: {}", stderr(&output));
    let texts = server.chats().pop().unwrap().texts("user");
    let count = |text: &str| texts.iter().filter(|said| *said == text).count();
    let waits = stderr(&output).contains("1 pending");
    assert_eq!(count("and now?"), 1, "{point}: {texts:?}");
    assert!(count("write it") + usize::from(waits) <= 1, "{point}: doubled: {texts:?}, {}", stderr(&output));
    if was_asked {
        assert_eq!(count("write it"), 1, "{point}: lost: {texts:?}");
    }
    let session = &SessionFiles::within(&home.path().join(".local/state/steersman")).list().unwrap()[0];
    assert!(!session.is_written(), "{point}");
}

#[test]
fn a_program_that_is_killed_at_any_step_loses_and_doubles_nothing() {
    let (steps, time) = undisturbed();
    assert!(steps > 10, "{steps} steps");
    let is_all = std::env::var_os("STEERSMAN_KILLS").is_some_and(|kills| kills == "all");
    let points: Vec<u64> =
        if is_all { (1..=steps).collect() } else { (0..SOME).map(|n| 1 + n * steps / SOME).collect() };
    let mut reached = 0;
    for point in &points {
        let server = model();
        let program = exec(TempDir::new().unwrap(), &server, &["write it"]);
        let (output, home) = program.env("STEERSMAN_TEST_KILL", &point.to_string()).output_with_home();
        // What waits together is written together, so that a run may make fewer steps than another.
        reached += usize::from(output.status.code().is_none());
        check(home, &server, &format!("step {point} of {steps}"));
    }
    assert!(reached * 2 >= points.len(), "{reached} of {} steps were reached", points.len());
    for number in points.len() as u64..if is_all { ALL } else { 0 } {
        let server = model();
        let run = exec(TempDir::new().unwrap(), &server, &["write it"]).run();
        // A moment of the run, as even as a system hands them out.
        std::thread::park_timeout(time * u32::try_from(number % 97).unwrap() / 97);
        run.signal(Signal::KILL);
        let (_, home) = run.end_with_home();
        check(home, &server, &format!("random point {number}"));
    }
}
