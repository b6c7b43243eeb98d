//! The thread whose call waits: what the supervisor reads of it, through its directory in `/proc`, which keeps meaning that
//! thread when the number is given to another.

use std::cell::OnceCell;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;

/// `AT_FDCWD`, as it lies in a register.
pub(super) const CURRENT_DIRECTORY: u64 = libc::AT_FDCWD.cast_unsigned() as u64;
/// Bytes of a path, with its end.
const PATH_BYTES: usize = 4096;
/// Nothing is read across the end of a page, behind which there may be nothing.
const PAGE_BYTES: usize = 4096;

pub(super) struct Target {
    pub thread: u32,
    process: OwnedFd,
    memory: OnceCell<OwnedFd>,
}

/// What the supervisor needs of a thread's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TargetStatus {
    /// The number of its process.
    pub process: u32,
    /// The mask for new files.
    pub mask: Mode,
}

impl Target {
    /// Opens the directory of a thread in that of all processes.
    pub(super) fn open(processes: &OwnedFd, thread: u32) -> Result<Self, Errno> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let process = openat(processes, thread.to_string(), flags, Mode::empty())?;
        Ok(Self { thread, process, memory: OnceCell::new() })
    }

    /// Reads a text that ends with a zero.
    pub(super) fn text(&self, address: u64) -> Result<Vec<u8>, Errno> {
        let mut text = Vec::new();
        let mut chunk = [0; PAGE_BYTES];
        while text.len() < PATH_BYTES {
            let at = address.checked_add(text.len() as u64).ok_or(Errno::FAULT)?;
            let in_page = PAGE_BYTES - usize::try_from(at % PAGE_BYTES as u64).map_err(|_| Errno::FAULT)?;
            let read =
                self.read_memory(at, chunk.get_mut(..in_page.min(PATH_BYTES - text.len())).unwrap_or_default())?;
            let read = chunk.get(..read).unwrap_or_default();
            match memchr::memchr(0, read) {
                Some(end) => {
                    text.extend_from_slice(read.get(..end).unwrap_or_default());
                    return Ok(text);
                }
                None => text.extend_from_slice(read),
            }
        }
        Err(Errno::NAMETOOLONG)
    }

    /// Reads at an address; at least one byte.
    pub(super) fn read_memory(&self, address: u64, into: &mut [u8]) -> Result<usize, Errno> {
        if self.memory.get().is_none() {
            let opened = openat(&self.process, "mem", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
            let _ = self.memory.set(opened);
        }
        let memory = self.memory.get().ok_or(Errno::FAULT)?;
        match rustix::io::pread(memory, into, address) {
            Ok(0) | Err(_) => Err(Errno::FAULT),
            Ok(read) => Ok(read),
        }
    }

    /// Opens what a descriptor of it, or its working directory, is.
    pub(super) fn descriptor(&self, argument: u64) -> Result<OwnedFd, Errno> {
        let number = low(argument).cast_signed();
        let opened = if number == libc::AT_FDCWD {
            openat(&self.process, "cwd", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
        } else {
            openat(&self.process, format!("fd/{number}"), OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
        };
        opened.map_err(|error| if error == Errno::NOENT { Errno::BADF } else { error })
    }

    pub(super) fn status(&self) -> Result<TargetStatus, Errno> {
        let text = self.file("status")?;
        let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let process = field("Tgid:").and_then(|text| text.parse().ok()).ok_or(Errno::SRCH)?;
        let mask = field("Umask:").and_then(|text| u32::from_str_radix(text, 8).ok()).ok_or(Errno::SRCH)?;
        Ok(TargetStatus { process, mask: Mode::from_raw_mode(mask) })
    }

    /// Makes its mask for new files that of this process.
    pub(super) fn lend_mask(&self) -> Result<(), Errno> {
        rustix::process::umask(self.status()?.mask);
        Ok(())
    }

    /// Returns the number of its terminal among those that programs make; `None` without one.
    pub(super) fn terminal(&self) -> Option<u32> {
        /// The major number of those devices.
        const TERMINALS: u32 = 136;
        let text = self.file("stat").ok()?;
        // Behind the name: state, parent, group, session, terminal.
        let number: i32 = text.rsplit_once(')')?.1.split_ascii_whitespace().nth(4)?.parse().ok()?;
        let number = number.cast_unsigned();
        let (major, minor) = ((number >> 8) & 0xFFF, (number & 0xFF) | ((number >> 12) & 0xF_FF00));
        (major == TERMINALS).then_some(minor)
    }

    fn file(&self, name: &str) -> Result<String, Errno> {
        let file = openat(&self.process, name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        let mut bytes = vec![0; 2 * PAGE_BYTES];
        let read = rustix::io::read(&file, &mut bytes)?;
        bytes.truncate(read);
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// Returns the lower half of a register.
pub(super) fn low(argument: u64) -> u32 {
    u32::try_from(argument & u64::from(u32::MAX)).unwrap_or_default()
}
