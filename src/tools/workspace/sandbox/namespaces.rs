//! Namespaces of our own: this program makes the mounts of a job and its namespaces itself, as bubblewrap would.
//!
//! Two processes of the hidden sub-command. The outer one ([`run`]) makes the namespaces, with a user that is the
//! superuser in them and nowhere else, starts the inner one ([`super::init`]) as their first process, and passes on
//! how it ends. Each dies with its parent, and the namespaces with their first process.

use std::ffi::OsString;

use crate::workspace::Job;
use crate::workspace::sandbox::mounts::{self, Mount};
use crate::workspace::sandbox::{SUBCOMMAND, SandboxResources, inner};

/// Returns the command line that runs a job confined.
pub(super) fn wrap(own: &SandboxResources, job: &Job) -> Vec<OsString> {
    let mut line: Vec<OsString> = vec![own.around.program.itself(), SUBCOMMAND.into(), inner::NAMESPACES.into()];
    line.extend(mounts::of(own, job).iter().flat_map(Mount::arguments));
    line.extend(["--chdir".into(), job.cwd.clone().into()]);
    line.extend(inner::within_mounts(own, job));
    line
}

#[cfg(target_os = "linux")]
pub(super) use outer::{die_with_parent, is_user, run};

#[cfg(target_os = "linux")]
mod outer {
    //! The outer process.

    use std::ffi::OsString;
    use std::fs::File;
    use std::io::{self, Write as _};
    use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
    use std::os::unix::process::CommandExt as _;
    use std::path::Path;
    use std::process::{Command, Stdio};

    use nix::sched::CloneFlags;
    use nix::sys::signal::SigSet;
    use rustix::fs::{FileType, Mode, OFlags};
    use rustix::process::{Signal, getegid, geteuid};

    use crate::workspace::Network;
    use crate::workspace::own_program::ITSELF;
    use crate::workspace::sandbox::{SUBCOMMAND, inner};

    /// Runs the arguments of the sub-command in namespaces of their own; returns the exit code of the job.
    pub(in crate::workspace::sandbox) fn run(
        args: impl Iterator<Item = OsString>,
        network: Network,
    ) -> Result<u8, String> {
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
        die_with_parent()?;
        // The job hears of a signal itself, and its end is to be passed on.
        SigSet::all().thread_block().map_err(|error| failed("signals", error.into()))?;
        let input = job_input().map_err(|error| failed("the input of the job", error))?;
        let number = input.as_ref().map(|input| input.as_raw_fd().to_string());
        let child = Command::new(ITSELF)
            .arg0("steersman")
            .args([SUBCOMMAND, inner::INIT].map(OsString::from))
            .args([user, group].map(|id| id.to_string()))
            .args(number.iter().flat_map(|number| [inner::INPUT, number]))
            .args(args)
            // Open for as long as this process lives.
            .stdin(Stdio::piped())
            .spawn();
        let mut child = child.map_err(|error| failed("no first process", error))?;
        drop(input);
        let alive = child.stdin.take();
        let status = child.wait().map_err(|error| failed("the first process", error))?;
        drop(alive);
        Ok(inner::exit_code(status.code(), std::os::unix::process::ExitStatusExt::signal(&status)))
    }

    /// Returns a copy of this process's input for the first process, which inherits it; nothing where the input is empty.
    fn job_input() -> io::Result<Option<OwnedFd>> {
        let input = io::stdin();
        let is_pipe = FileType::from_raw_mode(rustix::fs::fstat(&input)?.st_mode) == FileType::Fifo;
        Ok(if is_pipe { Some(rustix::io::dup(&input)?) } else { None })
    }

    /// Makes the kernel kill this process when its parent ends. A change of credentials resets that.
    pub(in crate::workspace::sandbox) fn die_with_parent() -> Result<(), String> {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| error.to_string())
    }

    /// Maps the only user and group of a new user namespace, each given as the number inside and the one outside.
    /// `processes` is the directory `/proc`.
    pub(in crate::workspace::sandbox) fn is_user(
        processes: impl AsFd,
        user: (u32, u32),
        group: (u32, u32),
    ) -> io::Result<()> {
        let write = |name: &str, text: &str| -> io::Result<()> {
            let file = rustix::fs::openat(&processes, name, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
            File::from(file).write_all(text.as_bytes())
        };
        // Without it a group that is meant to shut somebody out could be given up.
        write("self/setgroups", "deny")?;
        write("self/uid_map", &format!("{} {} 1", user.0, user.1))?;
        write("self/gid_map", &format!("{} {} 1", group.0, group.1))
    }
}
