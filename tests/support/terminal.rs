//! Drives the built program on a pseudo-terminal and looks at its screen through a terminal emulator.
//!
//! A reader thread feeds the emulator and wakes whoever waits; a wait ends with the screen that was expected or fails
//! the test with the screen that was there. Nothing here sleeps.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};

/// Longest time that a wait waits before it fails the test.
const PATIENCE: Duration = Duration::from_secs(30);

/// What the program writes when it takes the screen.
pub const ALTERNATE_SCREEN: &[u8] = b"\x1b[?1049h";

/// The escape key, and what programs get for other named keys.
pub mod keys {
    pub const ENTER: &str = "\r";
    pub const ESC: &str = "\x1b";
    pub const TAB: &str = "\t";
    pub const CTRL_C: &str = "\x03";
    pub const CTRL_D: &str = "\x04";
    pub const CTRL_J: &str = "\x0a";
    pub const CTRL_O: &str = "\x0f";
    pub const ALT_UP: &str = "\x1b[1;3A";
    pub const UP: &str = "\x1b[A";
    pub const DOWN: &str = "\x1b[B";
    pub const LEFT: &str = "\x1b[D";
    pub const PAGE_UP: &str = "\x1b[5~";
    pub const HOME: &str = "\x1b[H";
    pub const ALT_H: &str = "\x1bh";
    pub const CTRL_UNDERSCORE: &str = "\x1f";
    pub const F1: &str = "\x1bOP";
    pub const F2: &str = "\x1bOQ";
    pub const F3: &str = "\x1bOR";
    pub const F4: &str = "\x1bOS";
    pub const F5: &str = "\x1b[15~";
    pub const F9: &str = "\x1b[20~";
    pub const F10: &str = "\x1b[21~";
    pub const F11: &str = "\x1b[23~";
}

/// A program on a pseudo-terminal, with a HOME of its own.
pub struct Terminal {
    master: Option<Box<dyn MasterPty + Send>>,
    writer: Option<Box<dyn Write + Send>>,
    reader: Option<std::thread::JoinHandle<()>>,
    child: Box<dyn Child + Send + Sync>,
    seen: Arc<(Mutex<Seen>, Condvar)>,
    home: tempfile::TempDir,
}

struct Seen {
    parser: vt100::Parser,
    raw: Vec<u8>,
    ended: bool,
    leaving: bool,
    /// Nothing is read from the program meanwhile.
    stopped: bool,
}

/// Says how to start the program.
pub struct Start {
    args: Vec<String>,
    env: HashMap<String, String>,
    cwd: Option<PathBuf>,
    home: Option<tempfile::TempDir>,
    size: (u16, u16),
    under: Under,
}

/// What makes `unshare` start a program as the first process of a process-id namespace.
const PID_NAMESPACE: [&str; 6] = ["--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child"];

/// Says who starts the program.
enum Under {
    Nobody,
    Shell,
    /// A program, with arguments before the program's own command line.
    Program(Vec<String>),
}

impl Under {
    fn program(name: &str, args: &[&str]) -> Self {
        Self::Program(std::iter::once(name).chain(args.iter().copied()).map(str::to_owned).collect())
    }
}

impl Start {
    /// Starts the built program with these arguments, in 120x36.
    pub fn new<S: Into<String>>(args: impl IntoIterator<Item = S>) -> Self {
        Self {
            args: args.into_iter().map(Into::into).collect(),
            env: HashMap::new(),
            cwd: None,
            home: None,
            size: (120, 36),
            under: Under::Nobody,
        }
    }

    /// Starts it against a model server.
    pub fn against(server: &super::server::Server) -> Self {
        Self::new(["--base-url", &server.url(), "--model", "scripted"])
    }

    /// Lets no text end the wait for sub-agents: it waits in the list until they are done.
    pub fn waits_for_agents(self) -> Self {
        self.arg("--set").arg("steering.agents_give_way=never")
    }

    pub fn arg(mut self, arg: &str) -> Self {
        self.args.push(arg.to_owned());
        self
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.insert(name.to_owned(), value.to_owned());
        self
    }

    pub fn cwd(mut self, dir: &Path) -> Self {
        self.cwd = Some(dir.to_path_buf());
        self
    }

