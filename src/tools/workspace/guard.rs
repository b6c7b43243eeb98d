//! The guard: a process around each job, which is this program under a hidden sub-command. Started by the spawner.
//!
//! Standard input tells it to kill (one byte, or its end, which also the end of the host is), standard output is
//! the job's output, standard error takes one line of JSON about the end ([`Ended`]). A job that is talked to has its own
//! input and error output besides (`workspace::job_streams`). The guard is the leader of a session
//! without a terminal and adopts every orphan of the job, so nothing of the job can hide: when it ends, all of the
//! job is dead. Without free descriptors it still kills, in a cruder way.
//!
//! There is no control group around a job, which the kernel would kill at once and count all memory of: only root,
//! or who was given a part of the hierarchy to manage, may make one there, and a terminal's processes were not.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};
use signal_hook::consts::{
    SIGABRT, SIGALRM, SIGHUP, SIGINT, SIGIO, SIGPROF, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU,
    SIGXFSZ,
};

use crate::workspace::job::{Ended, Failure};
use crate::workspace::job_streams::{JobStreams, Streams};
use crate::workspace::own_program;
use crate::workspace::processes::{self, Children, Machine, Process};
#[cfg(target_os = "linux")]
use crate::workspace::sandbox::{SUBCOMMAND, inner};
use crate::workspace::spawner::GUARD;
use steersman_base::limits;

/// The time between two checks during a kill.
const KILL_STEP: Duration = Duration::from_millis(20);
/// The same where processes cannot be listed.
const BLIND_KILL_STEP: Duration = Duration::from_millis(2);
/// The file through which the kernel prefers to kill the job, not the host, when memory runs out.
const OOM_SCORE: &str = "/proc/self/oom_score_adj";
/// Longest content of that file.
const SCORE_BYTES: u64 = 16;

/// The exit code of a hidden sub-command that was not called by this program.
const USAGE: u8 = 2;

/// The signals that would end or stop the guard. They get a handler, since the job would inherit ignored signals.
const HANDLED: [i32; 14] = [
    SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGXFSZ, SIGIO, SIGABRT,
    SIGTSTP,
];

/// A message to the guard's main loop.
enum GuardMessage {
    /// All processes of the job are to end.
    Kill,
    /// A child ended and was taken off the kernel's list.
    Reaped(Pid, WaitStatus),
    /// No child is left, so the job has ended completely.
    Alone,
}

/// Runs a hidden sub-command, as which a program starts itself, to its end; `None` when the arguments name none. They run
/// before the command line is parsed, before logging and before any hook; help and completions do not list them.
///
/// A program whose [`Spawner`](crate::workspace::Spawner) names its own executable calls this first in `main`.
pub fn run_hidden(args: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut args = args.into_iter().skip(1);
    let name = args.next()?;
    #[cfg(target_os = "linux")]
    if name == SUBCOMMAND {
        return Some(inner::run(args).into());
    }
    if name != GUARD {
        return None;
    }
    let memory = args.next().and_then(|memory| memory.to_str()?.parse().ok());
    let streams = args.next().and_then(|arg| Streams::of_argument(&arg));
    let job: Vec<OsString> = args.collect();
    let (Some(memory), Some(streams), false) = (memory, streams, job.is_empty()) else {
        return Some(USAGE.into());
    };
    run(&job, Some(memory).filter(|memory| *memory > 0), streams);
    Some(ExitCode::SUCCESS)
}

/// Runs a job to its end, with everything that it starts; writes how it ended to standard error.
///
/// `memory` is how much all its processes together may have, bytes; `None` for a share of the machine's.
fn run(argv: &[OsString], memory: Option<u64>, streams: Streams) {
    let ended = guard(argv, memory, streams);
    if let Ok(mut line) = serde_json::to_string(&ended) {
        line.push('\n');
        let _ = io::stderr().write_all(line.as_bytes());
    }
    if ended.left > 0 {
        // They end when the kernel lets go of them, and must find somebody to adopt what they have left.
        while rustix::process::wait(WaitOptions::empty()).is_ok() {}
    }
}

