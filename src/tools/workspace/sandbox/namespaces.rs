//! Namespaces: this program makes the mounts of a job and its namespaces itself, or has the program `bwrap` make them where
//! only that may.
//!
//! Of our own there are two processes. The outer one ([`separate`]) makes the namespaces, with a user that is the superuser in
//! them and nowhere else, copies itself as their first process ([`super::init`]), and passes on how that ends. Each dies with
//! its parent, and the namespaces with their first process.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::process::Stdio;

use nix::sched::CloneFlags;
use nix::sys::signal::SigSet;
use rustix::fs::{FileType, Mode, OFlags};
use rustix::process::{Signal, getegid, geteuid};
use steersman_seccomp_notify::{Forked, fork};

use crate::workspace::own_program::INHERITED;
use crate::workspace::sandbox::listed_mount::ExpectedMount;
use crate::workspace::sandbox::mounts::{self, Mount};
use crate::workspace::sandbox::{GIT_CONFIG, SUBCOMMAND, SandboxResources, init, inner};
use crate::workspace::{Job, Network};

/// Returns the command line that runs a job confined.
pub(super) fn wrap(own: &SandboxResources, job: &Job) -> Vec<OsString> {
    let mut line: Vec<OsString> = vec![own.around.program.itself(), SUBCOMMAND.into(), inner::NAMESPACES.into()];
    line.extend(mounts::mounts_for(own, job).iter().flat_map(Mount::arguments));
    line.extend(["--chdir".into(), job.cwd.clone().into()]);
    line.extend(inner::arguments(own, job, &mounts::temp(own, job), Path::new(GIT_CONFIG)));
    line
}

/// Returns the command line that runs a job confined by bubblewrap.
pub(super) fn wrap_in_bubblewrap(bwrap: &Path, own: &SandboxResources, job: &Job) -> Vec<OsString> {
    let mut line: Vec<OsString> = vec![bwrap.into()];
    line.extend(["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"].map(OsString::from));
    match job.confinement.network {
        Network::Off => {}
        Network::On => line.push("--share-net".into()),
    }
    let mounts = mounts::mounts_for(own, job);
    line.extend(mounts.iter().flat_map(Mount::arguments));
    line.extend(["--chdir".into(), job.cwd.clone().into()]);
    // As a file that is open: in the view there is no place of it, and its file on the machine may be another one by now.
    line.extend(["--", INHERITED, SUBCOMMAND, inner::INSIDE, inner::PROGRAM, INHERITED].map(OsString::from));
    line.extend(ExpectedMount::from_mounts(&mounts).iter().flat_map(ExpectedMount::arguments));
    line.extend(inner::arguments(own, job, &mounts::temp(own, job), Path::new(GIT_CONFIG)));
    line
}

/// The process that goes on after the namespaces are made.
pub(super) enum Side {
    /// The outer one; the exit code of the job, which has ended.
    Outer(u8),
    /// The first one within.
    First {
        user: u32,
        group: u32,
        /// The input of the job.
        input: Stdio,
    },
}

/// Makes namespaces and their first process. This process has one thread.
pub(super) fn separate(network: Network) -> Result<Side, String> {
    let failed = |what: &str, error: io::Error| format!("{what}: {error}");
    die_with_parent()?;
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let mut wanted = CloneFlags::CLONE_NEWUSER
        | CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWPID
        | CloneFlags::CLONE_NEWIPC
        | CloneFlags::CLONE_NEWUTS;
    wanted.set(CloneFlags::CLONE_NEWCGROUP, Path::new("/proc/self/ns/cgroup").exists());
    wanted.set(CloneFlags::CLONE_NEWNET, network == Network::Off);
    nix::sched::unshare(wanted).map_err(|error| failed("no new namespaces", error.into()))?;
    let process = rustix::fs::open("/proc", OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
    let process = process.map_err(|error| failed("/proc", error.into()))?;
    is_user(&process, (0, user), (0, group)).map_err(|error| failed("no user in the namespace", error))?;
    drop(process);
    die_with_parent()?;
    // The job hears of a signal itself, and its end is to be passed on.
    SigSet::all().thread_block().map_err(|error| failed("signals", error.into()))?;
    // Its other end is open for as long as this process lives.
    let (parent, alive) = io::pipe().map_err(|error| failed("a pipe", error))?;
    match fork().map_err(|error| failed("no first process", error))? {
        Forked::Parent(first) => {
            drop(parent);
            let (code, signal) = init::wait_for(first);
            drop(alive);
            Ok(Side::Outer(inner::exit_code(code, signal)))
        }
        Forked::Child => {
            drop(alive);
            let input = job_input().map_err(|error| failed("the input of the job", error))?;
            rustix::stdio::dup2_stdin(&parent).map_err(|error| failed("a pipe", error.into()))?;
            Ok(Side::First { user, group, input: input.map_or_else(Stdio::null, Stdio::from) })
        }
    }
}

/// Returns a copy of this process's input; nothing where the input is empty.
fn job_input() -> io::Result<Option<OwnedFd>> {
    let input = io::stdin();
    let is_pipe = FileType::from_raw_mode(rustix::fs::fstat(&input)?.st_mode) == FileType::Fifo;
    Ok(if is_pipe { Some(rustix::io::fcntl_dupfd_cloexec(&input, 3)?) } else { None })
}

/// Makes the kernel kill this process when its parent ends. A change of credentials resets that.
pub(super) fn die_with_parent() -> Result<(), String> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| error.to_string())
}

/// Maps the only user and group of a new user namespace, each given as the number inside and the one outside.
/// `processes` is the directory `/proc`.
pub(super) fn is_user(processes: impl AsFd, user: (u32, u32), group: (u32, u32)) -> io::Result<()> {
    let write = |name: &str, text: &str| -> io::Result<()> {
        let file = rustix::fs::openat(&processes, name, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
        File::from(file).write_all(text.as_bytes())
    };
    // Without it a group that is meant to shut somebody out could be given up.
    write("self/setgroups", "deny")?;
    write("self/uid_map", &format!("{} {} 1", user.0, user.1))?;
    write("self/gid_map", &format!("{} {} 1", group.0, group.1))
}
