//! The processes of a job: finding them, and ending all of them. Found through `/proc`; where there is none, only the
//! process group of the job is reached.
//!
//! Used by the guard, and by the spawner for what a lost guard left behind. A signal reaches the very process that
//! was found, never one that got its number since. A failed search is an error, so an empty result means that there
//! is none.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Read as _};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

use steersman_base::limits;

/// Most rounds of stopping before the killing; each finds what was started during the one before.
const FREEZE_ROUNDS: usize = 50;
/// More new processes than this at one look are more than can be stopped one by one while they go on.
const CROWD: usize = 100;
/// Longest environment that is looked through, bytes.
const ENVIRON_BYTES: u64 = 8 * 1024 * 1024;

/// A process that was found.
#[derive(Debug, Clone, Copy)]
pub(super) struct Process {
    pub(super) pid: Pid,
    parent: i32,
    group: i32,
    session: i32,
    zombie: bool,
    /// Its memory, shared memory and swap included, bytes.
    memory: u64,
}

/// Returns every living process that is a child of one of `roots`, a child of such a child, and so on.
///
/// # Errors
/// When not everybody can be seen now, for want of descriptors or of `/proc`.
pub(super) fn descendants(roots: &[Pid]) -> io::Result<Vec<Process>> {
    Ok(below(&all()?, roots.iter().copied().collect()))
}

/// Returns what a lost guard left: its session, whoever carries the mark, everything below these, and the guard itself.
///
/// # Errors
/// As [`descendants`].
pub(super) fn marked(guard: Pid, mark: &str) -> io::Result<Vec<Process>> {
    let all = all()?;
    let mut found = Vec::new();
    for process in &all {
        let in_session = process.session == guard.as_raw_nonzero().get();
        if process.pid == guard || in_session || carries(process.pid, mark)? {
            found.push(*process);
        }
    }
    let mut roots: HashSet<Pid> = found.iter().map(|process| process.pid).collect();
    roots.insert(guard);
    found.extend(below(&all, roots.clone()).into_iter().filter(|process| !roots.contains(&process.pid)));
    found.retain(|process| !process.zombie);
    Ok(found)
}

/// Returns a process, everything below it and whoever carries the mark, as far as they are in the session of this one.
///
/// # Errors
/// As [`descendants`].
pub(super) fn marked_here(first: Option<Pid>, mark: &str) -> io::Result<Vec<Process>> {
    let all = all()?;
    let own = rustix::process::getpid();
    let Some(here) = all.iter().find(|process| process.pid == own).map(|process| process.session) else {
        return Ok(Vec::new());
    };
    let mut roots: HashSet<Pid> = first.into_iter().collect();
    for process in all.iter().filter(|process| process.session == here && process.pid != own) {
        if carries(process.pid, mark)? {
            roots.insert(process.pid);
        }
    }
    let mut found = below(&all, roots.clone());
    found.extend(all.iter().filter(|process| roots.contains(&process.pid) && !process.zombie));
    found.retain(|process| process.session == here);
    Ok(found)
}

/// Returns the memory of processes together, bytes. What several share counts for each of them, unless that makes more
/// than `enough`: only then the dear question is asked how much it really is.
pub(super) fn memory(processes: &[Process], enough: u64) -> u64 {
    let sum = processes.iter().map(|process| process.memory).sum();
    if sum <= enough {
        return sum;
    }
    processes.iter().map(|process| proportional(process.pid).unwrap_or(process.memory)).sum()
}

/// Returns the memory of a process, bytes, with its part of what it shares with others.
fn proportional(pid: Pid) -> Option<u64> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    Some(kilobytes(&rollup, "Pss:")? + kilobytes(&rollup, "SwapPss:").unwrap_or(0))
}

/// Reads an amount of memory out of lines as `VmRSS:  1024 kB`; returns bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let amount: u64 =
        text.lines().find_map(|line| line.strip_prefix(name))?.split_ascii_whitespace().next()?.parse().ok()?;
    Some(amount.saturating_mul(1024))
}