fn guard(argv: &[OsString], memory: Option<u64>, streams: Streams) -> Ended {
    close_foreign();
    let not_started = |error: &io::Error| {
        let name = argv.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let failure = Some(Failure::NotStarted(format!("{name} cannot be started: {error}")));
        Ended { failure, ..Ended::default() }
    };
    let streams = match streams {
        Streams::Output => None,
        // Before anything else reads from standard input, over which they come.
        Streams::Input | Streams::Own => match JobStreams::receive() {
            Ok(streams) => Some(streams),
            Err(error) => return not_started(&error),
        },
    };
    limit_job(memory);
    // While this process has one thread.
    let starter = match Starter::new(argv, streams) {
        Ok(starter) => starter,
        Err(error) => return not_started(&error),
    };
    // Opened while this process may still open it.
    let score = File::options().read(true).write(true).open(OOM_SCORE).ok();
    let children = Children::open();
    let flag = Arc::default();
    for signal in HANDLED {
        let _ = signal_hook::flag::register(signal, Arc::clone(&flag));
    }
    protect_itself();
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
    // Before the job, which may take much at once.
    let before = processes::machine().ok();
    let main = match start(starter, score) {
        Ok(main) => main,
        Err(error) => return not_started(&error),
    };
    let _ = started.send(());
    // Among thousands of processes it must still get its turn. Only root may; the kernel limits all others itself.
    let _ = rustix::process::setpriority_process(None, limits::GUARD_NICENESS);
    let share = |machine: Machine| machine.memory / 100 * limits::JOB_MEMORY_PERCENT;
    let most = memory.or_else(|| before.map(share));
    let before = before.unwrap_or_default();
    JobWatch { inbox, main, status: None, is_alone: false, children, memory: most, before }.follow()
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

/// Makes the session of the job, and sets the limits that the job inherits.
fn limit_job(memory: Option<u64>) {
    let _ = rustix::process::setsid();
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::set_no_new_privs(true);
    limit_resources(memory);
}

/// Protects this process from the job, and lets it adopt what the job leaves.
fn protect_itself() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_child_subreaper, set_dumpable_behavior};
        let _ = set_child_subreaper(Some(rustix::process::getpid()));
        // Nobody of the same user can open its pipes through /proc or trace it.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}

fn limit_resources(memory: Option<u64>) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let mut ceilings = vec![
        (Resource::Core, 0),
        (Resource::Fsize, limits::JOB_FILE_BYTES),
        (Resource::Nofile, limits::JOB_OPEN_FILES),
    ];
    // The kernel counts all threads of the user.
    if let Ok(machine) = processes::machine() {
        ceilings.push((Resource::Nproc, (machine.threads + limits::JOB_THREADS) as u64));
    }
    // Sooner than any look at it, and with an error that a program can report.
    ceilings.extend(memory.map(|memory| (Resource::Data, memory)));
    for (resource, ceiling) in ceilings {
        let now = getrlimit(resource);
        let lower = |limit: Option<u64>| Some(limit.map_or(ceiling, |limit| limit.min(ceiling)));
        let _ = setrlimit(resource, Rlimit { current: lower(now.current), maximum: lower(now.maximum) });
    }
}

/// What starts the job, in a process group of its own.
enum Starter {
    /// A copy of this process, which waits for a byte and is the sandbox then.
    #[cfg(target_os = "linux")]
    Copy(u32, io::PipeWriter),
    /// A program, with the open file that it inherits.
    Program(Command, Option<OwnedFd>),
}

impl Starter {
    fn new(argv: &[OsString], streams: Option<JobStreams>) -> io::Result<Self> {
        let (input, errors) = streams.map_or((None, None), |streams| (Some(streams.input), streams.errors));
        #[cfg(target_os = "linux")]
        if let [program, command, arguments @ ..] = argv
            && program == own_program::ITSELF
            && command == SUBCOMMAND
        {
            return Self::copy(arguments, input, errors);
        }
        let inherited = own_program::inherit(argv)?;
        let (argv, inherited) = inherited.map_or_else(|| (argv.to_vec(), None), |(line, file)| (line, Some(file)));
        let Some((program, arguments)) = argv.split_first() else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "no program is named"));
        };
        let output = io::stdout().as_fd().try_clone_to_owned()?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .stdin(input.map_or_else(Stdio::null, Stdio::from))
            .stderr(errors.map_or_else(|| output.try_clone(), Ok)?)
            .stdout(output)
            .process_group(0);
        Ok(Self::Program(command, inherited))
    }

    #[cfg(target_os = "linux")]
    fn copy(arguments: &[OsString], input: Option<OwnedFd>, errors: Option<OwnedFd>) -> io::Result<Self> {
        use steersman_seccomp_notify::{Forked, fork};

        let (word, starter) = io::pipe()?;
        if let Forked::Parent(pid) = fork()? {
            return Ok(Self::Copy(pid, starter));
        }
        drop(starter);
        let code = become_sandbox(word, arguments, input, errors).unwrap_or(inner::FAILED);
        std::process::exit(code.into())
    }

    /// Starts the job; returns its first process.
    fn start(self) -> io::Result<u32> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Copy(pid, mut starter) => starter.write_all(&[0]).map(|()| pid),
            Self::Program(mut command, _inherited) => command.spawn().map(|child| child.id()),
        }
    }
}

