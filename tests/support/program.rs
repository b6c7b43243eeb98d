//! The built program, started with an empty environment and a home directory of its own.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::stream_schema::check_lines;

/// Longest time that a run which ends by itself may take, on a machine with much else to do.
const LONGEST_RUN: Duration = Duration::from_mins(10);

/// Longest time that a test waits for the program.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A start of the program that is being put together. Standard input is empty, the outputs are captured.
pub struct Program {
    command: Command,
    home: TempDir,
}

impl Program {
    /// Takes the built program; it works in an empty directory of its home directory.
    pub fn new() -> Self {
        Self::within(TempDir::new().unwrap())
    }

    /// Takes the built program; it works in the directory `work` of this home.
    pub fn within(home: TempDir) -> Self {
        std::fs::create_dir_all(home.path().join("work")).unwrap();
        let mut command = Command::new(crate::built_program());
        command.env_clear().env("HOME", home.path()).env("PATH", "/usr/bin:/bin");
        // What runs on the machine of the tests is none of their business.
        command.env("STEERSMAN_LOCAL_PORTS", "none");
        command
            .current_dir(home.path().join("work"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Self { command, home }
    }

    /// Gives it so much address space, KiB: what takes more ends it. Goes before everything else.
    pub fn within_memory(self, kib: u64) -> Self {
        self.behind(&format!("ulimit -v {kib}; exec \"$0\" \"$@\""))
    }

    /// Lets a shell start it, whose script ends with `exec "$0" "$@"`. Goes before everything else.
    pub fn behind(mut self, script: &str) -> Self {
        let mut limited = Command::new("/bin/sh");
        limited.args(["-c", script]).arg(self.command.get_program());
        limited.env_clear();
        for (name, value) in self.command.get_envs() {
            limited.env(name, value.unwrap_or_default());
        }
        limited.current_dir(self.work()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        self.command = limited;
        self
    }

    /// Lets it use the home of another program that runs.
    pub fn beside(running: &Running) -> Self {
        let mut program = Self::new();
        program.command.env("HOME", running.home());
        program
    }

    /// Adds arguments.
    pub fn args<'a>(mut self, args: impl IntoIterator<Item = &'a str>) -> Self {
        self.command.args(args);
        self
    }

    /// Adds an argument, which need not be UTF-8.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    /// Lets it work in another directory.
    pub fn cwd(mut self, directory: impl AsRef<Path>) -> Self {
        self.command.current_dir(directory);
        self
    }

    /// Sets a variable; neither name nor value need be UTF-8.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Makes it the first of a group of processes.
    pub fn leading_group(mut self) -> Self {
        std::os::unix::process::CommandExt::process_group(&mut self.command, 0);
        self
    }

    /// Connects standard input to the test.
    pub fn piped(mut self) -> Self {
        self.command.stdin(Stdio::piped());
        self
    }

    /// Sends standard output elsewhere.
    pub fn stdout(mut self, to: Stdio) -> Self {
        self.command.stdout(to);
        self
    }

    /// Sends standard error elsewhere.
    pub fn stderr(mut self, to: Stdio) -> Self {
        self.command.stderr(to);
        self
    }

    /// Returns its home.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Returns the directory in it that it works in.
    pub fn work(&self) -> PathBuf {
        self.home.path().join("work")
    }

    /// Writes a file below its home, with the directories that it needs.
    pub fn file(self, path: &str, text: &str) -> Self {
        let path = self.home().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    /// Writes the user's configuration file.
    pub fn config(self, text: &str) -> Self {
        self.file(".config/steersman/config.toml", text)
    }

    /// Runs it to its end, and returns its home with what it left there.
    pub fn output_with_home(self) -> (Output, TempDir) {
        let (output, home) = self.output_with_home_within(LONGEST_RUN);
        (checked(output), home)
    }

    /// Runs it to its end.
    pub fn output(self) -> Output {
        self.output_with_home().0
    }

    /// Runs it to its end, which must come within this time.
    pub fn output_within(self, time: Duration) -> Output {
        self.output_with_home_within(time).0
    }

    /// Runs it to its end, which must come within this time, and returns its home with what it left there.
    pub fn output_with_home_within(mut self, time: Duration) -> (Output, TempDir) {
        let child = self.command.spawn().unwrap();
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        let (end, ended) = channel();
        std::thread::spawn(move || end.send(child.wait_with_output()));
        let Ok(output) = ended.recv_timeout(time) else {
            let _ = kill_process(pid, Signal::KILL);
            panic!("it does not end");
        };
        (output.unwrap(), self.home)
    }

    /// Starts it, to be steered by the test.
    pub fn run(mut self) -> Running {
        let mut child = self.command.spawn().unwrap();
        let (line, lines) = channel();
        if let Some(output) = child.stdout.take() {
            std::thread::spawn(move || {
                let mut output = BufReader::new(output);
                let mut text = String::new();
                while output.read_line(&mut text).unwrap() > 0 {
                    let _ = line.send(std::mem::take(&mut text));
                }
            });
        }
        let (error, errors) = channel();
        let has_listener = child.stderr.is_some();
        if let Some(output) = child.stderr.take() {
            std::thread::spawn(move || {
                let mut output = BufReader::new(output);
                let mut text = String::new();
                while output.read_line(&mut text).unwrap() > 0 {
                    let _ = error.send(std::mem::take(&mut text));
                }
            });
        }
        let stdin = child.stdin.take();
        let (seen, said) = (String::new(), String::new());
        Running { child, stdin, lines, seen, errors, said, has_listener, home: self.home }
    }
}

/// The running program.
pub struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    seen: String,
    /// Gives standard error by lines until that is closed, which the end of the program does.
    errors: Receiver<String>,
    said: String,
    has_listener: bool,
    home: TempDir,
}

/// How a run ended.
pub struct End {
    /// The exit code; `None` after a signal that killed it.
    pub code: Option<i32>,
    /// All of standard output.
    pub stdout: String,
    /// All of standard error.
    pub stderr: String,
}

impl Running {
    /// Writes to its standard input.
    pub fn write(&mut self, text: &str) {
        let stdin = self.stdin.as_mut().expect("standard input is not connected");
        stdin.write_all(text.as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    /// Closes its standard input.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Gives its standard input away.
    pub fn take_stdin(&mut self) -> ChildStdin {
        self.stdin.take().expect("standard input is not connected")
    }

    /// Reads standard error up to a line that contains this.
    pub fn wait_for_error(&mut self, words: &str) {
        loop {
            let line = self.errors.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|_| panic!("waited in vain for {words:?}; said:\n{}", self.said));
            self.said.push_str(&line);
            if line.contains(words) {
                return;
            }
        }
    }

    /// Reads standard output up to a line that fits.
    pub fn wait_for_line(&mut self, mut fits: impl FnMut(&str) -> bool) {
        loop {
            let line = self.lines.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|_| panic!("waited in vain for a line; seen:\n{}", self.seen));
            self.seen.push_str(&line);
            if fits(line.trim_end_matches('\n')) {
                return;
            }
        }
    }

    /// Returns its home.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Returns the number of its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Waits until it handles a signal by itself, as far as the system tells. A handler is known to the system a moment before
    /// it knows what to do, so that is waited for too which is set last: that of SIGCONT.
    pub fn wait_handled(&self, signal: Signal) {
        let began = Instant::now();
        let bits = [signal, Signal::CONT].iter().fold(0_u64, |bits, signal| bits | 1 << (signal.as_raw() - 1));
        let is_handled = || {
            let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
            let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("f");
            u64::from_str_radix(caught.trim(), 16).unwrap() & bits == bits
        };
        while !is_handled() {
            assert!(began.elapsed() < PATIENCE, "it does not handle {signal:?}");
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }

    /// Waits for its end; its standard input stays open until then.
    pub fn end(self) -> End {
        self.end_with_home().0
    }

    /// Waits for its end, and returns its home with what it left there.
    pub fn end_with_home(mut self) -> (End, TempDir) {
        let began = Instant::now();
        let has_ended = loop {
            let left = PATIENCE.saturating_sub(began.elapsed());
            if left.is_zero() {
                break false;
            }
            if !self.has_listener {
                // Nothing tells of its end.
                std::thread::sleep(Duration::from_millis(5));
                if self.child.try_wait().unwrap().is_some() {
                    break true;
                }
                continue;
            }
            match self.errors.recv_timeout(left) {
                Ok(line) => self.said.push_str(&line),
                Err(RecvTimeoutError::Disconnected) => break true,
                Err(RecvTimeoutError::Timeout) => break false,
            }
        };
        if !has_ended {
            self.child.kill().unwrap();
            panic!("it does not end; seen:\n{}", self.lines.try_iter().fold(self.seen, |seen, line| seen + &line));
        }
        let code = self.child.wait().unwrap().code();
        let stdout = self.lines.iter().fold(self.seen, |seen, line| seen + &line);
        check_lines(&stdout);
        (End { code, stdout, stderr: self.said }, self.home)
    }
}

/// Checks the lines of JSON that it wrote against the schema that it prints.
fn checked(output: Output) -> Output {
    check_lines(&String::from_utf8_lossy(&output.stdout));
    output
}

/// Returns what it wrote to standard output.
pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Returns what it wrote to standard error.
pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Returns its exit code.
pub fn exit_code(output: &Output) -> i32 {
    output.status.code().expect("it was killed by a signal")
}
