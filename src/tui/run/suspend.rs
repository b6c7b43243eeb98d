//! The stop of the program and of what was started with it, until the shell lets them go on.
//!
//! Called by the loop once it has given the terminal back. The signal that the terminal sends for Ctrl+Z is handled,
//! so that nobody stops the program while the modes are set; the stop itself is one that no program can refuse, and
//! therefore comes only where somebody is there to end it.

use std::io;
use std::time::Duration;

use nix::unistd::{self, getpgid, getppid, getsid};
use rustix::process::{Pid, Signal, kill_current_process_group, kill_process};
use tokio::time::timeout;

use crate::terminal::signals::Signals;
use steersman_base::sync::with_spawn_lock;

/// Time in which the stop comes.
const STOP: Duration = Duration::from_millis(300);
/// Most programs between this one and its shell.
const PARENTS: usize = 16;

/// What the screen says when the program was not stopped.
pub(super) const REFUSED: &str = "not suspended: no shell would bring it back";

/// What came of a wish to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The program was stopped and goes on.
    Over,
    /// It was not: nobody would let it go on.
    Refused,
}

/// Stops the program and waits until it goes on.
pub(super) async fn stop(signals: &mut Signals) -> io::Result<Stop> {
    if !stop_group()? {
        return Ok(Stop::Refused);
    }
    if timeout(STOP, signals.resumed()).await.is_err() {
        return Ok(Stop::Refused);
    }
    continue_children();
    Ok(Stop::Over)
}

/// Continues the children. The stop of the group may catch one while it leaves the group to lead a session of its own; it stops
/// there, and the shell, which continues the group, does not reach it.
pub(super) fn continue_children() {
    for pid in children().into_iter().filter_map(Pid::from_raw) {
        // One that has ended meanwhile needs nothing.
        let _ = kill_process(pid, Signal::CONT);
    }
}

/// Returns the children of this process, where the system tells.
fn children() -> Vec<i32> {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().filter_map(Result::ok);
    let list = |thread: &str| std::fs::read_to_string(format!("/proc/self/task/{thread}/children")).ok();
    let lists = threads.filter_map(|thread| list(thread.file_name().to_str()?));
    lists.flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>()).collect()
}

/// Stops the group, as the terminal itself would: a program that started this one is stopped with it. False when nobody
/// would let it go on; then nothing happens.
pub(super) fn stop_group() -> io::Result<bool> {
    let has_shell = has_shell();
    if has_shell {
        with_spawn_lock(|| kill_current_process_group(Signal::STOP))?;
    }
    Ok(has_shell)
}

/// Tells whether a program of this session, outside of the group, started the group: a shell that can let it go on.
///
/// A group or a session that was begun outside of this process-id namespace has the number 0 here, which is why these
/// calls are those of `nix`: `rustix` takes 0 for impossible.
fn has_shell() -> bool {
    let (Ok(group), Ok(session)) = (getpgid(None), getsid(None)) else { return false };
    let mut parent = Some(getppid());
    for _ in 0..PARENTS {
        // The parent of the first process of a namespace has the number 0 too; asked about, it would be this process.
        let Some(pid) = parent.filter(|pid| pid.as_raw() != 0 && getsid(Some(*pid)) == Ok(session)) else {
            return false;
        };
        if getpgid(Some(pid)).is_ok_and(|of| of != group) {
            return true;
        }
        parent = parent_of(pid);
    }
    false
}

/// Returns the parent of another process, where the system tells.
fn parent_of(pid: unistd::Pid) -> Option<unistd::Pid> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, behind_name) = stat.rsplit_once(')')?;
    behind_name.split_whitespace().nth(1)?.parse().ok().map(unistd::Pid::from_raw)
}