    /// Gives it a home that is there already.
    pub fn home(mut self, home: tempfile::TempDir) -> Self {
        self.home = Some(home);
        self
    }

    /// Columns and rows.
    pub fn size(mut self, columns: u16, rows: u16) -> Self {
        self.size = (columns, rows);
        self
    }

    /// Starts it and waits until it has taken the screen: keys that come before are read as lines by the kernel.
    pub fn run(self) -> Terminal {
        let terminal = self.spawn();
        terminal.wait_written(0, ALTERNATE_SCREEN);
        terminal
    }

    /// Starts it as the first process of a process-id namespace; none where this machine has no such namespaces.
    pub fn run_in_pid_namespace(mut self) -> Option<Terminal> {
        let there = std::process::Command::new("unshare").args(PID_NAMESPACE).arg("true").output();
        if !there.is_ok_and(|output| output.status.success()) {
            super::skip::skip(super::skip::Need::of_program("unshare"), "a process-id namespace");
            return None;
        }
        // A process-id namespace, in which the process has no parent, and the number of its session is 0.
        self.under = Under::program("unshare", &PID_NAMESPACE);
        Some(self.run())
    }

    /// Starts it under a program that has the terminal itself and shows it; none where there is no such program. Does not wait.
    pub fn spawn_under(mut self, program: &'static str, args: &[&str]) -> Option<Terminal> {
        let need = super::skip::Need::of_program(program);
        if need == super::skip::Need::Program(program) {
            super::skip::skip(need, "the program under another one");
            return None;
        }
        self.under = Under::program(program, args);
        Some(self.spawn())
    }

    /// Starts it as a job of an interactive shell on the terminal, and waits until it has taken the screen.
    pub fn run_in_shell(mut self) -> Terminal {
        self.under = Under::Shell;
        let quoted: Vec<String> = self.args.iter().map(|arg| format!("'{arg}'")).collect();
        let line = format!("{} {}\r", crate::built_program().display(), quoted.join(" "));
        let mut terminal = self.spawn();
        terminal.wait_for("$ ");
        terminal.send(&line);
        terminal.wait_written(0, ALTERNATE_SCREEN);
        terminal
    }

    /// Starts it and does not wait.
    pub fn spawn(mut self) -> Terminal {
        let home = self.home.take().unwrap_or_else(|| tempfile::tempdir().unwrap());
        let work = home.path().join("work");
        std::fs::create_dir_all(&work).unwrap();
        let (columns, rows) = self.size;
        let pair = native_pty_system().openpty(size(columns, rows)).unwrap();
        let own = std::iter::once(crate::built_program().to_str().unwrap().to_owned()).chain(self.args.iter().cloned());
        let line: Vec<String> = match &self.under {
            Under::Nobody => own.collect(),
            Under::Shell => ["/bin/bash", "--norc", "--noprofile", "-i"].map(str::to_owned).to_vec(),
            Under::Program(before) => before.iter().cloned().chain(own).collect(),
        };
        let mut command = CommandBuilder::new(&line[0]);
        command.args(&line[1..]);
        command.env_clear();
        command.env("PS1", "$ ");
        for (name, value) in [("TERM", "xterm-256color"), ("LANG", "C.UTF-8"), ("PATH", "/usr/bin:/bin")] {
            command.env(name, value);
        }
        command.env("HOME", home.path());
        // What runs on the machine of the tests is none of their business.
        command.env("STEERSMAN_LOCAL_PORTS", "none");
        for (name, value) in &self.env {
            command.env(name, value);
        }
        command.cwd(self.cwd.as_deref().unwrap_or(&work));
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().unwrap();
        let writer = pair.master.take_writer().unwrap();
        let parser = vt100::Parser::new(nonzero(rows), nonzero(columns), 0);
        let seen = Arc::new((
            Mutex::new(Seen { parser, raw: Vec::new(), ended: false, leaving: false, stopped: false }),
            Condvar::new(),
        ));
        let in_thread = Arc::clone(&seen);
        let reader = std::thread::spawn(move || {
            let mut buffer = vec![0; 65536];
            // What the screen does not show yet: the beginning of a frame.
            let mut waiting = Vec::new();
            loop {
                let count = reader.read(&mut buffer).unwrap_or(0);
                let (lock, wake) = &*in_thread;
                let mut seen = wake.wait_while(lock.lock().unwrap(), |seen| seen.stopped).unwrap();
                waiting.extend_from_slice(&buffer[..count]);
                let whole = if count == 0 { waiting.len() } else { whole_frames(&waiting) };
                seen.parser.process(&waiting[..whole]);
                waiting.drain(..whole);
                seen.raw.extend_from_slice(&buffer[..count]);
                seen.ended = count == 0;
                wake.notify_all();
                if count == 0 || seen.leaving {
                    return;
                }
            }
        });
        Terminal { master: Some(pair.master), writer: Some(writer), reader: Some(reader), child, seen, home }
    }
}

