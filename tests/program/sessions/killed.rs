//! kill -9 at every step towards the disk of a reference turn, and at random times while a second screen is attached: the
//! session is gone on with, and no text is lost or doubled.
//!
//! `STEERSMAN_KILLS=all cargo test --test program sessions::killed` plays 200 points: every step, the rest at random times, and
//! 60 with a second screen. Without it some of the steps are played, spread over the turn, and two with a second screen.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use steersman_base::message::Message;
use steersman_session::journal::{SessionFile, SessionFiles, restore};
use tempfile::TempDir;

use crate::support::processes::wait_until;
use crate::support::program::{PATIENCE, Program, stderr};
use crate::support::server::{Reply, Server};
use crate::support::terminal::Start;

/// Points of the whole run.
const ALL: u64 = 200;
/// Points of the short one.
const SOME: u64 = 8;
/// The same, while a second screen is attached.
const ALL_ATTACHED: u32 = 60;
const SOME_ATTACHED: u32 = 2;
/// The kill comes within this time behind the first text.
const LATEST: Duration = Duration::from_millis(600);

fn is_all() -> bool {
    std::env::var_os("STEERSMAN_KILLS").is_some_and(|kills| kills == "all")
}

fn sessions(home: &Path) -> Vec<SessionFile> {
    SessionFiles::within(&home.join(".local/state/steersman")).list().unwrap()
}

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
    let files = sessions(home.path());
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
    let session = &sessions(home.path())[0];
    assert!(!session.is_written(), "{point}");
}

#[test]
fn a_program_that_is_killed_at_any_step_loses_and_doubles_nothing() {
    let (steps, time) = undisturbed();
    assert!(steps > 10, "{steps} steps");
    let is_all = is_all();
    let points: Vec<u64> =
        if is_all { (1..=steps).collect() } else { (0..SOME).map(|n| 1 + n * steps / SOME).collect() };
    let mut reached = 0;
    for point in &points {
        let server = model();
        let program = exec(TempDir::new().unwrap(), &server, &["write it"]);
        let (output, home) = program.env("STEERSMAN_TEST_KILL", point.to_string()).output_with_home();
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

#[tokio::test]
async fn a_text_that_a_hook_is_asked_about_when_the_program_is_killed_waits_again() {
    let (server, home) = (model(), TempDir::new().unwrap());
    let asked = home.path().join("asked");
    let hook = json!({
        "type": "command", "command": format!("echo > '{}'; exec sleep 60", asked.display()), "sandbox": false,
    });
    let hooks = json!({ "hooks": { "UserPromptSubmit": [{ "hooks": [hook] }] } });
    let run = exec(home, &server, &["write it"]).file(".config/steersman/hooks.json", &hooks.to_string()).run();
    wait_until("the hook runs", PATIENCE, || asked.exists()).await;
    run.signal(Signal::KILL);
    let (_, home) = run.end_with_home();
    let left = restore(sessions(home.path())[0].read().unwrap().records);
    let waiting: Vec<&str> = left.unfinished.pending.iter().map(|entry| entry.text.as_str()).collect();
    assert_eq!((waiting, left.messages.iter().filter_map(typed_text).count()), (vec!["write it"], 0));
}

/// A model that looks around between two answers, so that texts enter in the middle of a turn too.
fn busy_model() -> Server {
    Server::routed(|request| {
        let id = format!("c{}", request.messages().len());
        if request.roles().last().is_some_and(|role| role == "tool") {
            Reply::text("Done.")
        } else {
            Reply::calls(&[(id.as_str(), "glob", r#"{"pattern":"*.none"}"#)])
        }
    })
}

/// Checks the texts of one sender that came back: each once, in order, and none left out before a later one.
fn check_order(texts: &[String], sender: &str, sent: usize, point: &str) -> usize {
    let its: Vec<&String> = texts.iter().filter(|text| text.starts_with(sender)).collect();
    let expected: Vec<String> = (0..its.len()).map(|number| format!("{sender} {number}")).collect();
    assert!(its.iter().copied().eq(&expected) && its.len() <= sent, "{point}: {sender}: {its:?}");
    its.len()
}

/// Returns the text of a message of a user, without the frame of one that entered in the middle of a turn.
fn typed_text(message: &Message) -> Option<String> {
    let Message::User { content, .. } = message else { return None };
    let is_text = |line: &&str| *line == "begin" || line.starts_with("typed ") || line.starts_with("injected ");
    content.lines().find(is_text).map(str::to_owned)
}

#[test]
fn a_session_that_is_killed_while_a_second_screen_is_attached_loses_and_doubles_no_text() {
    let points = if is_all() { ALL_ATTACHED } else { SOME_ATTACHED };
    for number in 0..points {
        let server = busy_model();
        let program = Program::new().args(["--base-url", &server.url(), "--model", "m", "serve", "begin"]);
        let mut run = program.run();
        run.wait_for_line(|line| line.starts_with("session "));
        let home = run.home().to_str().unwrap().to_owned();
        let mut second = Start::new(["attach"]).env("HOME", &home).run();
        second.wait_for("begin");
        // The list shows a text before the disk has it: with this one's answer both are there, and the session can go on.
        let first = Program::beside(&run).args(["inject", "injected 0"]).output();
        assert!(first.status.success(), "{}", stderr(&first));
        let pid = Pid::from_raw(i32::try_from(run.id()).unwrap()).unwrap();
        // A moment of the run, as even as a system hands them out.
        let after = LATEST * (number * 37 % points * 97 + number * 13 % 97) / (points * 97);
        let point = format!("point {number}, after {after:?}");
        let killer = std::thread::spawn(move || {
            std::thread::park_timeout(after);
            kill_process(pid, Signal::KILL).unwrap();
        });
        let mut accepted = 1;
        let mut typed = 0;
        loop {
            second.send(&format!("typed {typed}\r"));
            typed += 1;
            let text = format!("injected {accepted}");
            let output = Program::beside(&run).args(["inject", &text]).output();
            if !output.status.success() {
                break;
            }
            accepted += 1;
        }
        killer.join().unwrap();
        let (end, home) = run.end_with_home();
        assert_eq!(end.code, None, "{point}: {}", end.stderr);
        second.wait_for("cannot run: the connection to the session is ");
        drop(second);

        let left = restore(sessions(home.path())[0].read().unwrap().records);
        let delivered: Vec<String> = left.messages.iter().filter_map(typed_text).collect();
        let waiting = left.unfinished.pending.iter().map(|entry| entry.text.clone());
        let kept: Vec<String> = delivered.iter().cloned().chain(waiting).collect();
        // The last one may be on the disk, and its sender was not told any more.
        let injected = check_order(&kept, "injected", accepted + 1, &point);
        assert!(injected >= accepted, "{point}: {accepted} texts were accepted, {injected} are there: {kept:?}");
        check_order(&kept, "typed", typed, &point);

        let (output, _home) = exec(home, &server, &["--continue", "and now?"]).output_with_home();
        assert_eq!(output.status.code(), Some(0), "{point}: {}", stderr(&output));
        let texts = server.chats().pop().unwrap().texts("user");
        assert_eq!(texts.last().map(String::as_str), Some("and now?"), "{point}");
        let again: Vec<&String> = texts.iter().filter(|text| delivered.contains(text)).collect();
        assert!(again.iter().copied().eq(&delivered), "{point}: {texts:?}");
    }
}