/// Sends a signal to each; returns how many it reached.
pub(super) fn signal(processes: &[Process], signal: Signal) -> usize {
    processes.iter().filter(|process| send(process, signal)).count()
}

/// Stops the orphans that `adopter` has, each as soon as it is seen and the newest first: one that goes on as its own
/// child every other millisecond is gone before a look at all processes ends.
fn stop_orphans(adopter: Pid) {
    let mut pids = pids().unwrap_or_default();
    pids.sort_by_key(|pid| std::cmp::Reverse(pid.as_raw_nonzero()));
    for process in pids.into_iter().filter_map(|pid| look(pid).ok().flatten()) {
        if process.parent == adopter.as_raw_nonzero().get() && !process.zombie {
            let _ = rustix::process::kill_process(process.pid, Signal::STOP);
        }
    }
}

/// Stops all that `find` finds until it finds nothing new, so that nothing can start more; then kills all. What was
/// killed is added to `killed`.
///
/// # Errors
/// That of `find`; what was found until then is stopped, not killed.
pub(super) fn freeze_and_kill(
    adopter: Pid,
    find: impl Fn() -> io::Result<Vec<Process>>,
    killed: &mut HashSet<Pid>,
) -> io::Result<()> {
    let mut frozen = HashSet::new();
    for _ in 0..FREEZE_ROUNDS {
        stop_orphans(adopter);
        let fresh: Vec<Process> = find()?.into_iter().filter(|process| frozen.insert(process.pid)).collect();
        if fresh.is_empty() {
            break;
        }
        if fresh.len() > CROWD {
            kill_groups(&fresh);
        }
        signal(&fresh, Signal::STOP);
    }
    let found = find()?;
    signal(&found, Signal::KILL);
    killed.extend(frozen);
    killed.extend(found.iter().map(|process| process.pid));
    Ok(())
}

/// Kills whole process groups at once. They hold nobody else: a group never spans two sessions, and a job has its own.
fn kill_groups(processes: &[Process]) {
    let own = nix::unistd::getpgrp().as_raw();
    let groups: HashSet<i32> = processes.iter().map(|process| process.group).filter(|group| *group != own).collect();
    for group in groups.into_iter().filter_map(Pid::from_raw) {
        let _ = rustix::process::kill_process_group(group, Signal::KILL);
    }
}

/// The memory and the threads of the machine; cheap to read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Machine {
    pub(super) threads: usize,
    /// All memory, bytes.
    pub(super) memory: u64,
    /// The memory that can still be had, that on disk included, bytes.
    pub(super) available: u64,
}

impl Machine {
    /// Returns whether almost no memory is left, and at least half of what there was is gone. That shows what no
    /// process is charged with: files in memory, what was shared and let go of, what the kernel holds for a
    /// process.
    pub(super) fn is_out_of_memory(&self, before: &Self) -> bool {
        self.available < (self.memory / 100 * limits::MACHINE_MEMORY_PERCENT).min(before.available / 2)
    }
}

/// Reads the state of the machine.
///
/// # Errors
/// When its state cannot be read now.
pub(super) fn machine() -> io::Result<Machine> {
    let load = fs::read_to_string("/proc/loadavg")?;
    let memory = fs::read_to_string("/proc/meminfo")?;
    let threads = || load.split(' ').nth(3)?.split_once('/')?.1.parse().ok();
    Ok(Machine {
        threads: threads().ok_or(io::ErrorKind::InvalidData)?,
        memory: kilobytes(&memory, "MemTotal:").ok_or(io::ErrorKind::InvalidData)?,
        available: kilobytes(&memory, "MemAvailable:").ok_or(io::ErrorKind::InvalidData)?
            + kilobytes(&memory, "SwapFree:").unwrap_or(0),
    })
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

fn all() -> io::Result<Vec<Process>> {
    pids()?.into_iter().filter_map(|pid| look(pid).transpose()).collect()
}

fn pids() -> io::Result<Vec<Pid>> {
    let pid = |name: std::ffi::OsString| name.to_str()?.parse().ok().and_then(Pid::from_raw);
    let entries = fs::read_dir("/proc")?.filter_map(Result::ok);
    Ok(entries.filter_map(|entry| pid(entry.file_name())).collect())
}

/// Returns `None` for an error that is about what was to be read, which is gone or not for us.
///
/// # Errors
/// That of a process which can read nothing at all now.
fn readable<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error) => match Errno::from_io_error(&error) {
            Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM) => Err(error),
            _ => Ok(None),
        },
    }
}

