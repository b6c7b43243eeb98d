//! The first process in the namespaces of a job: it makes the job's view of the machine, gives all rights away, starts
//! the job, and reaps what loses its parent. When it ends, the kernel kills whatever is left in the namespaces.

use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::signal::SigSet;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use rustix::process::{DumpableBehavior, Pid, WaitOptions, getegid, geteuid};

use crate::workspace::Network;
use crate::workspace::sandbox::mounts::Mount;
use crate::workspace::sandbox::namespaces::{die_with_parent, is_user};
use crate::workspace::sandbox::view::FileSystemView;
use steersman_base::limits;

/// The time between two looks at what the job left behind.
const LOOK: Duration = Duration::from_millis(2);

/// Makes the view of the machine and leaves this process without rights over it.
///
/// # Errors
/// One sentence; nothing may run then.
pub(super) fn prepare(mounts: &[Mount], cwd: &Path, network: Network, user: (u32, u32)) -> Result<(), String> {
    let describe = |error: Errno| error.to_string();
    die_with_parent()?;
    if has_no_parent() {
        return Err("the parent process is gone".to_owned());
    }
    // The outer process blocks them all for itself, and the job would inherit it.
    SigSet::all().thread_unblock().map_err(|error| error.to_string())?;
    rustix::process::setsid().map_err(describe)?;
    // The maps of the next user are written through it: the one in the view is closed.
    let processes = rustix::fs::open("/proc", OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).map_err(describe)?;
    let mut view = FileSystemView::new()?;
    for mount in mounts {
        view.add(mount)?;
    }
    view.enter()?;
    rustix::process::chdir(cwd).map_err(|error| format!("{}: {error}", cwd.display()))?;
    match network {
        Network::Off => raise_loopback().map_err(|error| format!("the loopback: {error}"))?,
        Network::On => {}
    }
    // Another namespace below, in which nothing that was made here can be changed.
    let here = (geteuid().as_raw(), getegid().as_raw());
    nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWUSER).map_err(|error| error.to_string())?;
    is_user(&processes, (user.0, here.0), (user.1, here.1)).map_err(|error| format!("no user for the job: {error}"))?;
    die_with_parent()?;
    // The job is the same user: it must not look into the process that reports its end.
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(describe)
}

/// Waits for the job and for everything else that ends; returns how the job ended.
pub(super) fn wait_for(job: u32) -> (Option<i32>, Option<i32>) {
    let job = i32::try_from(job).ok().and_then(Pid::from_raw);
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((ended, status))) if Some(ended) == job => {
                return (status.exit_status(), status.terminating_signal());
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return (None, None),
        }
    }
}

/// Waits a moment for the end of what the job left behind.
pub(super) fn wait_for_others() {
    let until = Instant::now() + limits::LEFTOVER_GRACE;
    while Instant::now() < until && rustix::process::wait(WaitOptions::NOHANG).is_ok() {
        std::thread::sleep(LOOK);
    }
}

/// Returns whether the outer process has ended before this one asked to die with it.
fn has_no_parent() -> bool {
    let stdin = rustix::stdio::stdin();
    let mut pipe = [PollFd::new(&stdin, PollFlags::IN)];
    let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut pipe, Some(&now)).is_err() || pipe.iter().any(|pipe| pipe.revents().contains(PollFlags::HUP))
}

/// Sets the only device of a new network namespace going; the kernel gives it its addresses.
fn raise_loopback() -> Result<(), String> {
    const NEW_LINK: u16 = 16;
    const REQUEST: u16 = 1;
    const ACKNOWLEDGE: u16 = 4;
    const ERROR: u16 = 2;
    /// The device, in every network namespace.
    const LOOPBACK: i32 = 1;
    const UP: u32 = 1;
    const BYTES: u32 = 32;

    // A header (length, type, flags, number, sender), then the device (family, type, index, flags, which of them).
    let mut message = Vec::new();
    message.extend(BYTES.to_ne_bytes());
    message.extend(NEW_LINK.to_ne_bytes());
    message.extend((REQUEST | ACKNOWLEDGE).to_ne_bytes());
    message.extend([0; 8]);
    message.extend([0; 4]);
    message.extend(LOOPBACK.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    message.extend(UP.to_ne_bytes());

    let describe = |error: Errno| error.to_string();
    let socket = rustix::net::socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None);
    let socket = socket.map_err(describe)?;
    rustix::net::sendto(&socket, &message, SendFlags::empty(), &SocketAddrNetlink::new(0, 0)).map_err(describe)?;
    let mut answer = [0; 1024];
    let (read, _) = rustix::net::recv(&socket, &mut answer, RecvFlags::empty()).map_err(describe)?;
    let answer = answer.get(..read).unwrap_or_default();
    let kind = answer.get(4..).and_then(<[u8]>::first_chunk).copied().map(u16::from_ne_bytes);
    let number = answer.get(16..).and_then(<[u8]>::first_chunk).copied().map(i32::from_ne_bytes);
    // The answer is an error, of which zero says that there is none.
    match (kind, number) {
        (Some(ERROR), Some(0)) => Ok(()),
        (Some(ERROR), Some(number)) => Err(Errno::from_raw_os_error(-number).to_string()),
        _ => Err("the kernel does not answer".to_owned()),
    }
}