/// Gives this process, a copy of the guard, the streams of the job, waits for the guard's word, and runs the job in a sandbox;
/// returns its exit code.
#[cfg(target_os = "linux")]
fn become_sandbox(
    mut word: io::PipeReader,
    arguments: &[OsString],
    input: Option<OwnedFd>,
    errors: Option<OwnedFd>,
) -> io::Result<u8> {
    nix::unistd::setpgid(nix::unistd::Pid::this(), nix::unistd::Pid::this())?;
    let input = input.map_or_else(|| File::open("/dev/null").map(OwnedFd::from), Ok)?;
    rustix::stdio::dup2_stdin(input)?;
    match errors {
        Some(errors) => rustix::stdio::dup2_stderr(errors)?,
        None => rustix::stdio::dup2_stderr(io::stdout())?,
    }
    // Without one the guard has ended.
    word.read_exact(&mut [0])?;
    drop(word);
    let _ = std::fs::write(OOM_SCORE, limits::JOB_OOM_SCORE);
    Ok(inner::run(arguments.iter().cloned()))
}

/// Starts the job, and keeps nothing of its output open.
fn start(starter: Starter, mut score: Option<File>) -> io::Result<Pid> {
    // Behind the start the job may have seen to it that nothing can be opened any more.
    let nothing = File::options().write(true).open("/dev/null")?;
    // The job inherits it; the guard itself is to stay.
    let mut own_score = String::new();
    if let Some(score) = &mut score {
        let read = (&*score).take(SCORE_BYTES).read_to_string(&mut own_score);
        let _ = read.and_then(|_| score.write_all(limits::JOB_OOM_SCORE.as_bytes()));
    }
    let started = starter.start();
    if let Some(score) = &mut score {
        let _ = score.write_all(own_score.as_bytes());
    }
    let pid = started?;
    // Where that fails, the job's output ends with the guard.
    let _ = rustix::stdio::dup2_stdout(nothing);
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.ok_or_else(|| io::Error::other("it has no process number"))
}

/// Sends [`GuardMessage::Kill`] when a byte comes or the other side is gone.
fn read_commands(news: &Sender<GuardMessage>) {
    let mut byte = [0];
    loop {
        match io::stdin().read(&mut byte) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(_) | Err(_) => break,
        }
    }
    let _ = news.send(GuardMessage::Kill);
}

/// Reaps every child that ends, the adopted ones too.
fn reap(news: &Sender<GuardMessage>) {
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) => {
                let _ = news.send(GuardMessage::Reaped(pid, status));
            }
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => {
                let _ = news.send(GuardMessage::Alone);
                return;
            }
        }
    }
}

/// Returns the living processes of the job.
fn descendants() -> io::Result<Vec<Process>> {
    processes::descendants(&[rustix::process::getpid()])
}

/// The state of the guard while its job runs.
struct JobWatch {
    inbox: Receiver<GuardMessage>,
    /// The first process of the job.
    main: Pid,
    status: Option<WaitStatus>,
    is_alone: bool,
    children: Children,
    /// The most memory of the job, bytes.
    memory: Option<u64>,
    /// The machine before the job.
    before: Machine,
}

impl JobWatch {
    fn follow(mut self) -> Ended {
        let failure = self.main_end();
        let killed = match failure {
            // Each moment brings more, and so many need longer to die.
            Some(Failure::TooManyProcesses | Failure::TooMuchMemory(_) | Failure::MachineOutOfMemory) => {
                self.end_all(Duration::ZERO, limits::CROWD_GRACE)
            }
            _ => self.end_all(limits::TERM_GRACE, limits::KILL_GRACE),
        };
        // Who cannot be seen is there all the same; the host looks after them then.
        let left = if self.is_alone { 0 } else { descendants().map_or(1, |left| left.len().max(1)) };
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Ended {
            code: self.status.and_then(WaitStatus::exit_status),
            signal: self.status.and_then(WaitStatus::terminating_signal),
            killed: count(killed.len()),
            left: count(left),
            failure,
        }
    }

