//! The check, in bubblewrap's view, that each mount is the one that was asked for.
//!
//! Bubblewrap mounts by path, and a command that runs beside can swap a directory for a link between two steps. So what
//! is meant is named by its device and inode before bubblewrap starts, and compared before the job runs.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, StatVfsMountFlags};

use crate::workspace::beneath::Beneath;
use crate::workspace::sandbox::listed_mount::ListedMount;
use crate::workspace::sandbox::mounts::Mount;

const OPEN: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A mount that must be in the view.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ExpectedMount {
    at: PathBuf,
    content: Content,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    /// A file or directory of the machine, by its device and inode.
    OfMachine { device: u64, inode: u64, is_writable: bool },
    /// An empty file system in memory.
    Empty,
    /// Something that was not there, or only behind a link, when it was looked for: it is never right.
    Nothing,
}

impl ExpectedMount {
    /// Returns what a list of mounts, none of which covers another, leads to.
    pub(super) fn of(mounts: &[Mount]) -> Vec<Self> {
        let expected = |mount: &Mount| {
            let content = match mount {
                Mount::ReadOnly(from, _) => Content::of_machine(from, false),
                Mount::Writable(from, _) => Content::of_machine(from, true),
                Mount::Empty(_) => Content::Empty,
                Mount::Link(..) | Mount::Processes(_) | Mount::Devices(_) | Mount::Closed(_) => return None,
            };
            Some(Self { at: mount.at().to_owned(), content })
        };
        mounts.iter().filter_map(expected).collect()
    }

    /// Returns it as arguments of the hidden sub-command.
    pub(super) fn arguments(&self) -> [OsString; 3] {
        let content = match self.content {
            Content::OfMachine { device, inode, is_writable: false } => format!("{device}:{inode}:ro"),
            Content::OfMachine { device, inode, is_writable: true } => format!("{device}:{inode}:rw"),
            Content::Empty => "empty".to_owned(),
            Content::Nothing => "nothing".to_owned(),
        };
        ["--expect".into(), content.into(), self.at.clone().into()]
    }

    /// Reads back what follows the flag.
    fn read((content, at): &(OsString, PathBuf)) -> Option<Self> {
        let content = match content.to_str()?.split(':').collect::<Vec<_>>()[..] {
            ["empty"] => Content::Empty,
            [device, inode, access @ ("ro" | "rw")] => Content::OfMachine {
                device: device.parse().ok()?,
                inode: inode.parse().ok()?,
                is_writable: access == "rw",
            },
            _ => return None,
        };
        Some(Self { at: at.clone(), content })
    }

    fn is_there(&self, listed: &[ListedMount]) -> io::Result<bool> {
        let opened = open(&self.at)?;
        let is_mounted = listed.iter().any(|mount| mount.path == self.at && mount.holds(&opened));
        Ok(is_mounted
            && match self.content {
                Content::Nothing => false,
                Content::Empty => rustix::fs::fstatfs(&opened)?.f_type == libc::TMPFS_MAGIC,
                Content::OfMachine { device, inode, is_writable } => {
                    let found = rustix::fs::fstat(&opened)?;
                    let is_closed = rustix::fs::fstatvfs(&opened)?.f_flag.contains(StatVfsMountFlags::RDONLY);
                    (found.st_dev, found.st_ino) == (device, inode) && (is_writable || is_closed)
                }
            })
    }
}

/// Checks that every mount is there that the arguments of the sub-command name.
///
/// # Errors
/// One sentence; nothing may run then.
pub(super) fn check(arguments: &[(OsString, PathBuf)]) -> Result<(), String> {
    let listed = ListedMount::all().map_err(|error| format!("the list of mounts: {error}"))?;
    let is_there = |mount: &ExpectedMount| mount.is_there(&listed).unwrap_or(false);
    let wrong = arguments.iter().find(|argument| !ExpectedMount::read(argument).is_some_and(|mount| is_there(&mount)));
    wrong.map_or(Ok(()), |(_, at)| Err(format!("{}: something else is in its place", at.display())))
}

impl Content {
    fn of_machine(path: &Path, is_writable: bool) -> Self {
        let found = open(path).and_then(|opened| Ok(rustix::fs::fstat(&opened)?));
        found.map_or(Self::Nothing, |found| Self::OfMachine { device: found.st_dev, inode: found.st_ino, is_writable })
    }
}

/// Opens what is at a path, without following any link on the way.
fn open(path: &Path) -> io::Result<OwnedFd> {
    let relative = path.strip_prefix("/").map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    let place = Beneath::open(Path::new("/"))?.place(relative)?;
    Ok(rustix::fs::openat(&place.dir, &*place.name, OPEN, Mode::empty())?)
}
