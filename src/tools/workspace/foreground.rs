//! Programs of the user, started by a key: an editor on the terminal, a program for the clipboard.
//!
//! They are not jobs: no model chooses them, and no sandbox confines them, so nothing of them lies where agents can write
//! ([`OutsideCommand`]).

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{OnceLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use tokio::process::Child;

use crate::workspace::{OutsideCommand, processes};
use steersman_base::limits;
use steersman_base::sync::with_spawn_lock;

/// The interval at which a program that takes a text is checked.
const LOOK: Duration = Duration::from_millis(10);

/// Starts an editor on this terminal with a file, through a shell: its name may carry arguments. Killed when dropped.
/// `writable` are the places where agents can write.
///
/// # Errors
/// When there is no shell, or the editor lies where agents can write.
///
/// # Panics
/// Outside of a runtime.
pub fn edit(editor: &str, file: &Path, writable: &[PathBuf]) -> io::Result<Child> {
    // A single command replaces the shell, so that a signal reaches the editor.
    let exec = if is_one_command(editor) { "exec " } else { "" };
    let line = ["/bin/sh".into(), "-c".into(), format!("{exec}{editor} \"$@\"").into(), editor.into()];
    let mut command = tokio::process::Command::from(OutsideCommand::of_user(&line, writable)?.command());
    command.arg(file).env(limits::JOB_MARK, mark()).kill_on_drop(true);
    with_spawn_lock(|| command.spawn())
}

/// Sends a signal to the editor with this process number and to all that it has started in this session. An editor
/// with a window of its own has a session of its own, and may stay.
pub fn signal_editor(editor: Option<u32>, signal: Signal) {
    let number = editor.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    match processes::marked_here(number, mark()) {
        Ok(found) => {
            processes::signal(&found, signal);
            // A stopped process gets the signal only when it continues.
            processes::signal(&found, Signal::CONT);
        }
        Err(_) => {
            let _ = number.map(|number| rustix::process::kill_process(number, signal));
        }
    }
}

/// Returns the mark by which the editors of this process are found.
fn mark() -> &'static str {
    static MARK: OnceLock<String> = OnceLock::new();
    MARK.get_or_init(|| {
        let random = getrandom::u64().unwrap_or_default();
        format!("editor-{}-{random:016x}", std::process::id())
    })
}

/// Returns whether a command line is one command that a shell can run in its own place.
fn is_one_command(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default();
    !first.contains('=') && !line.contains(|c: char| "|&;<>()$`!\n".contains(c))
}

/// Gives a text to a program's standard input and waits for its end, not longer than `patience`.
///
/// # Errors
/// When it does not start, does not end in time, or ends badly.
pub fn feed(program: &OutsideCommand, text: &str, patience: Duration) -> io::Result<()> {
    let mut command = program.command();
    command
        .stdin(Stdio::piped())
        // Some stay in the background to serve the text, and would keep a pipe open.
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = with_spawn_lock(|| command.spawn())?;
    let pipe = child.stdin.take();
    let bytes = text.as_bytes().to_vec();
    // A program that does not read must not block the caller: its end closes the pipe.
    let writing = thread::Builder::new().name("copy".to_owned()).spawn(move || match pipe {
        Some(mut pipe) => pipe.write_all(&bytes),
        None => Ok(()),
    })?;
    let ended = wait(child, Instant::now() + patience)?;
    let written = writing.join().unwrap_or(Ok(()));
    ended_well(ended).and(written)
}

/// Starts a program and returns what it prints, not longer than `most` bytes; waits for its end, not longer than `patience`.
///
/// # Errors
/// When it does not start, does not end in time, prints more, or ends badly.
pub fn collect(program: &OutsideCommand, most: u64, patience: Duration) -> io::Result<Vec<u8>> {
    let mut command = program.command();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = with_spawn_lock(|| command.spawn())?;
    let pipe = child.stdout.take();
    let (sender, printed) = mpsc::channel();
    // A program that goes on must not block the caller: its end closes the pipe.
    thread::Builder::new().name("paste".to_owned()).spawn(move || {
        let mut bytes = Vec::new();
        let read = pipe.map_or(Ok(0), |pipe| pipe.take(most + 1).read_to_end(&mut bytes));
        // Nobody waits any more after the time.
        let _ = sender.send(read.map(|_| bytes));
    })?;
    let until = Instant::now() + patience;
    let printed = printed.recv_timeout(patience).map_err(|_| io::Error::from(io::ErrorKind::TimedOut));
    let bytes = match printed.and_then(|read| read) {
        Ok(bytes) if bytes.len() as u64 <= most => bytes,
        ended => {
            let _ = child.kill();
            let _ = child.wait();
            return ended.and(Err(io::ErrorKind::FileTooLarge.into()));
        }
    };
    ended_well(wait(child, until)?).map(|()| bytes)
}

/// Waits for the end of a program, and ends it at this moment.
fn wait(mut child: std::process::Child, until: Instant) -> io::Result<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if Instant::now() >= until {
            let _ = child.kill();
            let _ = child.wait();
            return Err(io::ErrorKind::TimedOut.into());
        }
        thread::sleep(LOOK);
    }
}

fn ended_well(status: ExitStatus) -> io::Result<()> {
    if status.success() { Ok(()) } else { Err(io::Error::other(status.to_string())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_with_arguments_is_one_and_a_line_for_the_shell_is_not() {
        for line in ["vim", "code --wait", "'/opt/My Editor/bin' -n"] {
            assert!(is_one_command(line), "{line}");
        }
        for line in ["TERM=xterm vim", "cd /tmp; vim", "vim && true", "$HOME/bin/edit"] {
            assert!(!is_one_command(line), "{line}");
        }
    }
}
