//! The commands of a program that is gone: found by the mark that its snapshot gave them, and killed.

use std::fs::{self, File};
use std::io::Read as _;
use std::time::Duration;

use rustix::process::{Pid, Signal};

use crate::limits;

/// Longest environment that is looked through, bytes.
const ENVIRON_BYTES: u64 = 1024 * 1024;

/// Looks in a row that must find nobody: who is just being started shows up a moment later.
const LOOKS: usize = 10;

/// How certain it must be that no command is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Certainty {
    /// The first look that finds nobody is enough: the commands have ended, and were looked after.
    Now,
    /// Nobody looked after the commands.
    Lasting,
}

/// Kills whoever carries a mark, until nobody does.
pub(super) fn kill(mark: &str, needed: Certainty) {
    let wanted = format!("{}={mark}", limits::SNAPSHOT_MARK);
    let mut needed = needed;
    let mut quiet = 0;
    for _ in 0..limits::CLEAR_ROUNDS * LOOKS {
        let found = carriers(&wanted);
        quiet = if found.is_empty() { quiet + 1 } else { 0 };
        if found.is_empty() && needed == Certainty::Now || quiet > LOOKS {
            return;
        }
        needed = Certainty::Lasting;
        for pid in found {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn carriers(wanted: &str) -> Vec<Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter_map(Pid::from_raw);
    let own = rustix::process::getpid();
    pids.filter(|pid| *pid != own && carries(*pid, wanted)).collect()
}

fn carries(pid: Pid, wanted: &str) -> bool {
    let mut environ = Vec::new();
    let read = File::open(format!("/proc/{}/environ", pid.as_raw_nonzero()))
        .and_then(|file| file.take(ENVIRON_BYTES).read_to_end(&mut environ));
    read.is_ok() && environ.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
}
