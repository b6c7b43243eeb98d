//! The mounts of this process's namespace, as the kernel lists them, and the check that each is the one that was asked for.

use std::ffi::OsString;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::{fs, io};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, StatVfsMountFlags};
use rustix::io::Errno;

use crate::workspace::beneath::Beneath;
use crate::workspace::sandbox::mounts::Mount;

const STEP: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A mount as the kernel lists it.
pub(super) struct ListedMount {
    id: u64,
    parent: u64,
    pub(super) path: PathBuf,
}

impl ListedMount {
    /// Returns all mounts of this process's namespace that can be reached from its root.
    pub(super) fn all() -> io::Result<Vec<Self>> {
        let text = fs::read("/proc/self/mountinfo")?;
        Ok(text.split(|byte| *byte == b'\n').filter_map(Self::parse).collect())
    }

    /// Reads one line: its numbers, the device, what of it is mounted, and where.
    fn parse(line: &[u8]) -> Option<Self> {
        use std::os::unix::ffi::OsStringExt as _;
        let mut fields = line.split(|byte| *byte == b' ');
        let mut number = || std::str::from_utf8(fields.next()?).ok()?.parse().ok();
        let (id, parent) = (number()?, number()?);
        let path = unescape(fields.nth(2)?);
        // Nobody gets to one whose place was removed.
        (!path.ends_with(b"//deleted")).then(|| Self { id, parent, path: OsString::from_vec(path).into() })
    }

    /// Opens its root; an error when something else is at its path, as when another mount lies over it or a command has
    /// moved the way to it meanwhile.
    pub(super) fn open(&self) -> Result<OwnedFd, Errno> {
        let opened = rustix::fs::openat2(CWD, &self.path, STEP, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
        if self.holds(&opened) { Ok(opened) } else { Err(Errno::STALE) }
    }

    /// Returns whether an open file or directory lies in this mount.
    pub(super) fn holds(&self, opened: &OwnedFd) -> bool {
        let listed = fs::read_to_string(format!("/proc/self/fdinfo/{}", opened.as_raw_fd())).unwrap_or_default();
        let id = listed.lines().find_map(|line| line.strip_prefix("mnt_id:")?.trim().parse().ok());
        id == Some(self.id)
    }

    /// Returns whether another mount lies over it, or over the one that it is in.
    pub(super) fn is_hidden(&self, all: &[Self]) -> bool {
        let (mut here, mut inner) = (self, self.id);
        for _ in all {
            let is_over = |over: &&Self| {
                let on_top = over.parent == here.id && over.path == here.path;
                let around = over.parent == here.parent && over.path != here.path && here.path.starts_with(&over.path);
                over.id != here.id && over.id != inner && (on_top || around)
            };
            if all.iter().any(|mount| is_over(&mount)) {
                return true;
            }
            inner = here.id;
            match all.iter().find(|parent| parent.id == here.parent && parent.id != here.id) {
                Some(parent) => here = parent,
                None => return false,
            }
        }
        false
    }
}

/// Undoes what the kernel does to blanks in a list: a backslash and three octal digits.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let digits = after.first_chunk::<3>().filter(|_| *first == b'\\');
        let code = digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        bytes.push(code.unwrap_or(*first));
        rest = after.get(if code.is_some() { 3 } else { 0 }..).unwrap_or_default();
    }
    bytes
}

/// A mount that must be in bubblewrap's view. That mounts by path, and a command that runs beside can swap a directory for a link
/// between two steps; so what is meant is named by its device and inode before bubblewrap starts, and compared before the job runs.
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
    pub(super) fn from_mounts(mounts: &[Mount]) -> Vec<Self> {
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
    fn from_entry((content, at): &(OsString, PathBuf)) -> Option<Self> {
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
    let wrong =
        arguments.iter().find(|argument| !ExpectedMount::from_entry(argument).is_some_and(|mount| is_there(&mount)));
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
    Ok(rustix::fs::openat(&place.dir, &*place.name, STEP, Mode::empty())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mounted(lines: &str) -> Vec<ListedMount> {
        lines.lines().filter_map(|line| ListedMount::parse(line.as_bytes())).collect()
    }

    #[test]
    fn a_list_of_mounts_is_read_with_its_blanks() {
        let list = "7 1 0:21 / / rw - tmpfs x rw\n8 7 254:0 /a /with\\040blank\\134 ro - ext4 /dev/vda rw\n\
                    9 7 0:4 / /gone//deleted rw - tmpfs x rw\nnothing\n";
        let found: Vec<_> = mounted(list).into_iter().map(|mount| (mount.id, mount.parent, mount.path)).collect();
        assert_eq!(found, [(7, 1, PathBuf::from("/")), (8, 7, PathBuf::from("/with blank\\"))]);
    }

    #[test]
    fn only_what_lies_under_another_mount_is_hidden() {
        let list = "7 1 0:1 / / rw\n8 7 0:2 / /w rw\n9 8 0:3 / /w/twice rw\n10 9 0:4 / /w/twice rw\n\
                    11 10 0:5 / /w/twice/in rw\n12 9 0:5 / /w/twice/old rw\n13 8 0:6 / /w/a/b rw\n14 8 0:7 / /w/a rw\n\
                    15 13 0:8 / /w/a/b/c rw";
        let all = mounted(list);
        let hidden: Vec<u64> = all.iter().filter(|mount| mount.is_hidden(&all)).map(|mount| mount.id).collect();
        assert_eq!(hidden, [9, 12, 13, 15]);
    }
}
