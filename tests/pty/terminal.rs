//! The terminal and its other users: the external editor, the shell, the clipboard, the mouse.

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;

use crate::support::processes::{unique, wait_dead};
use crate::support::server::{Gate, Reply, Server};
use crate::support::terminal::{Start, Terminal, keys};

const CTRL_G: &str = "\x07";
const CTRL_Z: &str = "\x1a";
/// Ten times what it may take, for a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(30);

/// Writes a script that stands for the user's editor; returns its path.
fn editor(dir: &Path, script: &str) -> String {
    let path = dir.join("editor.sh");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

fn with_editor(server: &Server, dir: &Path, script: &str) -> Terminal {
    let mut terminal = Start::against(server).env("EDITOR", &editor(dir, script)).run();
    terminal.send("a first draft");
    terminal.wait_for("a first draft");
    terminal
}

#[test]
fn the_draft_goes_through_the_users_editor_and_back() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start([Reply::text("understood")]);
    let seen = dir.path().join("seen");
    let script = format!("ls -l \"$1\" > {0}; cat \"$1\" >> {0}; printf 'two\\nlines\\n' > \"$1\"", seen.display());
    let mut terminal = with_editor(&server, dir.path(), &script);
    let before = terminal.written();
    terminal.send(CTRL_G);
    // The terminal is given away whole, and taken back whole.
    terminal.wait_written(before, b"\x1b[?1049l");
    terminal.wait_until("the editor's text", |screen| screen.contains("two") && !screen.contains("first draft"));
    terminal.wait_written(before, b"\x1b[?1049h");
    let seen = fs::read_to_string(seen).unwrap();
    assert!(seen.starts_with("-rw-------") && seen.contains(".md\na first draft"), "{seen}");
    terminal.send(" and more\r");
    terminal.wait_for("understood");
    assert!(server.chats()[0].body.to_string().contains("two\\nlines and more"));
}

#[test]
fn whatever_the_editor_does_wrong_the_draft_is_as_it_was() {
    let cases = [
        ("echo changed > \"$1\"; exit 3", "exit status: 3"),
        ("rm \"$1\"", "no file"),
        ("printf 'caf\\351' > \"$1\"", "not UTF-8"),
        ("head -c 3000000 /dev/zero | tr '\\0' x > \"$1\"", "2048 KiB"),
    ];
    for (script, reason) in cases {
        let dir = tempfile::tempdir().unwrap();
        let mut terminal = with_editor(&Server::start([]), dir.path(), script);
        terminal.send(CTRL_G);
        let screen = terminal.wait_for(reason);
        assert!(screen.contains("a first draft"), "{screen}");
        terminal.send(" goes on");
        terminal.wait_for("a first draft goes on");
    }
}

#[test]
fn without_an_editor_a_sentence_says_what_to_set() {
    let server = Server::start([Reply::text("an answer")]);
    let mut terminal = Start::against(&server).env("PATH", "/nowhere").run();
    // What is said at the start about the sandbox comes first.
    terminal.send("go\r");
    terminal.wait_for("an answer");
    terminal.send("kept");
    terminal.wait_for("kept");
    terminal.send(CTRL_G);
    let screen = terminal.wait_for("set EDITOR");
    assert!(screen.contains("kept"), "{screen}");
}

#[test]
fn the_editor_reads_every_key_and_the_agent_goes_on_meanwhile() {
    let dir = tempfile::tempdir().unwrap();
    let gate = Gate::new();
    let server = Server::start([Reply::text("the answer").gated(&gate)]);
    let script = "stty -icanon -echo; printf 'editor ready'; head -c 12 > \"$1\"; stty icanon echo";
    let mut terminal = Start::against(&server).env("EDITOR", &editor(dir.path(), script)).run();
    terminal.send("go\r");
    gate.wait_reached();
    terminal.send(CTRL_G);
    terminal.wait_for("editor ready");
    gate.open();
    // Ctrl+C is a key of the editor's here; it ends neither.
    for key in ["from", " the", " key"] {
        terminal.send(key);
    }
    terminal.send("s");
    let screen = terminal.wait_for("from the key");
    assert!(!screen.contains("editor ready"), "{screen}");
    terminal.wait_for("the answer");
}

#[test]
fn ctrl_c_in_the_editor_ends_the_editor_alone() {
    let dir = tempfile::tempdir().unwrap();
    // No shell is there any more when the key comes: between two of its commands one may lose the signal.
    let ready = dir.path().join("ready");
    std::fs::write(&ready, "editor ready").unwrap();
    let script = format!("exec tail -f {}", ready.display());
    let mut terminal = with_editor(&Server::start([]), dir.path(), &script);
    terminal.send(CTRL_G);
    terminal.wait_for("editor ready");
    terminal.send(keys::CTRL_C);
    let screen = terminal.wait_for("the editor ended");
    assert!(screen.contains("a first draft"), "{screen}");
}

