//! The processes of a job: who they are, and how all of them end. Found through `/proc`; where there is none, only the
//! process group of the job is reached.
//!
//! Used by the guard, and by the spawner for what a lost guard left behind. A signal reaches the very process that was
//! found, never one that got its number since.

use std::collections::HashSet;
use std::fs;
use std::io::Read as _;

use rustix::process::{Pid, Signal};

use crate::limits;

/// Most rounds of stopping before the killing; each finds what was started during the one before.
const FREEZE_ROUNDS: usize = 50;
/// More new processes than this at one look are more than can be stopped one by one while they go on.
const CROWD: usize = 100;
/// Longest environment that is looked through, bytes.
const ENVIRON_BYTES: u64 = 8 * 1024 * 1024;

/// Is one process, as it was found.
#[derive(Debug, Clone, Copy)]
pub(super) struct Process {
    pub(super) pid: Pid,
    parent: i32,
    group: i32,
    session: i32,
    zombie: bool,
}

/// Returns every living process that is a child of one of `roots`, a child of such a child, and so on.
pub(super) fn descendants(roots: &[Pid]) -> Vec<Process> {
    below(&all(), roots.iter().copied().collect())
}

/// Returns what a lost guard left: its session, whoever carries the mark, everything below these, and the guard itself.
pub(super) fn marked(guard: Pid, mark: &str) -> Vec<Process> {
    let all = all();
    let own = |process: &&Process| {
        process.pid == guard || process.session == guard.as_raw_nonzero().get() || carries(process.pid, mark)
    };
    let mut found: Vec<Process> = all.iter().filter(own).copied().collect();
    let mut roots: HashSet<Pid> = found.iter().map(|process| process.pid).collect();
    roots.insert(guard);
    found.extend(below(&all, roots.clone()).into_iter().filter(|process| !roots.contains(&process.pid)));
    found.retain(|process| !process.zombie);
    found
}

/// Sends a signal to each; returns how many it reached.
pub(super) fn signal(processes: &[Process], signal: Signal) -> usize {
    processes.iter().filter(|process| send(process, signal)).count()
}

/// Stops the orphans that `adopter` has, each as soon as it is seen and the newest first: one that goes on as its own
/// child every other millisecond is gone before a look at all processes ends.
fn stop_orphans(adopter: Pid) {
    let mut pids = pids();
    pids.sort_by_key(|pid| std::cmp::Reverse(pid.as_raw_nonzero()));
    for process in pids.into_iter().filter_map(look) {
        if process.parent == adopter.as_raw_nonzero().get() && !process.zombie {
            let _ = rustix::process::kill_process(process.pid, Signal::STOP);
        }
    }
}

/// Stops all that `find` finds until it finds nothing new, so that nothing can start more; then kills all. What was killed
/// is added to `killed`.
pub(super) fn freeze_and_kill(adopter: Pid, find: impl Fn() -> Vec<Process>, killed: &mut HashSet<Pid>) {
    let mut frozen = HashSet::new();
    for _ in 0..FREEZE_ROUNDS {
        stop_orphans(adopter);
        let fresh: Vec<Process> = find().into_iter().filter(|process| frozen.insert(process.pid)).collect();
        if fresh.is_empty() {
            break;
        }
        if fresh.len() > CROWD {
            kill_groups(&fresh);
        }
        signal(&fresh, Signal::STOP);
    }
    let found = find();
    signal(&found, Signal::KILL);
    killed.extend(frozen);
    killed.extend(found.iter().map(|process| process.pid));
}

/// Kills whole process groups at once. They hold nobody else: a group never spans two sessions, and a job has its own.
fn kill_groups(processes: &[Process]) {
    let own = rustix::process::getpgrp();
    let groups: HashSet<Pid> = processes.iter().filter_map(|process| Pid::from_raw(process.group)).collect();
    for group in groups.into_iter().filter(|group| *group != own) {
        let _ = rustix::process::kill_process_group(group, Signal::KILL);
    }
}

/// Returns how many threads the whole machine has; cheap, and so asked often.
pub(super) fn threads() -> Option<usize> {
    let load = fs::read_to_string("/proc/loadavg").ok()?;
    load.split(' ').nth(3)?.split_once('/')?.1.parse().ok()
}

fn below(all: &[Process], mut inside: HashSet<Pid>) -> Vec<Process> {
    let mut found = Vec::new();
    let mut rest: Vec<Process> = all.iter().filter(|process| !inside.contains(&process.pid)).copied().collect();
    loop {
        let is_inside =
            |process: &Process| Pid::from_raw(process.parent).is_some_and(|parent| inside.contains(&parent));
        let (fresh, others): (Vec<Process>, Vec<Process>) = rest.into_iter().partition(is_inside);
        if fresh.is_empty() {
            found.retain(|process: &Process| !process.zombie);
            return found;
        }
        inside.extend(fresh.iter().map(|process| process.pid));
        found.extend(fresh);
        rest = others;
    }
}

fn all() -> Vec<Process> {
    pids().into_iter().filter_map(look).collect()
}

fn pids() -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pid = |name: std::ffi::OsString| name.to_str()?.parse().ok().and_then(Pid::from_raw);
    entries.filter_map(Result::ok).filter_map(|entry| pid(entry.file_name())).collect()
}

/// Reads what is known of a process. Not from its `stat`: that waits for each one that is just becoming another program.
fn look(pid: Pid) -> Option<Process> {
    let status = fs::read(format!("/proc/{pid}/status")).ok()?;
    // The name of a program may hold anything but a line end.
    let status = String::from_utf8_lossy(&status);
    // Of several numbers the first is the one that counts here; the others are those within namespaces.
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name))?.split_ascii_whitespace().next();
    let number = |name: &str| field(name)?.parse().ok();
    Some(Process {
        pid,
        parent: number("PPid:")?,
        group: number("NSpgid:")?,
        session: number("NSsid:")?,
        zombie: matches!(field("State:")?, "Z" | "X"),
    })
}

fn carries(pid: Pid, mark: &str) -> bool {
    let Ok(file) = fs::File::open(format!("/proc/{pid}/environ")) else { return false };
    let mut environ = Vec::new();
    let _ = file.take(ENVIRON_BYTES).read_to_end(&mut environ);
    environ.split(|&byte| byte == 0).any(|variable| {
        let value = variable.strip_prefix(limits::JOB_MARK.as_bytes());
        value.and_then(|value| value.strip_prefix(b"=")) == Some(mark.as_bytes())
    })
}

#[cfg(target_os = "linux")]
fn send(process: &Process, signal: Signal) -> bool {
    use rustix::process::{PidfdFlags, kill_process, pidfd_open, pidfd_send_signal};

    // Nobody else is in a session of the job or a child of one of it, and its orphans are the guard's.
    let adopter = rustix::process::getpid().as_raw_nonzero().get();
    let is_same = || {
        let is_same =
            |now: Process| now.session == process.session || now.parent == process.parent || now.parent == adopter;
        look(process.pid).is_some_and(is_same)
    };
    match pidfd_open(process.pid, PidfdFlags::empty()) {
        Ok(handle) => is_same() && pidfd_send_signal(handle, signal).is_ok(),
        Err(rustix::io::Errno::SRCH) => false,
        Err(_) => is_same() && kill_process(process.pid, signal).is_ok(),
    }
}

#[cfg(not(target_os = "linux"))]
fn send(process: &Process, signal: Signal) -> bool {
    rustix::process::kill_process(process.pid, signal).is_ok()
}