/// Reads the state of a process; `None` when it is gone.
fn look(pid: Pid) -> io::Result<Option<Process>> {
    // Not its `stat`: that waits for each one that is just becoming another program.
    let status = readable(fs::read(format!("/proc/{pid}/status")))?;
    Ok(status.and_then(|status| read_status(pid, &status)))
}

fn read_status(pid: Pid, status: &[u8]) -> Option<Process> {
    // The name of a program may hold anything but a line end.
    let status = String::from_utf8_lossy(status);
    // Of several numbers the first is the one that counts here; the others are those within namespaces.
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name))?.split_ascii_whitespace().next();
    let number = |name: &str| field(name)?.parse().ok();
    Some(Process {
        pid,
        parent: number("PPid:")?,
        group: number("NSpgid:")?,
        session: number("NSsid:")?,
        zombie: matches!(field("State:")?, "Z" | "X"),
        memory: kilobytes(&status, "VmRSS:").unwrap_or(0) + kilobytes(&status, "VmSwap:").unwrap_or(0),
    })
}

fn carries(pid: Pid, mark: &str) -> io::Result<bool> {
    let Some(file) = readable(fs::File::open(format!("/proc/{pid}/environ")))? else { return Ok(false) };
    let mut environ = Vec::new();
    let _ = file.take(ENVIRON_BYTES).read_to_end(&mut environ);
    Ok(environ.split(|&byte| byte == 0).any(|variable| {
        let value = variable.strip_prefix(limits::JOB_MARK.as_bytes());
        value.and_then(|value| value.strip_prefix(b"=")) == Some(mark.as_bytes())
    }))
}

#[cfg(target_os = "linux")]
fn send(process: &Process, signal: Signal) -> bool {
    use rustix::process::{PidfdFlags, kill_process, pidfd_open, pidfd_send_signal};

    // Nobody else is in a session of the job or a child of one of it, and its orphans are the guard's.
    let adopter = rustix::process::getpid().as_raw_nonzero().get();
    let is_same = || {
        let is_same =
            |now: Process| now.session == process.session || now.parent == process.parent || now.parent == adopter;
        look(process.pid).ok().flatten().is_some_and(is_same)
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

/// The children of this process and the members of its session, found without opening anything: a job may have taken the
/// last descriptor from its guard. The guard adopts every orphan of its job, so the children of a killed process become its
/// own. Killing its children repeatedly therefore ends all of them, and only the kernel has to be asked for them.
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
            numbers: fs::File::open("/proc").ok().and_then(|proc| rustix::fs::Dir::new(proc).ok()),
        }
    }

    /// Sends a signal to each, the newest first; returns those that it reached.
    pub(super) fn signal(&mut self, signal: Signal) -> HashSet<Pid> {
        let own = rustix::process::getpid();
        let mut pids: Vec<Pid> = self.numbers().into_iter().filter(|pid| *pid != own).collect();
        pids.sort_by_key(|pid| std::cmp::Reverse(pid.as_raw_nonzero()));
        pids.retain(|pid| is_living_child(*pid) || session_of(*pid) == Some(own.as_raw_pid()));
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
fn session_of(pid: Pid) -> Option<i32> {
    nix::unistd::getsid(Some(nix::unistd::Pid::from_raw(pid.as_raw_pid()))).ok().map(nix::unistd::Pid::as_raw)
}

/// Returns whether a process is a child of this one and has not ended.
fn is_living_child(pid: Pid) -> bool {
    // Of one that has ended there is a status, which stays where it is.
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(rustix::process::waitid(WaitId::Pid(pid), options), Ok(None))
}
