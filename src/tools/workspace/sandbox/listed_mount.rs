//! The mounts of this process's namespace, as the kernel lists them.

use std::fs;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::PathBuf;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

const STEP: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A mount as the kernel lists it.
pub(super) struct ListedMount {
    id: u64,
    parent: u64,
    pub(super) path: PathBuf,
}

impl ListedMount {
    /// Returns all mounts of this process's namespace that can be reached from its root.
    pub(super) fn all() -> std::io::Result<Vec<Self>> {
        let text = fs::read("/proc/self/mountinfo")?;
        Ok(text.split(|byte| *byte == b'\n').filter_map(Self::read).collect())
    }

    /// Reads one line: its numbers, the device, what of it is mounted, and where.
    fn read(line: &[u8]) -> Option<Self> {
        use std::os::unix::ffi::OsStringExt as _;
        let mut fields = line.split(|byte| *byte == b' ');
        let mut number = || std::str::from_utf8(fields.next()?).ok()?.parse().ok();
        let (id, parent) = (number()?, number()?);
        let path = unescape(fields.nth(2)?);
        // Nobody gets to one whose place was removed.
        (!path.ends_with(b"//deleted")).then(|| Self { id, parent, path: std::ffi::OsString::from_vec(path).into() })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn mounted(lines: &str) -> Vec<ListedMount> {
        lines.lines().filter_map(|line| ListedMount::read(line.as_bytes())).collect()
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