#[test]
fn a_signal_while_the_editor_runs_ends_both() {
    let dir = tempfile::tempdir().unwrap();
    let left = dir.path().join("left");
    let script = format!(
        "trap 'echo ended > {}; exit' TERM; printf 'editor ready'; while :; do read -r x; done",
        left.display()
    );
    let mut terminal = with_editor(&Server::start([]), dir.path(), &script);
    terminal.send(CTRL_G);
    terminal.wait_for("editor ready");
    terminal.signal(Signal::TERM);
    assert_eq!(terminal.wait_exit(PATIENCE).exit_code(), 143);
    assert!(!terminal.look(vt100::Screen::alternate_screen));
    assert_eq!(fs::read_to_string(left).unwrap(), "ended\n");
}

/// An editor that ignores every request to end, with a child that does too and one that outlives it; it never stops to write.
const STUBBORN: &str = "trap '' HUP TERM INT; sleep 601 & (sleep 602; :) & printf 'editor ready'
    while :; do sleep 0.1; printf .; done";

/// One that ends when it is told to, and leaves a child behind that does not.
const LEAVING: &str = "sh -c 'trap \"\" HUP TERM INT; sleep 603; :' & trap 'exit 0' TERM HUP; printf 'editor ready'
    while :; do sleep 0.1; printf .; done";

fn in_editor(script: &str) -> (tempfile::TempDir, Terminal, String) {
    let (dir, mark) = (tempfile::tempdir().unwrap(), unique());
    let start = Start::against(&Server::start([])).env("TEST_MARK", &mark);
    let mut terminal = start.env("EDITOR", &editor(dir.path(), script)).run();
    terminal.send("a first draft");
    terminal.wait_for("a first draft");
    terminal.send(CTRL_G);
    terminal.wait_for("editor ready");
    (dir, terminal, mark)
}

#[test]
fn no_editor_and_nothing_of_it_outlives_the_program() {
    for script in [STUBBORN, LEAVING] {
        let (_dir, mut terminal, mark) = in_editor(script);
        terminal.signal(Signal::TERM);
        assert_eq!(terminal.wait_exit(PATIENCE).exit_code(), 143);
        wait_dead(&mark, PATIENCE);
    }
}

#[test]
fn no_editor_and_nothing_of_it_outlives_the_terminal() {
    for script in [STUBBORN, LEAVING] {
        let (_dir, mut terminal, mark) = in_editor(script);
        terminal.hang_up();
        terminal.wait_exit(PATIENCE);
        wait_dead(&mark, PATIENCE);
    }
}

#[test]
fn where_no_shell_would_bring_it_back_ctrl_z_says_so_and_goes_on() {
    let mut terminal = Start::against(&Server::start([])).run();
    terminal.send("kept");
    terminal.wait_for("kept");
    terminal.send(&format!("{CTRL_Z} and more"));
    terminal.wait_for("not suspended");
    terminal.wait_for("kept and more");
}

#[test]
fn in_a_container_whose_session_began_outside_ctrl_z_says_so_and_goes_on() {
    let Some(mut terminal) = Start::against(&Server::start([])).run_in_pid_namespace() else { return };
    terminal.send("kept");
    terminal.wait_for("kept");
    terminal.send(&format!("{CTRL_Z} and more"));
    terminal.wait_for("not suspended");
    terminal.wait_for("kept and more");
}

#[test]
fn the_mouse_and_the_focus_are_asked_for_and_given_back() {
    let mut terminal = Start::against(&Server::start([])).run();
    terminal.send("hello");
    terminal.wait_for("hello");
    let on = String::from_utf8_lossy(&terminal.raw()).into_owned();
    assert!(on.contains("\x1b[?1002h\x1b[?1006h") && on.contains("\x1b[?1004h"));
    assert!(!on.contains("\x1b[?1003h"), "mere moves of the mouse wake nobody");
    // Reports are no text.
    terminal.send("\x1b[O\x1b[<65;5;5M\x1b[<64;5;5M\x1b[I world");
    terminal.wait_for("hello world");
    terminal.signal(Signal::TERM);
    terminal.wait_exit(PATIENCE);
    let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
    let end = raw.rfind("\x1b[?1049l").unwrap();
    for off in ["\x1b[?1002l", "\x1b[?1006l", "\x1b[?1004l"] {
        assert!(raw.rfind(off).is_some_and(|at| at > on.len() && at < end), "{off:?}");
    }
}

