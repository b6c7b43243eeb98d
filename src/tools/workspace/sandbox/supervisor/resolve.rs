//! The way from a path to a name in a directory, as the kernel would go it for the thread that calls, step by step and
//! with everything on it held open: what is checked is then what is used.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, ResolveFlags, fstat, fstatfs, open, openat, openat2, readlinkat, statat,
};
use rustix::io::Errno;

use super::target::Target;

const STEP: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// Links on one way, as many as the kernel follows.
const LINKS: usize = 40;
/// The number of the root of `/proc`.
const PROCESSES_INODE: u64 = 1;

/// Whether a link at the end of a path is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Last {
    Followed,
    Kept,
}

/// A name in an open directory.
pub(super) struct Place {
    pub parent: OwnedFd,
    /// With the slash that stood behind it.
    pub name: OsString,
    /// Where that is, by real directories.
    pub path: PathBuf,
}

/// What a path leads to: a name in a directory unless it led through a descriptor of a process, and what is there.
pub(super) struct Found {
    pub place: Option<Place>,
    pub object: Option<OwnedFd>,
}

/// What is seen of the file system, from the root that the supervisor shares with those it answers.
pub(super) struct FileSystem {
    pub processes: OwnedFd,
    /// The descriptors of this process, as links.
    descriptors: OwnedFd,
    /// The threads of this process.
    threads: OwnedFd,
}

/// How far a way was gone.
enum Way {
    On(OwnedFd, Vec<u8>),
    End(OwnedFd),
}

impl FileSystem {
    pub(super) fn new() -> Result<Self, Errno> {
        Ok(Self {
            processes: open("/proc", DIRECTORY, Mode::empty())?,
            descriptors: open("/proc/self/fd", DIRECTORY, Mode::empty())?,
            threads: open("/proc/self/task", DIRECTORY, Mode::empty())?,
        })
    }

    /// Goes a path of a thread, which begins in this directory of it.
    pub(super) fn find(&self, target: &Target, directory: u64, path: &[u8], last: Last) -> Result<Found, Errno> {
        let mut here = match path.first() {
            None => return Err(Errno::NOENT),
            Some(b'/') => open("/", DIRECTORY, Mode::empty())?,
            Some(_) => target.descriptor(directory)?,
        };
        let mut rest = path.to_vec();
        let mut links = 0;
        loop {
            if rest.first() == Some(&b'/') {
                here = open("/", DIRECTORY, Mode::empty())?;
            }
            let has_slash = rest.last() == Some(&b'/');
            let whole = trimmed(&rest);
            let (directories, name) = match memchr::memrchr(b'/', whole) {
                Some(at) => (whole.get(..at).unwrap_or_default(), whole.get(at + 1..).unwrap_or_default()),
                None => (&[] as &[u8], whole),
            };
            if !directories.is_empty() {
                match openat2(&here, directories, DIRECTORY, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
                    Ok(next) => here = next,
                    Err(Errno::LOOP) => {
                        (here, rest) = self.through_first_link(target, here, whole, has_slash, &mut links)?;
                        continue;
                    }
                    Err(error) => return Err(error),
                }
            }
            if matches!(name, b"" | b"." | b"..") {
                let name = if name.is_empty() { b"." } else { name };
                let object = openat(&here, name, DIRECTORY, Mode::empty())?;
                let place = Place { path: self.path_of(&object)?, parent: here, name: OsStr::from_bytes(name).into() };
                return Ok(Found { place: Some(place), object: Some(object) });
            }
            let object = match openat(&here, name, STEP, Mode::empty()) {
                Err(Errno::NOENT) => None,
                opened => Some(opened?),
            };
            if let Some(link) = &object
                && last == Last::Followed
                && kind(link)? == FileType::Symlink
            {
                let behind = if has_slash { b"/" as &[u8] } else { b"" };
                match self.follow(target, here, link, name, behind, &mut links)? {
                    Way::On(next, path) => (here, rest) = (next, path),
                    Way::End(object) if has_slash && kind(&object)? != FileType::Directory => {
                        return Err(Errno::NOTDIR);
                    }
                    Way::End(object) => return Ok(Found { place: None, object: Some(object) }),
                }
                continue;
            }
            let mut path = self.path_of(&here)?;
            path.push(OsStr::from_bytes(name));
            let name = if has_slash { [name, b"/"].concat() } else { name.to_vec() };
            return Ok(Found { place: Some(Place { parent: here, name: OsString::from_vec(name), path }), object });
        }
    }

