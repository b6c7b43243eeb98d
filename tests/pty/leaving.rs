//! Ways out: every one restores the terminal, ends in time, and says how it ended by its exit code.

use std::time::Duration;

use rustix::process::Signal;

use crate::steering::one_child_behind;
use crate::support::server::{Gate, Server};
use crate::support::terminal::{Start, Terminal, keys};

fn started(server: &Server) -> Terminal {
    let mut terminal = Start::against(server).waits_for_agents().run();
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
    assert_eq!(terminal.wait_exit(Duration::from_secs(30)).exit_code(), 0);
    assert_restored(&terminal);
}

#[test]
fn ctrl_c_twice_quits() {
    let server = Server::start([]);
    let mut terminal = started(&server);
    // The first one clears the message.
    terminal.send(keys::CTRL_C);
    terminal.wait_for("Type a message");
    terminal.send("\u{3}\u{3}");
    assert_eq!(terminal.wait_exit(Duration::from_secs(30)).exit_code(), 0);
    assert_restored(&terminal);
}

#[test]
fn the_beginning_of_the_answer_is_left_in_the_terminal_and_the_command_that_resumes() {
    let server = Server::start([]);
    server.reply_text("It is in src/parse.rs.\n\nThe rest is \u{1b}[2Jlong.");
    let mut terminal = Start::against(&server).waits_for_agents().run();
    terminal.send("where is it?\r");
    terminal.wait_for("The rest is");
    terminal.wait_for("· idle");
    terminal.send(keys::CTRL_D);
    assert_eq!(terminal.wait_exit(Duration::from_secs(30)).exit_code(), 0);
    assert_restored(&terminal);
    let screen = terminal.screen();
    for words in
        ["The last answer:", "  It is in src/parse.rs.", "  The rest is ␛[2Jlong.", "To resume: steersman --resume "]
    {
        assert!(screen.contains(words), "{words}\n{screen}");
    }
}

#[test]
fn sigterm_restores_the_terminal_and_exits_with_143() {
    let gate = Gate::new();
    let server = one_child_behind(&gate);
    let mut terminal = Start::against(&server).waits_for_agents().run();
    terminal.send("start\r");
    gate.wait_reached();
    terminal.signal(Signal::TERM);
    assert_eq!(terminal.wait_exit(Duration::from_secs(30)).exit_code(), 143);
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
    assert_eq!(terminal.wait_exit(Duration::from_secs(30)).exit_code(), 129);
    assert_restored(&terminal);
}

#[test]
fn a_terminal_that_goes_away_ends_the_program_within_three_seconds() {
    let gate = Gate::new();
    let server = one_child_behind(&gate);
    let mut terminal = Start::against(&server).waits_for_agents().run();
    terminal.send("start\r");
    gate.wait_reached();
    terminal.hang_up();
    terminal.wait_exit(Duration::from_secs(30));
    server.wait_hung_up(1);
}

/// Longer than it takes anywhere, and far shorter than the faults below last.
const A_WHILE: Duration = Duration::from_secs(25);

#[test]
fn every_signal_that_ends_a_program_restores_the_terminal() {
    let server = Server::start([]);
    let signals = [
        Signal::INT,
        Signal::QUIT,
        Signal::USR1,
        Signal::USR2,
        Signal::ALARM,
        Signal::VTALARM,
        Signal::PROF,
        Signal::XCPU,
        Signal::ABORT,
        Signal::TRAP,
        Signal::SYS,
        Signal::IO,
        Signal::POWER,
    ];
    for signal in signals {
        let mut terminal = started(&server);
        terminal.signal(signal);
        let code = terminal.wait_exit(A_WHILE).exit_code();
        assert_eq!(i64::from(code), 128 + i64::from(signal.as_raw()), "{signal:?}");
        assert_restored(&terminal);
    }
}

#[test]
fn a_file_that_may_not_grow_ends_nothing() {
    let server = Server::start([]);
    let mut terminal = started(&server);
    terminal.signal(Signal::XFSZ);
    terminal.send(" and on");
    terminal.wait_for("hello there and on");
}

/// A way to quit: its name, what is done, and the exit code of an orderly end.
type Way = (&'static str, fn(&mut Terminal), u32);

const WAYS: [Way; 4] = [
    ("Ctrl+C twice", |terminal| terminal.send("\x03\x03"), 0),
    ("F12", |terminal| terminal.send(F12), 0),
    ("SIGTERM", |terminal| terminal.signal(Signal::TERM), 143),
    ("SIGUSR1", |terminal| terminal.signal(Signal::USR1), 138),
];
const F12: &str = "\x1b[24~";

#[test]
fn a_worker_that_does_not_answer_keeps_nobody_from_quitting() {
    let server = Server::start([]);
    for (name, quit, code) in WAYS {
        let mut terminal = Start::against(&server).waits_for_agents().env("STEERSMAN_TEST_FAULT", "setup").run();
        terminal.wait_written(0, b"[stopped at setup]");
        quit(&mut terminal);
        assert_eq!(terminal.wait_exit(A_WHILE).exit_code(), code, "{name}");
        assert_restored(&terminal);
    }
}

#[test]
fn a_line_output_whose_worker_does_not_answer_can_be_quit() {
    let server = Server::start([]);
    for (name, quit, code) in WAYS {
        let start =
            Start::against(&server).waits_for_agents().arg("--screen-reader").env("STEERSMAN_TEST_FAULT", "setup");
        let mut terminal = start.spawn();
        terminal.wait_written(0, b"\x1b[?2004h");
        terminal.wait_written(0, b"[stopped at setup]");
        quit(&mut terminal);
        assert_eq!(terminal.wait_exit(A_WHILE).exit_code(), code, "{name}");
        assert!(terminal.raw().ends_with(b"\x1b[?2004l"), "{name}");
    }
}

#[test]
fn a_screen_that_does_not_answer_can_be_quit() {
    let server = Server::start([]);
    for (name, quit, code) in WAYS {
        for args in [[].as_slice(), &["--screen-reader"]] {
            let start = Start::against(&server).waits_for_agents().env("STEERSMAN_TEST_FAULT", "send");
            let mut terminal = args.iter().fold(start, |start, arg| start.arg(arg)).spawn();
            terminal.wait_written(0, b"\x1b[?2004h");
            terminal.send("go\r");
            terminal.wait_written(0, b"[stopped at send]");
            quit(&mut terminal);
            let expected = if code == 0 { 130 } else { code };
            assert_eq!(terminal.wait_exit(A_WHILE).exit_code(), expected, "{name} {args:?}");
            let raw = terminal.raw();
            let last = |part: &[u8]| raw.windows(part.len()).rposition(|found| found == part);
            assert!(last(b"\x1b[?2004l") > last(b"\x1b[?2004h"), "{name} {args:?}");
        }
    }
}