#[test]
fn the_shell_gets_the_terminal_on_ctrl_z_and_fg_brings_everything_back() {
    let server = Server::start([Reply::text("an answer")]);
    let mut terminal = Start::against(&server).run_in_shell();
    terminal.send("go\r");
    terminal.wait_for("an answer");
    terminal.send("a draft");
    terminal.wait_for("a draft");
    let before = terminal.written();
    terminal.send(CTRL_Z);
    // The prompt is the shell's; its screen is the one from before.
    terminal.wait_written(before, b"\x1b[?1049l");
    terminal.wait_until("the shell", |screen| screen.contains('$') && !screen.contains("a draft"));
    assert!(!terminal.look(vt100::Screen::alternate_screen));
    terminal.send("stty -a; echo in-$((1+1))-shell\r");
    let screen = terminal.wait_for("in-2-shell");
    assert!(screen.contains(" icanon") && screen.contains(" echo "), "the modes are the shell's:\n{screen}");
    terminal.resize(100, 30);
    let before = terminal.written();
    terminal.send("fg\r");
    terminal.wait_written(before, b"\x1b[?1049h");
    terminal.wait_for("a draft");
    terminal.send(" goes on");
    let screen = terminal.wait_for("a draft goes on");
    assert!(screen.contains("an answer") && !screen.contains("in-2-shell"), "{screen}");
    terminal.wait_until("the new size", |screen| screen.lines().count() <= 30);
}

#[test]
fn the_title_says_what_the_agent_does_and_is_put_back() {
    let gate = Gate::new();
    let server = Server::start([Reply::text("done").gated(&gate)]);
    let mut terminal = Start::against(&server).run();
    terminal.wait_written(0, "\x1b[22;0t\x1b]2;○ ready · work · steersman\x1b\\".as_bytes());
    terminal.send("go\r");
    terminal.wait_written(0, "\x1b]2;● works · work · steersman\x1b\\".as_bytes());
    let before = terminal.written();
    gate.open();
    terminal.wait_written(before, "\x1b]2;○ ready".as_bytes());
    terminal.signal(Signal::TERM);
    terminal.wait_exit(PATIENCE);
    let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
    let (_, left) = raw.rsplit_once("\x1b[?1049l\x1b[23;0t").unwrap();
    assert!(left.contains("To resume: ") && !left.contains('\x1b'), "{left:?}");
}

#[test]
fn the_title_the_mouse_and_notices_can_be_switched_off() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("config.toml");
    fs::write(&config, "[screen]\ntitle = false\nmouse = false\nnotify = 'off'\n").unwrap();
    let server = Server::start([Reply::text("done")]);
    let mut terminal = Start::against(&server).arg("--config").arg(config.to_str().unwrap()).run();
    terminal.send("\x1b[Ogo\r");
    terminal.wait_for("done");
    terminal.send("/mouse on\r");
    terminal.wait_written(0, b"\x1b[?1002h\x1b[?1006h");
    let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
    assert!(!raw.contains("\x1b]2;") && !raw.contains("\x1b[22;0t") && !raw.contains('\x07'));
    let before = terminal.written();
    terminal.send("/mouse off\r");
    terminal.wait_written(before, b"\x1b[?1002l");
    terminal.signal(Signal::TERM);
    terminal.wait_exit(PATIENCE);
    assert!(!String::from_utf8_lossy(&terminal.raw()).contains("\x1b[23;0t"));
}

#[test]
fn who_is_away_is_told_of_the_end_but_not_when_a_pending_message_starts_the_next_turn() {
    let (first, second) = (Gate::new(), Gate::new());
    let server = Server::start([Reply::text("one").gated(&first), Reply::text("two").gated(&second)]);
    let mut terminal = Start::against(&server).env("TERM_PROGRAM", "WezTerm").run();
    terminal.send("go\r");
    first.wait_reached();
    terminal.send("and then\t\x1b[O");
    terminal.wait_for("and then");
    first.open();
    second.wait_reached();
    terminal.wait_for("one");
    second.open();
    terminal.wait_written(0, b"\x1b]9;Steersman: the answer is ready\x1b\\");
    let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
    assert_eq!(raw.matches("\x1b]9;").count(), 1, "the first turn's end was no news");
}

