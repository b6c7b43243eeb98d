//! Who is at the other end of a connection: a living process of the same user, and nothing that the session itself started.
//!
//! The kernel hands out a descriptor of the process that connected, so no other process can have come in its place while
//! its parents are read. What cannot be proved is refused.

use tokio::net::UnixStream;

/// The refusal of a caller of which the kernel does not say who it is.
const UNKNOWN: &str = "nobody knows who you are";

/// Checks who has connected.
///
/// # Errors
/// The sentence for whoever may not.
pub(super) fn check(stream: &UnixStream) -> Result<(), &'static str> {
    let peer = stream.peer_cred().map_err(|_| UNKNOWN)?;
    if peer.uid() != rustix::process::geteuid().as_raw() {
        return Err("this session is another user's");
    }
    #[cfg(target_os = "linux")]
    process::check(stream, peer.pid().ok_or(UNKNOWN)?)?;
    Ok(())
}

#[cfg(target_os = "linux")]
mod process {
    //! Which process it is, and what started it.

    use std::fs;
    use std::os::fd::OwnedFd;

    use nix::errno::Errno;
    use nix::sys::socket::{getsockopt, sockopt};
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, PidfdFlags, pidfd_open};
    use tokio::net::UnixStream;

    use super::UNKNOWN;

    /// Processes above one that are looked at.
    const DEPTH: usize = 256;

    /// The refusal of a caller that is gone.
    const ENDED: &str = "the program that connected has ended, so nobody can tell what started it";

    /// Returns a descriptor of the process that connected.
    fn descriptor(stream: &UnixStream, pid: Pid) -> Result<OwnedFd, &'static str> {
        match getsockopt(&stream, sockopt::PeerPidfd) {
            // Linux before 6.5: its number may have gone to another process by now. That one does not have the key.
            Err(Errno::ENOPROTOOPT) => {}
            found => return found.map_err(|_| ENDED),
        }
        pidfd_open(pid, PidfdFlags::empty()).map_err(|_| ENDED)
    }

    /// Checks the process that has connected.
    pub(super) fn check(stream: &UnixStream, pid: i32) -> Result<(), &'static str> {
        let pid = Pid::from_raw(pid).ok_or(UNKNOWN)?;
        let descriptor = descriptor(stream, pid)?;
        let before = parents(pid)?;
        // A process above it may have ended in between, and its number may have gone to another one.
        if parents(pid)? != before {
            return Err("the program that connected has changed its parent");
        }
        // As long as it lives the number was its own.
        let mut polled = [PollFd::new(&descriptor, PollFlags::IN)];
        match poll(&mut polled, Some(&Timespec::default())) {
            Ok(0) => {}
            Ok(_) | Err(_) => return Err(ENDED),
        }
        // A command that an agent runs could answer its own questions here.
        let own = rustix::process::getpid();
        if before.contains(&own) { Err("a program that the session started cannot steer it") } else { Ok(()) }
    }

    /// Returns the processes above one, the nearest first, up to the first of the machine.
    fn parents(pid: Pid) -> Result<Vec<Pid>, &'static str> {
        let mut found = Vec::new();
        let mut at = pid;
        while let Some(parent) = parent(at)? {
            if found.len() == DEPTH {
                return Err("too many programs stand above the one that connected");
            }
            found.push(parent);
            at = parent;
        }
        Ok(found)
    }

    /// Returns the parent of a process; `None` of one that has none here.
    fn parent(pid: Pid) -> Result<Option<Pid>, &'static str> {
        let status = fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero())).map_err(|_| UNKNOWN)?;
        let parent =
            status.lines().find_map(|line| line.strip_prefix("PPid:")).and_then(|number| number.trim().parse().ok());
        parent.map(Pid::from_raw).ok_or(UNKNOWN)
    }
}