    /// Waits until the first process of the job ends, or everything is to end. What it left gets a moment, for
    /// those who read the job's last words.
    fn main_end(&mut self) -> Option<Failure> {
        let mut unseen = 0;
        let mut looks = 0_u32;
        let mut due = Instant::now() + limits::JOB_WATCH;
        while self.status.is_none() {
            match self.inbox.recv_timeout(due.saturating_duration_since(Instant::now())) {
                Ok(GuardMessage::Kill) | Err(RecvTimeoutError::Disconnected) => return None,
                Ok(news) => self.note(&news),
                Err(RecvTimeoutError::Timeout) => {}
            }
            // Also when there is always news: orphans that end all the time must not keep it from looking.
            if self.status.is_some() || Instant::now() < due {
                continue;
            }
            match self.look(looks.is_multiple_of(limits::JOB_MEMORY_LOOKS)) {
                Ok(None) => unseen = 0,
                Ok(failure) => return failure,
                Err(_) if unseen < limits::JOB_UNSEEN => unseen += 1,
                Err(_) => return Some(Failure::Unwatched),
            }
            looks = looks.wrapping_add(1);
            due = Instant::now() + limits::JOB_WATCH;
        }
        self.wait_alone(limits::LEFTOVER_GRACE);
        None
    }

    /// Looks whether the job has too much of something. Only a look that is `thorough` is dear where the machine is
    /// not much busier than before.
    fn look(&self, thorough: bool) -> io::Result<Option<Failure>> {
        if cfg!(not(target_os = "linux")) {
            return Ok(None);
        }
        let (before, now) = (self.before, processes::machine()?);
        let more = now.threads.saturating_sub(before.threads);
        if more > limits::JOB_CROWD {
            // Whoever they belong to: this job must not keep the host and its guard from their turn.
            let _ = rustix::process::setpriority_pgrp(Some(self.main), limits::CROWD_NICENESS);
        }
        if now.is_out_of_memory(&before) {
            return Ok(Some(Failure::MachineOutOfMemory));
        }
        let most = self.memory.unwrap_or(u64::MAX);
        if !thorough && more <= limits::JOB_PROCESSES && before.available.saturating_sub(now.available) < most / 4 {
            return Ok(None);
        }
        let found = descendants()?;
        if found.len() > limits::JOB_PROCESSES {
            return Ok(Some(Failure::TooManyProcesses));
        }
        Ok((processes::memory(&found, most) > most).then_some(Failure::TooMuchMemory(most)))
    }

    /// Asks everything to end, and kills what is left after a time, which is then given some time to be gone;
    /// returns what it was.
    fn end_all(&mut self, grace: Duration, patience: Duration) -> HashSet<Pid> {
        let mut killed = HashSet::new();
        if self.is_alone {
            return killed;
        }
        if !grace.is_zero() {
            if let Ok(found) = descendants() {
                killed.extend(found.iter().map(|process| process.pid));
                processes::signal(&found, Signal::TERM);
                // A stopped process hears of it only when it goes on.
                processes::signal(&found, Signal::CONT);
            } else {
                killed.extend(self.children.signal(Signal::TERM));
                self.children.signal(Signal::CONT);
            }
            self.signal_group(Signal::TERM);
            self.wait_alone(grace);
        }
        let until = Instant::now() + patience;
        while !self.is_alone && Instant::now() < until {
            let step = if processes::freeze_and_kill(rustix::process::getpid(), descendants, &mut killed).is_ok() {
                KILL_STEP
            } else {
                // Each time one generation dies, and the next becomes the guard's.
                killed.extend(self.children.signal(Signal::KILL));
                BLIND_KILL_STEP
            };
            self.signal_group(Signal::KILL);
            self.wait_alone(step);
        }
        killed
    }

    /// Signals the process group of the job, for when processes cannot be listed.
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

    fn note(&mut self, news: &GuardMessage) {
        match news {
            GuardMessage::Reaped(pid, status) if *pid == self.main => self.status = Some(*status),
            // It is ending already.
            GuardMessage::Reaped(..) | GuardMessage::Kill => {}
            GuardMessage::Alone => self.is_alone = true,
        }
    }
}