/// Returns how many bytes end before a frame that has begun and not ended: a terminal shows it as a whole, however it is read.
fn whole_frames(bytes: &[u8]) -> usize {
    const BEGIN: &[u8] = b"\x1b[?2026h";
    const END: &[u8] = b"\x1b[?2026l";
    let is_open = |at: &usize| memchr::memmem::find(&bytes[*at..], END).is_none();
    if let Some(at) = memchr::memmem::rfind(bytes, BEGIN).filter(is_open) {
        return at;
    }
    let is_begun = |length: &usize| bytes.ends_with(&BEGIN[..*length]);
    bytes.len() - (1..BEGIN.len()).rev().find(is_begun).unwrap_or(0)
}

impl Terminal {
    /// Types these bytes in one write.
    pub fn send(&mut self, text: &str) {
        self.send_bytes(text.as_bytes());
    }

    /// Types these bytes in one write, a part of a character too.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let writer = self.writer.as_mut().expect("the terminal is gone");
        writer.write_all(bytes).unwrap();
        writer.flush().unwrap();
    }

    /// Waits until the screen shows this text.
    #[track_caller]
    pub fn wait_for(&self, text: &str) -> String {
        self.wait_until(&format!("the screen to show {text:?}"), |screen| screen.contains(text))
    }

    /// Waits until the screen no longer shows this text.
    #[track_caller]
    pub fn wait_gone(&self, text: &str) -> String {
        self.wait_until(&format!("{text:?} to leave the screen"), |screen| !screen.contains(text))
    }

    /// Types these bytes and waits until this text stands directly before the cursor: it is in the line then, whatever
    /// else on the screen reads the same.
    #[track_caller]
    pub fn type_text(&mut self, text: &str) {
        self.send(text);
        self.wait_typed(text);
    }

    /// Waits until this text, at most a row, stands directly before the cursor.
    #[track_caller]
    pub fn wait_typed(&self, text: &str) -> String {
        self.wait_screen(&format!("{text:?} before the cursor"), |screen| {
            let (row, column) = screen.cursor_position();
            screen.contents_between(row, 0, row, column).ends_with(text)
        })
    }

    /// Waits until the screen's text satisfies a condition; returns it.
    #[track_caller]
    pub fn wait_until(&self, what: &str, condition: impl Fn(&str) -> bool) -> String {
        self.wait_screen(what, |screen| condition(&screen.contents()))
    }

    /// Waits until the screen, its cursor and its modes satisfy a condition; returns its text.
    #[track_caller]
    pub fn wait_screen(&self, what: &str, condition: impl Fn(&vt100::Screen) -> bool) -> String {
        let deadline = Instant::now() + PATIENCE;
        let (lock, wake) = &*self.seen;
        let mut seen = lock.lock().unwrap();
        loop {
            let screen = seen.parser.screen();
            if condition(screen) {
                return screen.contents();
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let is_waiting = !left.is_zero() && !seen.ended;
            assert!(
                is_waiting,
                "waited in vain for {what}; the screen was:\n{}\nthe program:{}",
                seen.parser.screen().contents(),
                self.threads()
            );
            seen = wake.wait_timeout(seen, left).unwrap().0;
        }
    }

    /// Says of each thread of the program in which call it waits: whether a program hangs, or a key has not arrived.
    fn threads(&self) -> String {
        let tasks = self.child.process_id().map(|pid| format!("/proc/{pid}/task"));
        let tasks = tasks.and_then(|tasks| std::fs::read_dir(tasks).ok()).into_iter().flatten().flatten();
        let lines = tasks.map(|task| {
            let read = |name| std::fs::read_to_string(task.path().join(name)).unwrap_or_default();
            format!("\n  {}: {} {}", read("comm").trim(), read("wchan").trim(), read("syscall").trim())
        });
        lines.collect()
    }

    /// Returns the screen's text.
    pub fn screen(&self) -> String {
        self.seen.0.lock().unwrap().parser.screen().contents()
    }

    /// Looks at the emulator's screen: cells, cursor, modes.
    pub fn look<R>(&self, look: impl FnOnce(&vt100::Screen) -> R) -> R {
        look(self.seen.0.lock().unwrap().parser.screen())
    }

    /// Returns every byte that the program wrote.
    pub fn raw(&self) -> Vec<u8> {
        self.seen.0.lock().unwrap().raw.clone()
    }

    /// Returns how many bytes the program wrote so far.
    pub fn written(&self) -> usize {
        self.seen.0.lock().unwrap().raw.len()
    }

    /// Waits until what was written behind `from` holds `needle`; returns the moment it was seen. For measurements:
    /// it costs less than looking at the screen.
    #[track_caller]
    pub fn wait_written(&self, from: usize, needle: &[u8]) -> Instant {
        let deadline = Instant::now() + PATIENCE;
        let (lock, wake) = &*self.seen;
        let mut seen = lock.lock().unwrap();
        let mut looked = from;
        loop {
            let end = seen.raw.len();
            if seen.raw[looked..end].windows(needle.len()).any(|window| window == needle) {
                return Instant::now();
            }
            looked = end.saturating_sub(needle.len()).max(from);
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero() && !seen.ended, "waited in vain for {needle:?} to be written");
            seen = wake.wait_timeout(seen, left).unwrap().0;
        }
    }

    /// Changes the size; the program gets SIGWINCH.
    pub fn resize(&self, columns: u16, rows: u16) {
        self.seen.0.lock().unwrap().parser.screen_mut().set_size(nonzero(rows), nonzero(columns));
        self.master.as_ref().expect("the terminal is gone").resize(size(columns, rows)).unwrap();
    }

    /// Reads nothing from the program any more, as a terminal whose output was stopped: what it writes fills the kernel's
    /// buffer, and then it waits.
    pub fn stop_reading(&self) {
        self.seen.0.lock().unwrap().stopped = true;
    }

    /// Reads again.
    pub fn read_on(&self) {
        self.seen.0.lock().unwrap().stopped = false;
        self.seen.1.notify_all();
    }

    /// Returns the memory of the program, KiB; 0 where the system does not tell.
    pub fn memory_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
        line.trim().trim_end_matches(" kB").trim().parse().unwrap_or_default()
    }

    /// Takes the terminal away, as a closed window does.
    pub fn hang_up(&mut self) {
        self.seen.0.lock().unwrap().leaving = true;
        // The reader holds the terminal too, and waits for bytes: a change of size makes the program write some.
        self.resize(70, 20);
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
        }
        self.writer = None;
        self.master = None;
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.pid()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    pub fn pid(&self) -> u32 {
        self.child.process_id().expect("the program has a pid")
    }

    /// Waits for the program's end and for the last bytes that it wrote; fails the test when it lives on.
    #[track_caller]
    pub fn wait_exit(&mut self, patience: Duration) -> ExitStatus {
        let deadline = Instant::now() + patience;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                self.wait_read();
                return status;
            }
            assert!(Instant::now() < deadline, "the program lives on; the screen was:\n{}", self.screen());
            // The end of a process is no event on the terminal when the terminal is gone: ask again soon.
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }

    /// Waits until everything is read that was written to the terminal. That has an end only when nobody holds the terminal
    /// any more, so it does not wait for ever.
    fn wait_read(&self) {
        let (lock, wake) = &*self.seen;
        let is_open = |seen: &mut Seen| !seen.ended && !seen.leaving && !seen.stopped;
        drop(wake.wait_timeout_while(lock.lock().unwrap(), PATIENCE / 3, is_open).unwrap());
    }

    pub fn home(&self) -> &Path {
        self.home.path()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn size(cols: u16, rows: u16) -> PtySize {
    PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }
}

fn nonzero(value: u16) -> NonZeroU16 {
    NonZeroU16::new(value).unwrap()
}