    /// Goes to the first link among the directories of a path, and through it.
    fn through_first_link(
        &self,
        target: &Target,
        mut here: OwnedFd,
        path: &[u8],
        has_slash: bool,
        links: &mut usize,
    ) -> Result<(OwnedFd, Vec<u8>), Errno> {
        let mut rest = path;
        loop {
            let end = memchr::memchr(b'/', rest).unwrap_or(rest.len());
            let (name, behind) = rest.split_at_checked(end).ok_or(Errno::NOENT)?;
            let mut left = behind.to_vec();
            left.extend(has_slash.then_some(b'/'));
            match name {
                b"" | b"." => {}
                // Somebody has changed the way: it is gone again.
                _ if behind.is_empty() => return Ok((here, [name, left.as_slice()].concat())),
                b".." => here = openat(&here, "..", DIRECTORY, Mode::empty())?,
                name => {
                    let next = openat(&here, name, STEP, Mode::empty())?;
                    match kind(&next)? {
                        FileType::Symlink => match self.follow(target, here, &next, name, &left, links)? {
                            Way::On(next, path) => return Ok((next, path)),
                            Way::End(next) if kind(&next)? == FileType::Directory => {
                                let left = left.iter().copied().skip_while(|byte| *byte == b'/').collect();
                                return Ok((next, left));
                            }
                            Way::End(_) => return Err(Errno::NOTDIR),
                        },
                        FileType::Directory => here = next,
                        _ => return Err(Errno::NOTDIR),
                    }
                }
            }
            rest = behind.strip_prefix(b"/").ok_or(Errno::NOENT)?;
        }
    }

    /// Follows a link in a directory; `behind` is what stands behind it in the path.
    fn follow(
        &self,
        target: &Target,
        here: OwnedFd,
        link: &OwnedFd,
        name: &[u8],
        behind: &[u8],
        links: &mut usize,
    ) -> Result<Way, Errno> {
        *links += 1;
        if *links > LINKS {
            return Err(Errno::LOOP);
        }
        let mut text = match name {
            _ if fstatfs(&here)?.f_type != libc::PROC_SUPER_MAGIC => readlinkat(link, "", Vec::new())?.into_bytes(),
            // These mean whoever asks.
            b"self" if is_processes(&here)? => target.status()?.process.to_string().into_bytes(),
            b"thread-self" if is_processes(&here)? => {
                format!("{}/task/{}", target.status()?.process, target.thread).into_bytes()
            }
            _ if is_processes(&here)? => readlinkat(link, "", Vec::new())?.into_bytes(),
            // It leads to what is open, whatever its text says. What this process itself holds is nobody's business.
            _ if self.is_of_this_process(&here)? => return Err(Errno::ACCESS),
            name => return Ok(Way::End(openat(&here, name, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?)),
        };
        if text.is_empty() {
            return Err(Errno::NOENT);
        }
        text.extend_from_slice(behind);
        Ok(Way::On(here, text))
    }

    /// Returns where something open is, or what it is when it has no name.
    pub(super) fn path_of(&self, open: &OwnedFd) -> Result<PathBuf, Errno> {
        let path = readlinkat(&self.descriptors, open.as_raw_fd().to_string(), Vec::new())?;
        Ok(OsString::from_vec(path.into_bytes()).into())
    }

    /// Opens what is open already, in another way.
    pub(super) fn reopen(&self, object: &OwnedFd, flags: OFlags) -> Result<OwnedFd, Errno> {
        openat(&self.descriptors, object.as_raw_fd().to_string(), flags | OFlags::CLOEXEC, Mode::empty())
    }

    /// Returns the path that means something open to this process: a directory and a name, which is a link.
    pub(super) fn link_to(&self, object: &OwnedFd) -> (&OwnedFd, String) {
        (&self.descriptors, object.as_raw_fd().to_string())
    }

    fn is_of_this_process(&self, directory: &OwnedFd) -> Result<bool, Errno> {
        let path = self.path_of(directory)?;
        let number = path.components().nth(2).map(|name| name.as_os_str().to_owned());
        Ok(number.is_none_or(|number| statat(&self.threads, &number, AtFlags::empty()).is_ok()))
    }
}

/// Returns whether a directory of that file system is the one of all processes.
fn is_processes(directory: &OwnedFd) -> Result<bool, Errno> {
    Ok(fstat(directory)?.st_ino == PROCESSES_INODE)
}

pub(super) fn kind(object: &OwnedFd) -> Result<FileType, Errno> {
    Ok(FileType::from_raw_mode(fstat(object)?.st_mode))
}

/// Returns a path without slashes at its ends.
fn trimmed(path: &[u8]) -> &[u8] {
    let mut path = path;
    while let [b'/', inner @ ..] | [inner @ .., b'/'] = path {
        path = inner;
    }
    path
}