#[test]
fn a_file_of_keys_that_is_wrong_keeps_the_program_from_starting() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("keys.toml");
    fs::write(&file, "[message]\nsend = 'ctrl+x'\nyank = 'ctrl+x'\n").unwrap();
    let mut terminal = Start::against(&Server::start([])).arg("--keys").arg(file.to_str().unwrap()).spawn();
    terminal.wait_written(0, b"(line 3)");
    assert_eq!(terminal.wait_exit(PATIENCE).exit_code(), 2);
    let said = String::from_utf8_lossy(&terminal.raw()).into_owned();
    for part in ["keys.toml, line 3", "\"send\" (line 2)", "\"yank\" (line 3)"] {
        assert!(said.contains(part), "{said}");
    }
    fs::write(&file, "[message]\nsend = 'ctrl+x'\n").unwrap();
    let server = Server::start([Reply::text("heard")]);
    let mut terminal = Start::against(&server).arg("--keys").arg(file.to_str().unwrap()).run();
    terminal.send("go\x18");
    terminal.wait_for("heard");
}

#[test]
fn a_copy_goes_to_the_terminals_clipboard() {
    let server = Server::start([Reply::text("the very words")]);
    let mut terminal = Start::against(&server).run();
    terminal.send("go\r");
    terminal.wait_for("the very words");
    terminal.send("\x0f");
    terminal.send("y");
    terminal.wait_for("copied");
    // "the very words", in base64.
    terminal.wait_written(0, b"\x1b]52;c;dGhlIHZlcnkgd29yZHM");
}

/// What the program asks a terminal for its background with.
const ASK_BACKGROUND: &[u8] = b"\x1b]11;?\x1b\\";

#[test]
fn a_terminal_that_says_that_it_is_light_gets_the_light_theme_and_no_byte_of_its_answer_is_typed() {
    let server = Server::start([]);
    let mut terminal = Start::against(&server).env("COLORTERM", "truecolor").run();
    terminal.wait_written(0, ASK_BACKGROUND);
    // The first frame does not wait for the answer.
    terminal.wait_for("F1");
    let raw = terminal.raw();
    let asked = raw.windows(ASK_BACKGROUND.len()).position(|window| window == ASK_BACKGROUND).unwrap();
    assert!(String::from_utf8_lossy(&raw[..asked]).contains("F1"), "the frame is there before the question");
    let before = terminal.written();
    for piece in ["\x1b", "]11;rgb:ff", "ff/fdfd/ffff\x1b", "\\"] {
        terminal.send(piece);
    }
    // The colour of quiet words in the theme `light`: #596070.
    terminal.wait_written(before, b"38;2;89;96;112");
    // One that nobody asked for changes nothing.
    terminal.send("\x1b]11;rgb:0000/0000/0000\x07typed");
    let screen = terminal.wait_for("› typed");
    assert!(!screen.contains("rgb") && !screen.contains("]11"), "{screen}");
    let before = terminal.written();
    terminal.send("\x0c");
    terminal.wait_written(before, b"38;2;89;96;112");
}

#[test]
fn a_terminal_whose_background_is_known_or_does_not_matter_is_not_asked() {
    for (name, value) in [("COLORFGBG", "15;0"), ("NO_COLOR", "1"), ("TERM", "linux")] {
        let server = Server::start([]);
        let mut terminal = Start::against(&server).env(name, value).run();
        terminal.send("typed");
        terminal.wait_for("› typed");
        let raw = terminal.raw();
        assert!(!raw.windows(ASK_BACKGROUND.len()).any(|window| window == ASK_BACKGROUND), "{name}");
    }
}

#[test]
fn the_linux_console_gets_no_sequence_that_it_would_print_and_is_left_empty() {
    let server = Server::start([Reply::text("the answer")]);
    let mut terminal = Start::against(&server).env("TERM", "linux").run();
    terminal.send("go\r");
    terminal.wait_for("the answer");
    terminal.send("\x1b[24~");
    terminal.wait_exit(PATIENCE);
    let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
    for printed in ["\x1b[>", "\x1b[<", "\x1b[=", "\x1b]"] {
        assert!(!raw.contains(printed), "{printed:?}");
    }
    // It has no second screen that would be taken away.
    let (_, behind) = raw.rsplit_once("\x1b[?25h\x1b[H\x1b[2J\x1b[?1049l").expect("the screen is emptied");
    assert!(!behind.contains('\x1b'), "{behind:?}");
}

