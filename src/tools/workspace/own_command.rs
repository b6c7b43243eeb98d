//! A program of the user that is run for what it prints: one that prints a key, one that decides about permissions.
//!
//! It is no job: no model chooses it, and no sandbox confines it, so nothing of it lies where agents can write
//! ([`OutsideCommand`]). Bounded in time and output; what it leaves behind in its process group ends with it, and so does all
//! of it when the caller is dropped.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use std::{fmt, io};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{ChildStdin, Command};

use crate::workspace::{OutsideCommand, OutsideError};
use steersman_base::limits;
use steersman_base::sync::with_spawn_lock;
use steersman_base::text::visible_line;

/// A command line of the user, with the places where agents can write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserCommand {
    words: Vec<String>,
    writable: Vec<PathBuf>,
}

impl UserCommand {
    /// Makes one of a program and its arguments.
    pub fn new(words: Vec<String>) -> Self {
        Self { words, writable: Vec::new() }
    }

    /// Lets words that begin with `~/` begin at a home directory.
    pub fn at_home(&mut self, home: Option<&Path>) {
        let Some(home) = home else { return };
        for word in &mut self.words {
            if let Some(rest) = word.strip_prefix("~/") {
                *word = home.join(rest).to_string_lossy().into_owned();
            }
        }
    }

    /// Sets the places where agents can write, and looks whether anything of the command lies there. A program that is nowhere
    /// is reported when it is to be run.
    ///
    /// # Errors
    /// The word that leads there.
    pub fn keep_from(&mut self, writable: &[PathBuf]) -> Result<(), String> {
        writable.clone_into(&mut self.writable);
        match self.outside() {
            Err(OutsideError::Refused(word)) => Err(word),
            Ok(_) | Err(OutsideError::NotInstalled(_)) => Ok(()),
        }
    }

    /// Returns the program and its arguments.
    pub fn arguments(&self) -> &[String] {
        &self.words
    }

    fn outside(&self) -> Result<OutsideCommand, OutsideError> {
        let words: Vec<OsString> = self.words.iter().map(OsString::from).collect();
        OutsideCommand::of_user(&words, &self.writable)
    }
}

/// A program with its arguments and what it gets on standard input.
#[derive(Debug, Clone, Copy)]
pub struct OwnCommand<'a> {
    /// The program and its arguments.
    pub command: &'a UserCommand,
    /// Its standard input; without any it has none.
    pub input: &'a str,
    /// How much of its output is read, bytes.
    pub most: u64,
    /// How long it may take.
    pub time: Duration,
}

/// Why a program of the user gave nothing. Reads behind its name.
#[derive(Debug)]
pub enum OwnCommandError {
    /// It did not start.
    NotStarted(io::Error),
    /// It took longer than this.
    TooLong(Duration),
    /// How it ended is not known.
    Lost(io::Error),
    /// It ended like this, and said that.
    Failed(ExitStatus, String),
    /// What it printed cannot be read.
    Unreadable(io::Error),
}

impl fmt::Display for OwnCommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStarted(error) => write!(f, "does not start: {error}"),
            Self::TooLong(time) => write!(f, "took longer than {} s", time.as_secs_f32()),
            Self::Lost(error) => write!(f, "is lost: {error}"),
            Self::Failed(status, said) if said.is_empty() => write!(f, "failed ({status})"),
            Self::Failed(status, said) => write!(f, "failed ({status}): {said}"),
            Self::Unreadable(error) => write!(f, "cannot be read: {error}"),
        }
    }
}

impl OwnCommand<'_> {
    /// Runs it to its end and returns what it printed.
    ///
    /// # Errors
    /// [`OwnCommandError`].
    ///
    /// # Panics
    /// Outside of a runtime.
    pub async fn run(self) -> Result<String, OwnCommandError> {
        let outside = self.command.outside().map_err(|error| OwnCommandError::NotStarted(error.into()))?;
        let mut command = Command::from(outside.command());
        command
            .stdin(if self.input.is_empty() { Stdio::null() } else { Stdio::piped() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Processes that it starts are stopped with it.
            .process_group(0)
            .kill_on_drop(true);
        let child = with_spawn_lock(|| command.spawn());
        let mut child = child.map_err(OwnCommandError::NotStarted)?;
        let group = ProcessGroup(child.id());
        let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let ending = async move {
            let status = child.wait().await;
            // Remaining processes would keep the pipes open.
            drop(group);
            status
        };
        let running = async {
            tokio::join!(
                give(input, self.input),
                read_bounded(output, self.most),
                read_bounded(errors, self.most),
                ending
            )
        };
        let ended = tokio::time::timeout(self.time, running).await;
        let ((), output, errors, status) = ended.map_err(|_| OwnCommandError::TooLong(self.time))?;
        let status = status.map_err(OwnCommandError::Lost)?;
        if !status.success() {
            let said = errors.unwrap_or_default();
            let said = visible_line(said.trim()).chars().take(limits::ERROR_CHARS).collect();
            return Err(OwnCommandError::Failed(status, said));
        }
        output.map_err(OwnCommandError::Unreadable)
    }
}

/// A process group that is killed when this value is dropped.
struct ProcessGroup(Option<u32>);

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        let leader = self.0.and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
        if let Some(leader) = leader {
            let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
        }
    }
}

/// Gives a text to a program, which need not read it.
async fn give(input: Option<ChildStdin>, text: &str) {
    if let Some(mut input) = input {
        let _ = input.write_all(text.as_bytes()).await;
    }
}

async fn read_bounded(from: Option<impl AsyncRead + Unpin>, most: u64) -> io::Result<String> {
    let mut text = Vec::new();
    if let Some(from) = from {
        from.take(most).read_to_end(&mut text).await?;
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}
