//! A safe interface to seccomp's user notifications: a thread confines itself with a filter, and another thread answers
//! the system calls that the filter picks, of that thread and of all that it starts.
//!
//! Needs Linux 5.14, where an answer and a descriptor arrive together. Besides, copies of a process that has one thread.
//!
//! The only unsafe code of the program, because no kept crate in Rust has a safe form of it. Used by the sandbox of commands.
#![cfg(target_os = "linux")]

use std::io;
use std::mem::zeroed;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};

pub use libc::sock_filter as Instruction;

/// The verdict of a filter that makes the kernel ask the listener.
pub const NOTIFY: u32 = libc::SECCOMP_RET_USER_NOTIF;
/// The verdict of a filter that lets a call pass.
pub const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
/// The verdict of a filter that answers with an error, whose number is added to it.
pub const ERROR: u32 = libc::SECCOMP_RET_ERRNO;

/// The wake-up of the other side on the same processor: each waits for the other.
const SYNC_WAKE_UP: u64 = 1;

/// `SECCOMP_ADDFD_FLAG_SEND`, as the structure holds it: the descriptor is the answer.
const WITH_ANSWER: u32 = 2;

/// A system call that waits for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notification {
    /// The number of this notification, for the answer.
    pub id: u64,
    /// The thread that calls, as this process numbers it.
    pub thread: u32,
    /// The number of the call.
    pub call: i64,
    /// Its arguments, as they were in the registers.
    pub arguments: [u64; 6],
}

/// The receiver of notifications. When the last one is closed, the calls fail with `ENOSYS`.
#[derive(Debug)]
pub struct Listener(OwnedFd);

impl Listener {
    /// Confines this thread, and what it starts from now on, for ever; returns the other end. The thread must have given up
    /// new privileges, and its own calls wait for answers too.
    ///
    /// # Errors
    /// That of the kernel, when it has no notifications, or another listener stands around this process.
    pub fn install(program: &[Instruction]) -> io::Result<Self> {
        // A call that was received is carried out once: no signal may restart it. Linux 5.19 and later.
        let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
        let listener = match load(program, flags) {
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
                load(program, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER)?
            }
            loaded => loaded?,
        };
        let listener = Self(listener);
        // Only quicker, and only since Linux 6.6.
        let _ = listener.set_flags(SYNC_WAKE_UP);
        Ok(listener)
    }

    /// Waits for the next call.
    ///
    /// # Errors
    /// That of the kernel; `ENOENT` when the caller was killed meanwhile.
    #[allow(unsafe_code, reason = "ioctl")]
    pub fn receive(&self) -> io::Result<Notification> {
        // SAFETY: all of its fields are integers, for which zero is a value.
        let mut found: libc::seccomp_notif = unsafe { zeroed() };
        // SAFETY: the request takes a pointer to this structure, which lives until it returns.
        let returned = unsafe { libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut found) };
        checked(returned)?;
        Ok(Notification { id: found.id, thread: found.pid, call: i64::from(found.data.nr), arguments: found.data.args })
    }

    /// Returns whether a call still waits: what was read of its thread until now was that thread's.
    #[must_use]
    #[allow(unsafe_code, reason = "ioctl")]
    pub fn is_waiting(&self, id: u64) -> bool {
        // SAFETY: the request takes a pointer to a number of 64 bits, which lives until it returns.
        let returned = unsafe { libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &raw const id) };
        returned == 0
    }

    /// Answers a call with what it returns, or with the number of an error.
    ///
    /// # Errors
    /// That of the kernel; `ENOENT` when nobody waits any more.
    #[allow(unsafe_code, reason = "ioctl")]
    pub fn answer(&self, id: u64, answer: Result<i64, i32>) -> io::Result<()> {
        let (val, error) = match answer {
            Ok(value) => (value, 0),
            Err(number) => (0, -number),
        };
        let mut response = libc::seccomp_notif_resp { id, val, error, flags: 0 };
        // SAFETY: the request takes a pointer to this structure, which lives until it returns.
        let returned = unsafe { libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut response) };
        checked(returned)
    }

    /// Gives the caller a descriptor of what is open here, and answers its call with that.
    ///
    /// # Errors
    /// That of the kernel, when the caller may have no more descriptors or is gone; the call is not answered then.
    #[allow(unsafe_code, reason = "ioctl")]
    pub fn answer_with_descriptor(&self, id: u64, open: BorrowedFd<'_>, closes_on_exec: bool) -> io::Result<()> {
        let given = libc::seccomp_notif_addfd {
            id,
            flags: WITH_ANSWER,
            srcfd: open.as_raw_fd().cast_unsigned(),
            newfd: 0,
            newfd_flags: if closes_on_exec { libc::O_CLOEXEC.cast_unsigned() } else { 0 },
        };
        // SAFETY: the request takes a pointer to this structure, which lives until it returns.
        let returned = unsafe { libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ADDFD, &raw const given) };
        checked(returned)
    }

    #[allow(unsafe_code, reason = "ioctl")]
    fn set_flags(&self, flags: u64) -> io::Result<()> {
        // SAFETY: the request takes the number itself.
        let returned = unsafe { libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SET_FLAGS, flags) };
        checked(returned)
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[allow(unsafe_code, reason = "seccomp(2)")]
fn load(program: &[Instruction], flags: libc::c_ulong) -> io::Result<OwnedFd> {
    let length = u16::try_from(program.len()).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    let program = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut() };
    // SAFETY: the kernel copies the program, which lives until the call returns, and does not write in it.
    let returned =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program) };
    let number = i32::try_from(returned).map_err(io::Error::other)?;
    if number < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call returned a new descriptor, which nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// The process in which a call of [`fork`] goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forked {
    /// The process that called; the number of the copy.
    Parent(u32),
    /// The copy.
    Child,
}

/// Makes a copy of this process, which has one thread: a program is neither loaded nor linked again.
///
/// # Errors
/// That of the kernel; [`io::ErrorKind::Unsupported`] when other threads run, whose locks nobody would release in the copy.
#[allow(unsafe_code, reason = "fork(2)")]
pub fn fork() -> io::Result<Forked> {
    if std::fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "a process with several threads is not copied"));
    }
    // SAFETY: no other thread exists, and only another one could make some, so nothing is half done in the copy.
    let returned = unsafe { libc::fork() };
    checked(returned)?;
    Ok(if returned == 0 { Forked::Child } else { Forked::Parent(returned.unsigned_abs()) })
}

fn checked(returned: libc::c_int) -> io::Result<()> {
    if returned < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
