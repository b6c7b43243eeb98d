//! The processes of a job, found without opening anything: a job may have taken the last descriptor from its guard.
//!
//! The guard adopts every orphan of its job, so the children of a killed process become its own. Killing its children
//! repeatedly therefore ends all of them, and only the kernel has to be asked for them.

use std::collections::HashSet;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

/// The children of this process and the members of its session.
#[derive(Debug)]
pub(super) struct Children {
    /// Opened early; reading it again needs no new descriptor.
    #[cfg(target_os = "linux")]
    numbers: Option<rustix::fs::Dir>,
}

impl Children {
    /// Opens `/proc`, which is needed later. Without it no process is found.
    pub(super) fn open() -> Self {
        Self {
            #[cfg(target_os = "linux")]
            numbers: std::fs::File::open("/proc").ok().and_then(|proc| rustix::fs::Dir::new(proc).ok()),
        }
    }

    /// Sends a signal to each, the newest first; returns those that it reached.
    pub(super) fn signal(&mut self, signal: Signal) -> HashSet<Pid> {
        let own = rustix::process::getpid();
        let mut pids: Vec<Pid> = self.numbers().into_iter().filter(|pid| *pid != own).collect();
        pids.sort_by_key(|pid| std::cmp::Reverse(pid.as_raw_nonzero()));
        pids.retain(|pid| is_living_child(*pid) || session(*pid) == Some(own.as_raw_pid()));
        pids.into_iter().filter(|pid| rustix::process::kill_process(*pid, signal).is_ok()).collect()
    }

    #[cfg(target_os = "linux")]
    fn numbers(&mut self) -> Vec<Pid> {
        let Some(numbers) = &mut self.numbers else { return Vec::new() };
        numbers.rewind();
        let number =
            |entry: rustix::fs::DirEntry| entry.file_name().to_str().ok()?.parse().ok().and_then(Pid::from_raw);
        std::iter::from_fn(|| numbers.read()).filter_map(Result::ok).filter_map(number).collect()
    }

    #[cfg(not(target_os = "linux"))]
    fn numbers(&mut self) -> Vec<Pid> {
        Vec::new()
    }
}

/// Returns the number of a process's session.
fn session(pid: Pid) -> Option<i32> {
    nix::unistd::getsid(Some(nix::unistd::Pid::from_raw(pid.as_raw_pid()))).ok().map(nix::unistd::Pid::as_raw)
}

/// Returns whether a process is a child of this one and has not ended.
fn is_living_child(pid: Pid) -> bool {
    // Of one that has ended there is a status, which stays where it is.
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(rustix::process::waitid(WaitId::Pid(pid), options), Ok(None))
}
