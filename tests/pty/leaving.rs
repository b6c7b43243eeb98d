//! Ways out: every one restores the terminal, ends in time, and says how it ended by its exit code.

use std::time::Duration;

use rustix::process::Signal;

use crate::steering::one_child_behind;
use crate::support::server::{Gate, Server};
use crate::support::terminal::{Start, Terminal, keys};

fn started(server: &Server) -> Terminal {
    let mut terminal = Start::against(server).run();
    terminal.send("hello there");
    terminal.wait_for("hello there");
    terminal
}

fn assert_restored(terminal: &Terminal) {
    let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
    for (on, off) in [("\x1b[?1049h", "\x1b[?1049l"), ("\x1b[?2004h", "\x1b[?2004l"), ("\x1b[?2026h", "\x1b[?2026l")] {
        let last_on = raw.rfind(on).unwrap_or_else(|| panic!("{on:?} was never written"));
        assert!(raw[last_on..].contains(off), "{off:?} does not follow {on:?}");
    }
    assert!(!terminal.look(vt100::Screen::alternate_screen));
    assert!(!terminal.look(vt100::Screen::hide_cursor));
}

#[test]
fn ctrl_d_on_an_empty_composer_quits() {
    let server = Server::start([]);
    let mut terminal = started(&server);
    terminal.send(keys::CTRL_D);
    terminal.send(keys::CTRL_C);
    terminal.wait_gone("hello there");
    terminal.send(keys::CTRL_D);
    assert_eq!(terminal.wait_exit(Duration::from_secs(3)).exit_code(), 0);
    assert_restored(&terminal);
}

#[test]
fn ctrl_c_twice_quits() {
    let server = Server::start([]);
    let mut terminal = started(&server);
    terminal.send(keys::CTRL_C);
    terminal.send(keys::CTRL_C);
    assert_eq!(terminal.wait_exit(Duration::from_secs(3)).exit_code(), 0);
    assert_restored(&terminal);
}

#[test]
fn sigterm_restores_the_terminal_and_exits_with_143() {
    let gate = Gate::new();
    let server = one_child_behind(&gate);
    let mut terminal = Start::against(&server).run();
    terminal.send("start\r");
    gate.wait_reached();
    terminal.signal(Signal::TERM);
    assert_eq!(terminal.wait_exit(Duration::from_secs(3)).exit_code(), 143);
    assert_restored(&terminal);
}

#[test]
fn a_program_that_was_stopped_takes_the_terminal_again_and_writes_its_screen() {
    let server = Server::start([]);
    let mut terminal = started(&server);
    let before = terminal.written();
    terminal.signal(Signal::STOP);
    terminal.signal(Signal::CONT);
    terminal.wait_written(before, b"\x1b[?1049h");
    terminal.wait_written(before, b"hello");
    terminal.send(" again");
    terminal.wait_for("hello there again");
}

#[test]
fn sighup_restores_the_terminal_and_exits_with_129() {
    let server = Server::start([]);
    let mut terminal = started(&server);
    terminal.signal(Signal::HUP);
    assert_eq!(terminal.wait_exit(Duration::from_secs(3)).exit_code(), 129);
    assert_restored(&terminal);
}

#[test]
fn a_terminal_that_goes_away_ends_the_program_within_three_seconds() {
    let gate = Gate::new();
    let server = one_child_behind(&gate);
    let mut terminal = Start::against(&server).run();
    terminal.send("start\r");
    gate.wait_reached();
    terminal.hang_up();
    terminal.wait_exit(Duration::from_secs(3));
    server.wait_hung_up(1);
}
