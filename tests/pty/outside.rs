//! A second screen on a session that runs, and a session without one until somebody attaches.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::support::built_program;
use crate::support::server::{Gate, Reply, Server};
use crate::support::terminal::{Start, Terminal, keys};

/// Opens one more screen beside a program with this home.
fn attach(home: &std::path::Path) -> Terminal {
    let terminal = Start::new(["attach"]).env("HOME", home.to_str().unwrap()).run();
    terminal.wait_for("· idle");
    terminal
}

fn quit(mut terminal: Terminal) {
    terminal.send(keys::CTRL_D);
    assert_eq!(terminal.wait_exit(Duration::from_secs(30)).exit_code(), 0);
}

/// Runs a command beside a program with this home; returns what it wrote.
fn command(home: &std::path::Path, args: &[&str]) -> String {
    let mut command = Command::new(built_program());
    command.env_clear().env("HOME", home).env("PATH", "/usr/bin:/bin").args(args).current_dir(home);
    let output = command.output().unwrap();
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn of_a_session_that_is_only_open_nothing_is_said_to_run_and_nothing_is_cancelled() {
    let (server, gate) = (Server::start([]), Gate::new());
    server.reply_text("An answer.");
    let mut first = Start::against(&server).run();
    first.send("go\r");
    first.wait_for("An answer.");
    first.wait_for("· idle");
    let home = first.home().to_owned();
    let list = command(&home, &["sessions", "--json"]);
    assert!(list.contains("\"state\":\"open\"") || list.contains("\"state\": \"open\""), "{list}");
    assert!(command(&home, &["cancel"]).contains("no turn runs"));
    server.reply(Reply::text("Late.").gated(&gate));
    first.send("more\r");
    gate.wait_reached();
    let list = command(&home, &["sessions", "--json"]);
    assert!(list.contains("\"running\""), "{list}");
    assert!(command(&home, &["cancel"]).contains("the turn is being cancelled"));
    first.wait_for("last turn cancelled");
    quit(first);
}

#[test]
fn a_second_screen_shows_what_was_said_and_both_see_who_sent_what() {
    let server = Server::start([]);
    server.reply_text("The first answer.");
    let mut first = Start::against(&server).run();
    first.send("from the first\r");
    first.wait_for("The first answer.");
    first.wait_for("· idle");
    let mut second = attach(first.home());
    second.wait_for("The first answer.");
    server.reply_text("The second answer.");
    // Each has its own draft.
    first.send("a draft here");
    second.send("from the second\r");
    for terminal in [&first, &second] {
        terminal.wait_for("The second answer.");
    }
    assert!(first.wait_for("from attach 1").contains("a draft here"), "{}", first.screen());
    assert!(!second.screen().contains("a draft here"), "{}", second.screen());
    second.send("/detach\r");
    second.wait_for("The session goes on. To come back: steersman attach ");
    assert_eq!(second.wait_exit(Duration::from_secs(30)).exit_code(), 0);
    server.reply_text("The third answer.");
    first.send("\r");
    first.wait_for("The third answer.");
    first.wait_for("· idle");
    quit(first);
}

#[test]
fn a_screen_whose_session_was_killed_leaves_the_way_to_go_on_and_what_was_not_sent() {
    let server = Server::start([]);
    server.reply_text("The first answer.");
    let mut first = Start::against(&server).run();
    first.send("from the first\r");
    first.wait_for("The first answer.");
    let mut second = attach(first.home());
    first.signal(Signal::KILL);
    second.wait_for("the connection to the session is closed");
    second.send("not sent yet");
    second.wait_for("Ctrl+C clears, Ctrl+D then quits");
    second.signal(Signal::TERM);
    assert_eq!(second.wait_exit(Duration::from_secs(30)).exit_code(), 143);
    let screen = second.screen();
    for words in ["The last answer:", "Not connected any more: ", "steersman --resume ", "Not sent:", "  not sent yet"]
    {
        assert!(screen.contains(words), "{words}\n{screen}");
    }
}

#[test]
fn a_stop_on_one_screen_gives_the_text_of_the_other_back_to_that() {
    let gate = Gate::new();
    let server = Server::start([Reply::text("Nobody reads this.").gated(&gate)]);
    let mut first = Start::against(&server).run();
    first.send("begin\r");
    gate.wait_reached();
    let second = Start::new(["attach"]).env("HOME", first.home().to_str().unwrap()).run();
    let mut second = second;
    second.wait_for("begin");
    second.send("of the second\r");
    first.wait_for("(attach 1) of the second");
    first.send(keys::ESC);
    second.wait_until("the text is back in its message", |screen| {
        screen.contains("of the second") && !screen.contains("⋯ m2")
    });
    first.wait_gone("of the second");
    // While the turn ends a key that quits asks first.
    first.wait_for("last turn cancelled");
    gate.open();
    quit(first);
    second.wait_for("the session has ended");
    second.send(keys::CTRL_C);
    second.wait_gone("of the second");
    quit(second);
}

/// A session that is served.
pub struct Served {
    child: Child,
    pub home: tempfile::TempDir,
}

impl Served {
    pub fn start(server: &Server, prompt: &str) -> Self {
        let home = tempfile::TempDir::new().unwrap();
        let mut command = Command::new(built_program());
        command.env_clear().env("HOME", home.path()).env("PATH", "/usr/bin:/bin").env("STEERSMAN_LOCAL_PORTS", "none");
        command.args(["--base-url", &server.url(), "--model", "scripted", "serve", prompt]).current_dir(home.path());
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut out, &mut line).unwrap();
        assert!(line.starts_with("session ") && line.contains("steersman attach "), "{line}");
        Self { child, home }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

#[test]
fn a_session_is_served_without_a_screen_left_alive_and_ended_by_quit() {
    let server = Server::start([Reply::text("Done without a screen.")]);
    let mut served = Served::start(&server, "work alone");
    let first = attach(served.home.path());
    first.wait_for("Done without a screen.");
    quit(first);
    assert!(served.child.try_wait().unwrap().is_none(), "a screen that is closed leaves it alive");
    let mut second = attach(served.home.path());
    second.wait_for("Done without a screen.");
    second.send("/quit\r");
    assert_eq!(second.wait_exit(Duration::from_secs(30)).exit_code(), 0);
    assert!(served.child.wait().unwrap().success());
}

#[test]
fn a_served_session_ends_by_a_signal() {
    let server = Server::start([Reply::text("Done without a screen.")]);
    let mut served = Served::start(&server, "work alone");
    drop(attach(served.home.path()));
    kill_process(Pid::from_raw(i32::try_from(served.child.id()).unwrap()).unwrap(), Signal::TERM).unwrap();
    assert_eq!(served.child.wait().unwrap().code(), Some(143));
}
