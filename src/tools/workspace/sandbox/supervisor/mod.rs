//! The supervisor of a job: it carries out, in the job's place, each system call that can change a name or open one for
//! writing, unless the name is protected. So protected names cannot be written, those that do not exist yet included.
//!
//! A filter makes the kernel hand these calls over (seccomp's user notifications). The path is read once, gone step by step
//! ([`resolve`]), compared with the policy ([`ProtectedPlaces`]), and what was compared is what is used: the call itself
//! never runs, since the job could have changed the path in its memory meanwhile. One thread answers one call after the
//! other, so nothing of the job renames anything in between. The supervisor has no more rights than the job, the same view
//! of the machine and the same Landlock domain; the job can neither look into it nor signal it. When it ends, the calls
//! fail. What a job has open from its start are its pipes.
//!
//! An index of git comes by a move only, as a copy whose names were looked at; a file with other names is parted from them
//! when it is written ([`copies`]). Not asked about are owners and times of files: neither changes what a file says or
//! whether it runs.
//!
//! # Where things are
//!
//! - naming a socket, in the place of the job: one with a path is a name in a directory: `bind.rs`
//! - the operations on names, each carried out in the place of the job once the policy allows it: `calls.rs`
//! - files that are put in the place of others while nobody of the job has them open: `copies.rs`
//! - which system calls the kernel asks about: `filter.rs`
//! - opening what has a name, in the place of the job: `open.rs`
//! - the way from a path to a name in a directory, as the kernel would go it for the thread that calls, step by step and
//!   with everything on it held open: `resolve.rs`
//! - the thread whose call waits: `target.rs`

mod bind;
mod calls;
mod copies;
mod filter;
mod open;
mod resolve;
mod target;

use std::cell::RefCell;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
use std::thread;

use nix::sys::signal::SigSet;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{DumpableBehavior, getpid, set_child_subreaper, set_dumpable_behavior};
use steersman_seccomp_notify::{Listener, Notification};

use self::open::WaitingOpen;
use self::resolve::FileSystem;
use self::target::Target;
use crate::workspace::sandbox::inner::StartError;
use crate::workspace::sandbox::landlock;
use steersman_base::names_lock::NamesLock;
use steersman_base::protected::ProtectedPlaces;

/// The time between two looks at an `open` that waits for a reader.
const READER_LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 2_000_000 };

/// Starts a job whose calls this process answers from then on, after the job's thread has confined itself further; returns
/// its process number. Supervisors of other jobs share the lock of the directory `locked`. This process hears no signals any more, and adopts what loses its parent.
pub(super) fn start(
    mut command: Command,
    places: ProtectedPlaces,
    locked: &Path,
    view: View,
    confine: impl FnOnce() -> Result<(), String> + Send + 'static,
) -> Result<u32, StartError> {
    let named = |what: &str, error: &dyn std::fmt::Display| StartError::Confinement(format!("{what}: {error}"));
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(|error| named("privacy", &error))?;
    // Some kernels let a process look only into what descends from it.
    set_child_subreaper(Some(getpid())).map_err(|error| named("orphans", &error))?;
    let files = FileSystem::new().map_err(|error| named("/proc", &error))?;
    let lock = NamesLock::new(locked).map_err(|error| named(&locked.to_string_lossy(), &error))?;
    let supervisor = Supervisor { files, places, lock, repositories: RefCell::default(), view };
    let mask = SigSet::thread_get_mask().map_err(|error| named("signals", &error))?;
    SigSet::all().thread_block().map_err(|error| named("signals", &error))?;
    let (sender, listeners) = mpsc::channel::<Listener>();
    let serve = move || {
        if let Ok(listener) = listeners.recv() {
            supervisor.serve(&listener);
        }
    };
    thread().spawn(serve).map_err(|error| named("the supervisor", &error))?;
    // A filter confines one thread and what that starts.
    let start = move || {
        mask.thread_set_mask().map_err(|error| named("signals", &error))?;
        // Apart from this process, which it must not signal.
        landlock::scope().map_err(StartError::Confinement)?;
        confine().map_err(StartError::Confinement)?;
        let listener = Listener::install(&filter::program()).map_err(|error| named("system calls", &error))?;
        sender.send(listener).map_err(|_| StartError::Confinement("the supervisor is gone".to_owned()))?;
        command.spawn().map(|child| child.id()).map_err(StartError::Program)
    };
    let starter = thread().spawn(start).map_err(|error| named("the job's thread", &error))?;
    starter.join().unwrap_or_else(|_| Err(StartError::Confinement("the job's thread has failed".to_owned())))
}