#[test]
fn a_stop_signal_from_outside_gives_the_terminal_back_before_the_stop() {
    let server = Server::start([Reply::text("an answer")]);
    let mut terminal = Start::against(&server).run_in_shell();
    terminal.send("a draft");
    terminal.wait_for("a draft");
    let children = format!("/proc/{0}/task/{0}/children", terminal.pid());
    let child: i32 = std::fs::read_to_string(children).unwrap().trim().parse().unwrap();
    let before = terminal.written();
    rustix::process::kill_process(rustix::process::Pid::from_raw(child).unwrap(), Signal::TSTP).unwrap();
    terminal.wait_written(before, b"\x1b[?1049l");
    terminal.wait_until("the shell", |screen| screen.contains("Stopped") && !screen.contains("a draft"));
    terminal.send("stty -a; echo in-$((1+1))-shell\r");
    let screen = terminal.wait_for("in-2-shell");
    assert!(screen.contains(" icanon") && screen.contains(" echo "), "the modes are the shell's:\n{screen}");
    terminal.send("fg\r");
    terminal.wait_for("a draft");
    terminal.send(" goes on");
    terminal.wait_for("a draft goes on");
}

/// Returns the children of a process, in the order of their start.
fn children(of: i32) -> Vec<rustix::process::Pid> {
    let list = fs::read_to_string(format!("/proc/{of}/task/{of}/children")).unwrap_or_default();
    list.split_whitespace().filter_map(|pid| rustix::process::Pid::from_raw(pid.parse().unwrap())).collect()
}

/// Returns the guards of a program's commands that lead a session already.
fn guards_of(program: i32) -> Vec<rustix::process::Pid> {
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let leads = |pid: &i32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let is_guard = String::from_utf8_lossy(&line).contains("__guard");
        let fields = stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace().skip(1).take(3).collect::<Vec<_>>());
        is_guard && fields.is_some_and(|fields| fields == [program.to_string(), pid.to_string(), pid.to_string()])
    };
    pids.filter(leads).filter_map(rustix::process::Pid::from_raw).collect()
}

// What starts a command leaves the group of the program, and the stop may catch it in that very moment: then the shell, which
// lets the group go on, does not reach it.
#[test]
fn a_command_that_took_the_stop_along_out_of_the_group_goes_on_with_the_program() {
    let work = tempfile::tempdir().unwrap();
    let command = r#"{"command":"until [ -e go ]; do sleep 0.05; done; echo it-went-on"}"#;
    let server = Server::start([Reply::calls(&[("c1", "bash", command)]), Reply::text("All done.")]);
    let mut terminal = Start::against(&server).cwd(work.path()).arg("--mode").arg("auto").run_in_shell();
    let program = children(i32::try_from(terminal.pid()).unwrap())[0];
    terminal.send("start\r");
    // One that is there only for a moment, as the program looks at the sandbox, is not that of the command.
    let seen = Cell::new(None);
    terminal.wait_until("the command", |_| {
        let now = guards_of(program.as_raw_nonzero().get()).first().copied();
        now.is_some() && seen.replace(now) == now
    });
    let guard = seen.get().unwrap();
    rustix::process::kill_process(guard, Signal::STOP).unwrap();
    rustix::process::kill_process(program, Signal::TSTP).unwrap();
    terminal.wait_for("Stopped");
    terminal.send("fg\r");
    fs::write(work.path().join("go"), "").unwrap();
    terminal.wait_for("All done.");
}

#[test]
fn a_stop_signal_while_commands_start_all_the_time_stops_the_program() {
    let calls: Vec<(String, &str, &str)> = (0..8).map(|n| (format!("c{n}"), "bash", r#"{"command":"true"}"#)).collect();
    let calls: Vec<(&str, &str, &str)> = calls.iter().map(|(id, name, call)| (id.as_str(), *name, *call)).collect();
    let round = Reply::calls(&calls);
    let server = Server::routed(move |_| round.clone());
    let mut terminal =
        Start::against(&server).arg("--mode").arg("auto").arg("--max-steps").arg("100000").run_in_shell();
    let child = children(i32::try_from(terminal.pid()).unwrap())[0];
    terminal.send("start\r");
    for cycle in 1..=8 {
        // Each round of calls starts eight commands, so that there is nearly always one that is just being started.
        let rounds = server.chats().len();
        terminal.wait_until("another round", |_| server.chats().len() > rounds);
        let before = terminal.written();
        rustix::process::kill_process(child, Signal::TSTP).unwrap();
        terminal.wait_written(before, b"\x1b[?1049l");
        terminal.send(&format!("echo in-shell-{cycle}-$((1+1))\r"));
        terminal.wait_for(&format!("in-shell-{cycle}-2"));
        let before = terminal.written();
        terminal.send("fg\r");
        terminal.wait_written(before, b"\x1b[?1049h");
    }
}

#[test]
fn a_stop_signal_that_nobody_would_end_does_not_stop_the_program() {
    let server = Server::start([]);
    let mut terminal = Start::against(&server).run();
    terminal.signal(Signal::TSTP);
    terminal.wait_for("not suspended");
    terminal.send("typed");
    terminal.wait_for("› typed");
}
