//! Who is at the other end of a connection: the same user, and no command of the session itself.

use std::fs;

use tokio::net::UnixStream;

/// Processes above one that are looked at.
const DEPTH: usize = 64;

/// Checks who has connected.
///
/// # Errors
/// The sentence for whoever may not.
pub(super) fn check(stream: &UnixStream) -> Result<(), &'static str> {
    let peer = stream.peer_cred().map_err(|_| "nobody knows who you are")?;
    if peer.uid() != rustix::process::geteuid().as_raw() {
        return Err("this session is another user's");
    }
    // A command that an agent runs could answer its own questions here.
    let own = i32::try_from(std::process::id()).ok();
    match peer.pid() {
        Some(pid) if parents(pid).any(|parent| Some(parent) == own) => {
            Err("a program that the session started cannot steer it")
        }
        Some(_) | None => Ok(()),
    }
}

/// Returns the processes above one, the nearest first.
fn parents(pid: i32) -> impl Iterator<Item = i32> {
    std::iter::successors(parent(pid), |pid| parent(*pid)).take(DEPTH)
}

fn parent(pid: i32) -> Option<i32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    parent.trim().parse().ok().filter(|parent| *parent > 0)
}