/// Returns what makes a thread, which must fit into what the job may have.
fn thread() -> thread::Builder {
    const STACK_BYTES: usize = 512 * 1024;
    thread::Builder::new().stack_size(STACK_BYTES)
}

struct Supervisor {
    files: FileSystem,
    places: ProtectedPlaces,
    lock: NamesLock,
    /// The locks of directories that the call which is carried out could make repositories.
    repositories: RefCell<Vec<NamesLock>>,
    view: View,
}

/// What a job sees of the file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum View {
    /// What it may reach.
    Own,
    /// The machine's: what it may not write, others' rights included, is closed call by call.
    Machine,
}

/// The answer to a call.
enum Answer {
    Value(i64),
    /// A descriptor of what was opened, and whether a program that is executed loses it.
    Descriptor(OwnedFd, bool),
    /// Nothing yet.
    Later(WaitingOpen),
}

impl Supervisor {
    fn serve(&self, listener: &Listener) {
        let mut waiting: Vec<(u64, WaitingOpen)> = Vec::new();
        loop {
            if !waiting.is_empty() {
                waiting = self.retry(listener, waiting);
                let mut next = [PollFd::new(listener, PollFlags::IN)];
                match poll(&mut next, Some(&READER_LOOK)) {
                    Ok(0) | Err(Errno::INTR) if !waiting.is_empty() => continue,
                    Ok(_) | Err(_) => {}
                }
                if waiting.is_empty() && !next.iter().any(|next| next.revents().contains(PollFlags::IN)) {
                    continue;
                }
            }
            match listener.receive() {
                Ok(call) => match self.answer_to(listener, &call) {
                    Ok(Answer::Later(open)) => waiting.push((call.id, open)),
                    answer => send(listener, call.id, answer),
                },
                // The caller was killed, or there is nobody left who could call.
                Err(error) if error.raw_os_error() == Some(libc::ENOENT) => {
                    let mut next = [PollFd::new(listener, PollFlags::IN)];
                    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
                    if poll(&mut next, Some(&now)).is_err()
                        || next.iter().any(|next| next.revents().contains(PollFlags::HUP))
                    {
                        return;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    fn answer_to(&self, listener: &Listener, call: &Notification) -> Result<Answer, Errno> {
        let target = Target::open(&self.files.processes, call.thread)?;
        // From here on what the directory says is said of that thread.
        if !listener.is_waiting(call.id) {
            return Err(Errno::SRCH);
        }
        let (operation, arguments) = filter::operation(call).ok_or(Errno::NOSYS)?;
        self.carry_out(&target, operation, arguments)
    }

    /// Tries again what waits for a reader; returns what still waits.
    fn retry(&self, listener: &Listener, waiting: Vec<(u64, WaitingOpen)>) -> Vec<(u64, WaitingOpen)> {
        let mut still = Vec::new();
        for (id, open) in waiting {
            if !listener.is_waiting(id) {
                continue;
            }
            match self.open_again(open) {
                Ok(Answer::Later(open)) => still.push((id, open)),
                answer => send(listener, id, answer),
            }
        }
        still
    }
}

/// Sends an answer. Who was killed meanwhile does not hear it.
fn send(listener: &Listener, id: u64, answer: Result<Answer, Errno>) {
    let failed = |error: i32| {
        let _ = listener.answer(id, Err(error));
    };
    match answer {
        Ok(Answer::Value(value)) => {
            let _ = listener.answer(id, Ok(value));
        }
        Ok(Answer::Descriptor(open, closes_on_exec)) => {
            use std::os::fd::AsFd as _;
            if let Err(error) = listener.answer_with_descriptor(id, open.as_fd(), closes_on_exec) {
                failed(error.raw_os_error().unwrap_or(libc::EMFILE));
            }
        }
        Ok(Answer::Later(_)) => failed(libc::EAGAIN),
        Err(error) => failed(error.raw_os_error()),
    }
}
