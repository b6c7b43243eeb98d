//! The guard: a process of its own around each job, this program under a hidden sub-command. Started by the spawner.
//!
//! Standard input tells it to kill (one byte, or its end, which also the end of the host is), standard output is the
//! job's output, standard error takes one line of JSON about the end ([`Ended`]). It is the leader of a session without a
//! terminal and adopts every orphan of the job, so nothing of the job can hide: when it ends, all of the job is dead.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};

use crate::limits;
use crate::workspace::job::{Ended, Failure};
use crate::workspace::processes::{self, Process};

/// Time between two looks at a kill that is under way.
const KILL_STEP: Duration = Duration::from_millis(20);
/// What the kernel gets to choose the job rather than the host when memory runs out.
const OOM_SCORE: &str = "/proc/self/oom_score_adj";

/// Is what reaches the guard.
enum News {
    /// Everything is to end.
    Kill,
    /// A child ended and was taken off the kernel's list.
    Reaped(Pid, WaitStatus),
    /// There is no child any more, so nothing of the job is left.
    Alone,
}

/// Runs a job to its end, with everything that it starts; says how it ended on standard error.
pub fn run(argv: &[OsString]) {
    let ended = guard(argv);
    if let Ok(mut line) = serde_json::to_string(&ended) {
        line.push('\n');
        let _ = io::stderr().write_all(line.as_bytes());
    }
    if ended.left > 0 {
        // They end when the kernel lets go of them, and must find somebody to adopt what they have left.
        while rustix::process::wait(WaitOptions::empty()).is_ok() {}
    }
}

fn guard(argv: &[OsString]) -> Ended {
    close_foreign();
    // Opened while this process may still open it.
    let score = File::options().read(true).write(true).open(OOM_SCORE).ok();
    confine_itself();
    let (news, inbox) = mpsc::channel();
    let (started, main) = mpsc::channel::<()>();
    let commands = news.clone();
    thread::spawn(move || read_commands(&commands));
    thread::spawn(move || {
        // Without a child there would be nothing to wait for.
        if main.recv().is_ok() {
            reap(&news);
        }
    });
    let main = match start(argv, score) {
        Ok(main) => main,
        Err(error) => {
            let name = argv.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let failure = Some(Failure::NotStarted(format!("{name} cannot be started: {error}")));
            return Ended { failure, ..Ended::default() };
        }
    };
    let _ = started.send(());
    // Among thousands of processes it must still get its turn. Only root may; the kernel limits all others itself.
    let _ = rustix::process::setpriority_process(None, limits::GUARD_NICENESS);
    Watch { inbox, main, status: None, is_alone: false }.follow()
}

/// Closes what the host's own starter left open in every process below: the job gets the three streams, nothing else.
/// Nothing was opened here yet.
fn close_foreign() {
    let Ok(entries) = std::fs::read_dir("/dev/fd") else { return };
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    // Read to its end first: the listing has a descriptor of its own.
    let numbers: Vec<i32> = numbers.filter(|number| *number > 2).collect();
    for number in numbers {
        let _ = nix::unistd::close(number);
    }
}

/// Makes this process one that the job cannot get rid of, and sets the limits that the job inherits.
fn confine_itself() {
    let _ = rustix::process::setsid();
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_child_subreaper, set_dumpable_behavior};
        let _ = set_child_subreaper(Some(rustix::process::getpid()));
        let _ = rustix::thread::set_no_new_privs(true);
        // Nobody of the same user can open its pipes through /proc or trace it.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
    limit_resources();
}

fn limit_resources() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let mut ceilings = vec![
        (Resource::Core, 0),
        (Resource::Fsize, limits::JOB_FILE_BYTES),
        (Resource::Nofile, limits::JOB_OPEN_FILES),
    ];
    // The kernel counts all threads of the user.
    if let Some(threads) = processes::threads() {
        ceilings.push((Resource::Nproc, (threads + limits::JOB_THREADS) as u64));
    }
    for (resource, ceiling) in ceilings {
        let now = getrlimit(resource);
        let lower = |limit: Option<u64>| Some(limit.map_or(ceiling, |limit| limit.min(ceiling)));
        let _ = setrlimit(resource, Rlimit { current: lower(now.current), maximum: lower(now.maximum) });
    }
}

/// Starts the job in a process group of its own, and keeps nothing of its output open.
fn start(argv: &[OsString], mut score: Option<File>) -> io::Result<Pid> {
    let Some((program, arguments)) = argv.split_first() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no program is named"));
    };
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    let errors = output.try_clone()?;
    // The job inherits it; the guard itself is to stay.
    let mut own_score = String::new();
    if let Some(score) = &mut score {
        let _ = score.read_to_string(&mut own_score).and_then(|_| score.write_all(limits::JOB_OOM_SCORE.as_bytes()));
    }
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::from(output))
        .stderr(Stdio::from(errors))
        .process_group(0)
        .spawn();
    if let Some(score) = &mut score {
        let _ = score.write_all(own_score.as_bytes());
    }
    let child = child?;
    rustix::stdio::dup2_stdout(File::options().write(true).open("/dev/null")?)?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    pid.ok_or_else(|| io::Error::other("it has no process number"))
}

