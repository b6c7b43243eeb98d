//! The view of the machine that a job has: mounts on an empty root, made in namespaces of our own.
//!
//! Made by [`super::init`] out of the list in [`super::mounts`]. Everything is reached by open directories, step by
//! step and never through a link, on both sides: another command may be changing the workspace at this moment. What
//! is mounted on is only made in file systems that are made here. Needs Linux 5.8.

use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, StatVfsMountFlags};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags,
    UnmountFlags,
};

use crate::workspace::sandbox::listed_mount::ListedMount;
use crate::workspace::sandbox::mounts::Mount;
use crate::workspace::sandbox::places;

const STEP: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Nothing below lends rights or leads to a device.
const PLAIN: MountFlags = MountFlags::NOSUID.union(MountFlags::NODEV);

/// A view that is being built.
pub(super) struct FileSystemView {
    root: OwnedFd,
    /// The numbers of the file systems that were made here, and hold nothing of anybody's.
    own: Vec<u64>,
    /// What was mounted where, in this order.
    mounted: Vec<(PathBuf, MountFlags)>,
    /// The mask for new files that the job is to have.
    mask: Mode,
}

impl FileSystemView {
    /// Begins with an empty root, which lies over the one of the machine: that is still where paths begin.
    pub(super) fn new() -> Result<Self, String> {
        let apart = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
        rustix::mount::mount_change("/", apart).map_err(|error| named("/", error))?;
        let mask = rustix::process::umask(Mode::empty());
        let root = file_system("tmpfs", &[("mode", "0755")], PLAIN)?;
        let base = rustix::fs::open("/", STEP, Mode::empty()).map_err(|error| named("/", error))?;
        attach(&root, &base).map_err(|error| named("/", error))?;
        let own = vec![device(&root)?];
        Ok(Self { root, own, mounted: Vec::new(), mask })
    }

    pub(super) fn add(&mut self, mount: &Mount) -> Result<(), String> {
        match mount {
            Mount::ReadOnly(from, to) => self.bind(from, to, PLAIN | MountFlags::RDONLY),
            Mount::Writable(from, to) => self.bind(from, to, PLAIN),
            Mount::Link(target, at) => self.link(target, at),
            Mount::Empty(at) => self.mount("tmpfs", &[("mode", "0755")], at, PLAIN),
            Mount::Processes(at) => self.mount("proc", &[], at, PLAIN | MountFlags::NOEXEC | MountFlags::RDONLY),
            Mount::Devices(at) => self.devices(at),
            Mount::Closed(at) if at.parent().is_none() => {
                restrict(&self.root, PLAIN | MountFlags::RDONLY).map_err(|error| named("/", error))
            }
            Mount::Closed(at) => {
                let place = self.place(at, FileType::Directory)?;
                restrict(&place, MountFlags::RDONLY).map_err(|error| failed(at, error))
            }
        }
    }

    /// Makes the view the root of this process, and the machine's root unreachable.
    pub(super) fn enter(self) -> Result<(), String> {
        let describe = |error| named("the new root", error);
        rustix::process::fchdir(&self.root).map_err(describe)?;
        rustix::process::pivot_root(".", ".").map_err(describe)?;
        // The old root lies over the new one now.
        rustix::mount::unmount(".", UnmountFlags::DETACH).map_err(describe)?;
        rustix::process::chdir("/").map_err(describe)?;
        self.restrict_inner_mounts()?;
        rustix::process::umask(self.mask);
        Ok(())
    }

    fn bind(&mut self, from: &Path, to: &Path, flags: MountFlags) -> Result<(), String> {
        let source = rustix::fs::openat2(CWD, from, STEP, Mode::empty(), ResolveFlags::NO_SYMLINKS);
        let source = source.map_err(|error| failed(from, error))?;
        let place = self.place(to, kind(&source)?)?;
        let copy = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
        let all = OpenTreeFlags::AT_EMPTY_PATH | OpenTreeFlags::AT_RECURSIVE;
        let tree = rustix::mount::open_tree(&source, "", copy | all).map_err(|error| failed(from, error))?;
        attach(&tree, &place).map_err(|error| failed(to, error))?;
        restrict(&tree, flags).map_err(|error| failed(to, error))?;
        self.mounted.push((to.to_owned(), flags));
        Ok(())
    }

    /// Mounts a new file system.
    fn mount(&mut self, kind: &str, options: &[(&str, &str)], at: &Path, flags: MountFlags) -> Result<(), String> {
        let place = self.place(at, FileType::Directory)?;
        let made = file_system(kind, options, flags)?;
        attach(&made, &place).map_err(|error| failed(at, error))?;
        self.own.push(device(&made)?);
        self.mounted.push((at.to_owned(), flags));
        Ok(())
    }

    fn link(&self, target: &Path, at: &Path) -> Result<(), String> {
        let (Some(parent), Some(name)) = (at.parent(), at.file_name()) else { return Err(failed(at, Errno::INVAL)) };
        let place = self.place(parent, FileType::Directory)?;
        self.must_be_own(&place, at)?;
        rustix::fs::symlinkat(target, &place, name).map_err(|error| failed(at, error))
    }

    fn devices(&mut self, at: &Path) -> Result<(), String> {
        self.mount("tmpfs", &[("mode", "0755")], at, PLAIN | MountFlags::NOEXEC)?;
        for device in places::DEVICES.into_iter().chain(["/dev/tty"]).map(Path::new) {
            self.bind(device, device, MountFlags::NOSUID | MountFlags::NOEXEC)?;
        }
        let links = [("fd", "/proc/self/fd"), ("stdin", "/proc/self/fd/0"), ("stdout", "/proc/self/fd/1")];
        for (name, target) in links.into_iter().chain([("stderr", "/proc/self/fd/2"), ("ptmx", "pts/ptmx")]) {
            self.link(Path::new(target), &at.join(name))?;
        }
        let terminals = [("mode", "0620"), ("ptmxmode", "0666")];
        self.mount("devpts", &terminals, &at.join("pts"), MountFlags::NOSUID | MountFlags::NOEXEC)?;
        self.mount("tmpfs", &[("mode", "1777")], &at.join("shm"), PLAIN)?;
        self.add(&Mount::Closed(at.to_owned()))
    }

