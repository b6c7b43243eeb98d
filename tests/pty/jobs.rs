//! Commands in the background and the user's shell lines, in the real program on a terminal.

use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use crate::outside::Served;
use crate::support::processes::{alive, unique, wait_dead};
use crate::support::server::{Reply, Server};
use crate::support::skip::{Need, skip};
use crate::support::terminal::{Start, keys};

const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn a_shell_line_runs_beside_a_turn_and_esc_stops_it_with_all_that_it_started() {
    let server = Server::start([Reply::text("I have read it.")]);
    let mut terminal = Start::against(&server).run();
    let mark = unique();
    terminal.wait_for("· idle");
    terminal.send(&format!("!echo begun; M={mark} sleep 300 & M={mark} sleep 300\r"));
    terminal.wait_for("begun");
    terminal.wait_for("Esc: stops your command j1");
    terminal.wait_until("the line", |_| alive(&mark).len() >= 2);
    terminal.send(keys::ESC);
    wait_dead(&mark, PATIENCE);
    terminal.wait_for("stopped");
    terminal.wait_for("I ran this in my own shell");
    assert_eq!(server.chats().len(), 0, "nothing is sent by itself");
    terminal.send("what was that\r");
    terminal.wait_for("I have read it.");
    let texts = server.chats()[0].texts("user");
    assert!(texts[0].contains("It ended with: stopped") && texts[0].contains("begun"), "{texts:?}");
}

#[test]
fn a_background_command_goes_on_behind_the_turn_is_listed_and_ends_with_the_program() {
    let mark = unique();
    let command = format!("echo serving; M={mark} sleep 300");
    let arguments = serde_json::json!({"command": command, "background": true}).to_string();
    let server = Server::start([Reply::calls(&[("c1", "bash", &arguments)]), Reply::text("It runs.")]);
    let mut terminal = Start::against(&server).run();
    terminal.send("serve it\r");
    terminal.wait_for("Run this command in the background?");
    terminal.wait_for("● ready");
    terminal.send("\x1by");
    terminal.wait_for("It runs.");
    terminal.send("\x1bj");
    terminal.wait_for("1 background command, 1 running");
    terminal.wait_for("serving");
    assert!(!alive(&mark).is_empty());
    terminal.send(keys::ESC);
    terminal.wait_gone("1 background command, 1 running");
    terminal.signal(Signal::KILL);
    let _ = terminal.wait_exit(PATIENCE);
    wait_dead(&mark, PATIENCE);
}

#[test]
fn a_command_in_the_background_takes_input_in_bubblewrap() {
    let tried = Command::new("bwrap").args(["--ro-bind", "/", "/", "--unshare-all", "true"]).status();
    if !tried.is_ok_and(|status| status.success()) {
        return skip(Need::of_program("bwrap"), "input of a job in bubblewrap");
    }
    let script = "read line; echo \"got $line\"; [ -e \"$HOME/secret\" ] || echo confined; cat";
    let start = serde_json::json!({"command": script, "background": true}).to_string();
    let input = |text: &str, end: bool| serde_json::json!({"job": "j1", "text": text, "end": end}).to_string();
    let output = serde_json::json!({"job": "j1", "wait_for": "confined"}).to_string();
    let rest = serde_json::json!({"job": "j1", "wait_for": "more of it"}).to_string();
    let server = Server::start([
        Reply::calls(&[("c1", "bash", &start)]),
        Reply::calls(&[("c2", "job_input", &input("a line\n", false)), ("c3", "job_output", &output)]),
        Reply::calls(&[("c4", "job_input", &input("more of it\n", true)), ("c5", "job_output", &rest)]),
        Reply::text("It answers."),
    ]);
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("secret"), "canary").unwrap();
    let start = Start::against(&server).arg("--sandbox").arg("bubblewrap").arg("--yes");
    let mut terminal = start.home(home).run();
    terminal.send("serve it\r");
    terminal.wait_for("It answers.");
    let results = server.chats()[3].texts("tool");
    assert!(results[1].contains("[7 bytes written to j1]"), "{results:?}");
    assert!(results[2].contains("got a line") && results[2].contains("confined"), "{results:?}");
    assert!(results[4].contains("more of it"), "{results:?}");
}

#[test]
fn a_running_command_is_sent_to_the_background_and_its_call_ends() {
    let mark = unique();
    let arguments = serde_json::json!({"command": format!("echo building; M={mark} sleep 300")}).to_string();
    let server = Server::start([Reply::calls(&[("c1", "bash", &arguments)]), Reply::text("It goes on.")]);
    let mut terminal = Start::against(&server).run();
    terminal.send("build it\r");
    terminal.wait_for("Run this command?");
    terminal.wait_for("● ready");
    terminal.send("\x1by");
    // The words of the command stand there before it runs.
    terminal.wait_for("running, 1 line");
    terminal.send("\x1bq");
    terminal.wait_for("It goes on.");
    let results = server.chats()[1].texts("tool");
    assert!(results[0].contains("continues as j1"), "{results:?}");
    assert!(!alive(&mark).is_empty());
    terminal.send("/jobs stop j1\r");
    terminal.wait_for("Stop j1?");
    terminal.wait_for("● ready");
    terminal.send("\x1by");
    wait_dead(&mark, PATIENCE);
    terminal.wait_for("j1 ended after");
}

#[test]
fn a_job_of_a_served_run_stays_when_the_screen_is_detached_and_ends_with_the_run() {
    let mark = unique();
    let command = format!("echo serving; M={mark} sleep 300");
    let arguments = serde_json::json!({"command": command, "background": true}).to_string();
    let server = Server::start([Reply::calls(&[("c1", "bash", &arguments)]), Reply::text("It runs.")]);
    let served = Served::start(&server, "serve it");
    let attach = || Start::new(["attach"]).env("HOME", served.home.path().to_str().unwrap()).run();
    let mut first = attach();
    first.wait_for("Run this command in the background?");
    first.wait_for("● ready");
    first.send("\x1by");
    first.wait_for("It runs.");
    first.send("/detach\r");
    assert_eq!(first.wait_exit(PATIENCE).exit_code(), 0);
    assert!(!alive(&mark).is_empty(), "it stays");
    let mut second = attach();
    second.wait_for("1 job");
    second.send("\x1bj");
    second.wait_for("1 background command, 1 running");
    second.send(keys::ESC);
    second.wait_gone("1 background command");
    second.send("/quit\r");
    assert_eq!(second.wait_exit(PATIENCE).exit_code(), 0);
    wait_dead(&mark, PATIENCE);
}