/// Passes on that everything is to end, when a byte comes or the other side is gone.
fn read_commands(news: &Sender<News>) {
    let mut byte = [0];
    loop {
        match io::stdin().read(&mut byte) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(_) | Err(_) => break,
        }
    }
    let _ = news.send(News::Kill);
}

/// Takes every child that ends off the kernel's list, the adopted ones too.
fn reap(news: &Sender<News>) {
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) => {
                let _ = news.send(News::Reaped(pid, status));
            }
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => {
                let _ = news.send(News::Alone);
                return;
            }
        }
    }
}

/// Returns the living processes of the job.
fn descendants() -> Vec<Process> {
    processes::descendants(&[rustix::process::getpid()])
}

/// Is the guard while its job runs.
struct Watch {
    inbox: Receiver<News>,
    /// The process that the job began as.
    main: Pid,
    status: Option<WaitStatus>,
    is_alone: bool,
}

impl Watch {
    fn follow(mut self) -> Ended {
        let failure = self.main_end();
        let killed = match failure {
            // Each moment brings more, and so many need longer to die.
            Some(Failure::TooManyProcesses) => self.end_all(Duration::ZERO, limits::CROWD_GRACE),
            _ => self.end_all(limits::TERM_GRACE, limits::KILL_GRACE),
        };
        let left = if self.is_alone { 0 } else { descendants().len().max(1) };
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Ended {
            code: self.status.and_then(WaitStatus::exit_status),
            signal: self.status.and_then(WaitStatus::terminating_signal),
            killed: count(killed.len()),
            left: count(left),
            failure,
        }
    }

    /// Waits until the first process of the job ends, or everything is to end. What it left gets a moment, for those who
    /// read the job's last words.
    fn main_end(&mut self) -> Option<Failure> {
        let before = processes::threads().unwrap_or(0);
        loop {
            match self.inbox.recv_timeout(limits::JOB_WATCH) {
                Ok(News::Kill) | Err(RecvTimeoutError::Disconnected) => return None,
                Ok(news) => self.note(&news),
                Err(RecvTimeoutError::Timeout) => {
                    let more = processes::threads().unwrap_or(0).saturating_sub(before);
                    if more > limits::JOB_CROWD {
                        // Whoever they belong to: this job must not keep the host and its guard from their turn.
                        let _ = rustix::process::setpriority_pgrp(Some(self.main), limits::CROWD_NICENESS);
                    }
                    if more > limits::JOB_PROCESSES && descendants().len() > limits::JOB_PROCESSES {
                        return Some(Failure::TooManyProcesses);
                    }
                }
            }
            if self.status.is_some() {
                self.wait_alone(limits::LEFTOVER_GRACE);
                return None;
            }
        }
    }

    /// Asks everything to end, and kills what is left after a time, which is then given some time to be gone; returns what
    /// it was.
    fn end_all(&mut self, grace: Duration, patience: Duration) -> HashSet<Pid> {
        let mut killed = HashSet::new();
        if self.is_alone {
            return killed;
        }
        if !grace.is_zero() {
            let found = descendants();
            killed.extend(found.iter().map(|process| process.pid));
            processes::signal(&found, Signal::TERM);
            // A stopped process hears of it only when it goes on.
            processes::signal(&found, Signal::CONT);
            self.signal_group(Signal::TERM);
            self.wait_alone(grace);
        }
        let until = Instant::now() + patience;
        while !self.is_alone && Instant::now() < until {
            processes::freeze_and_kill(rustix::process::getpid(), descendants, &mut killed);
            self.signal_group(Signal::KILL);
            self.wait_alone(KILL_STEP);
        }
        killed
    }

    /// Reaches the job where processes cannot be found.
    fn signal_group(&self, signal: Signal) {
        if cfg!(not(target_os = "linux")) {
            let _ = rustix::process::kill_process_group(self.main, signal);
        }
    }

    /// Waits until nothing of the job is left, at most for a time.
    fn wait_alone(&mut self, time: Duration) {
        let until = Instant::now() + time;
        while !self.is_alone {
            match self.inbox.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(news) => self.note(&news),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn note(&mut self, news: &News) {
        match news {
            News::Reaped(pid, status) if *pid == self.main => self.status = Some(*status),
            // It is ending already.
            News::Reaped(..) | News::Kill => {}
            News::Alone => self.is_alone = true,
        }
    }
}