    /// Opens the place of a mount, and makes what is missing on the way to it.
    fn place(&self, at: &Path, wanted: FileType) -> Result<OwnedFd, String> {
        let describe = |error| failed(at, error);
        let mut here = self.root.try_clone().map_err(|error| format!("{}: {error}", at.display()))?;
        let mut steps = at.components().peekable();
        while let Some(step) = steps.next() {
            let name = match step {
                Component::RootDir => continue,
                Component::Normal(name) => name,
                Component::CurDir | Component::ParentDir | Component::Prefix(_) => return Err(describe(Errno::INVAL)),
            };
            let wanted = if steps.peek().is_some() { FileType::Directory } else { wanted };
            let next = match rustix::fs::openat(&here, name, STEP, Mode::empty()) {
                Err(Errno::NOENT) => {
                    self.must_be_own(&here, at)?;
                    if wanted == FileType::Directory {
                        rustix::fs::mkdirat(&here, name, Mode::from_raw_mode(0o755)).map_err(describe)?;
                    } else {
                        let new = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
                        rustix::fs::openat(&here, name, new, Mode::from_raw_mode(0o444)).map_err(describe)?;
                    }
                    rustix::fs::openat(&here, name, STEP, Mode::empty()).map_err(describe)?
                }
                opened => opened.map_err(describe)?,
            };
            let found = kind(&next)?;
            if found == FileType::Symlink || (found == FileType::Directory) != (wanted == FileType::Directory) {
                return Err(format!("{}: something else is in its place", at.display()));
            }
            here = next;
        }
        Ok(here)
    }

    /// Nothing is made in a directory that belongs to anybody else.
    fn must_be_own(&self, directory: &OwnedFd, at: &Path) -> Result<(), String> {
        let is_own = self.own.contains(&device(directory)?);
        if is_own { Ok(()) } else { Err(format!("{}: it is not there", at.display())) }
    }

    /// Restricts what came along with the mounts that were asked for, because it was mounted within them.
    fn restrict_inner_mounts(&self) -> Result<(), String> {
        let all = ListedMount::all().map_err(|error| format!("the list of mounts: {error}"))?;
        for mount in &all {
            let outer = self.mounted.iter().rfind(|(path, _)| mount.path.starts_with(path));
            let Some((path, flags)) = outer else { continue };
            if *path == mount.path {
                continue;
            }
            match mount.open() {
                Ok(opened) => restrict(&opened, *flags).map_err(|error| failed(&mount.path, error))?,
                Err(_) if mount.is_hidden(&all) => {}
                Err(error) => return Err(failed(&mount.path, error)),
            }
        }
        Ok(())
    }
}

/// Makes a new file system, mounted nowhere yet.
fn file_system(kind: &str, options: &[(&str, &str)], flags: MountFlags) -> Result<OwnedFd, String> {
    let describe = |error| named(kind, error);
    let made = rustix::mount::fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC).map_err(describe)?;
    for (key, value) in options {
        rustix::mount::fsconfig_set_string(&made, *key, *value).map_err(describe)?;
    }
    rustix::mount::fsconfig_create(&made).map_err(describe)?;
    let mut attributes = MountAttrFlags::empty();
    for (flag, attribute) in [
        (MountFlags::RDONLY, MountAttrFlags::MOUNT_ATTR_RDONLY),
        (MountFlags::NOSUID, MountAttrFlags::MOUNT_ATTR_NOSUID),
        (MountFlags::NODEV, MountAttrFlags::MOUNT_ATTR_NODEV),
        (MountFlags::NOEXEC, MountAttrFlags::MOUNT_ATTR_NOEXEC),
    ] {
        attributes.set(attribute, flags.contains(flag));
    }
    rustix::mount::fsmount(&made, FsMountFlags::FSMOUNT_CLOEXEC, attributes).map_err(describe)
}

/// Mounts what is mounted nowhere yet.
fn attach(mount: &OwnedFd, place: &OwnedFd) -> Result<(), Errno> {
    let both = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    rustix::mount::move_mount(mount, "", place, "", both)
}

/// Adds restrictions to those that a mount has; most of these cannot be taken away in a namespace of users.
fn restrict(mount: &OwnedFd, flags: MountFlags) -> Result<(), Errno> {
    let now = rustix::fs::fstatvfs(mount)?.f_flag;
    let mut flags = flags | MountFlags::BIND;
    for (has, keeps) in [
        (StatVfsMountFlags::RDONLY, MountFlags::RDONLY),
        (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
        (StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
    ] {
        flags.set(keeps, flags.contains(keeps) || now.contains(has));
    }
    rustix::mount::mount_remount(format!("/proc/self/fd/{}", mount.as_raw_fd()), flags, "")
}

fn kind(file: &OwnedFd) -> Result<FileType, String> {
    let found = rustix::fs::fstat(file).map_err(|error| error.to_string())?;
    Ok(FileType::from_raw_mode(found.st_mode))
}

fn device(file: &OwnedFd) -> Result<u64, String> {
    Ok(rustix::fs::fstat(file).map_err(|error| error.to_string())?.st_dev)
}

fn failed(path: &Path, error: Errno) -> String {
    named(&path.to_string_lossy(), error)
}

fn named(what: &str, error: Errno) -> String {
    format!("{what}: {error}")
}
