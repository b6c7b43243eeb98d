//! Opening what has a name, in the place of the job.

use std::os::fd::OwnedFd;

use rustix::fs::{Dev, FileType, Mode, OFlags, fcntl_getfl, fcntl_setfl, fstat, fstatfs, major, minor, open, openat};
use rustix::io::Errno;

use super::resolve::{Found, Last, Place};
use super::target::{Target, low};
use super::{Answer, Supervisor};
use steersman_base::protected::NameChange;

/// How often a file is looked for again that somebody else made or removed meanwhile.
const TRIES: usize = 16;
/// The numbers of the device that is each process's own terminal.
const OWN_TERMINAL: (u32, u32) = (5, 0);

/// A pipe with a name that is opened for writing while nobody reads from it.
pub(super) struct WaitingOpen {
    object: OwnedFd,
    flags: OFlags,
}

impl Supervisor {
    pub(super) fn open(&self, target: &Target, [directory, path, flags, mode, ..]: [u64; 6]) -> Result<Answer, Errno> {
        let path = target.text(path)?;
        let flags = OFlags::from_bits_retain(low(flags));
        let makes = flags.contains(OFlags::CREATE);
        let is_new = makes && flags.contains(OFlags::EXCL);
        let is_kept = is_new || (flags.contains(OFlags::NOFOLLOW) && !path.ends_with(b"/"));
        let last = if is_kept { Last::Kept } else { Last::Followed };
        for _ in 0..TRIES {
            let opened = match self.files.find(target, directory, &path, last)? {
                Found { object: Some(_), .. } if is_new => return Err(Errno::EXIST),
                Found { object: Some(object), place } => return self.open_object(target, object, place, flags, mode),
                Found { object: None, place: Some(place) } if makes => {
                    if path.ends_with(b"/") {
                        return Err(Errno::ISDIR);
                    }
                    self.make(target, &place, flags, mode)
                }
                Found { object: None, .. } => return Err(Errno::NOENT),
            };
            match opened {
                Err(Errno::EXIST) if !is_new => {}
                opened => return opened.map(|opened| answer(opened, flags)),
            }
        }
        Err(Errno::AGAIN)
    }

    /// Makes a file that is not there.
    fn make(&self, target: &Target, place: &Place, flags: OFlags, mode: u64) -> Result<OwnedFd, Errno> {
        self.may(NameChange::Fill(&place.path))?;
        target.lend_mask()?;
        let flags = flags | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
        openat(&place.parent, &place.name, flags, Mode::from_raw_mode(low(mode)))
    }

    pub(super) fn open_object(
        &self,
        target: &Target,
        mut object: OwnedFd,
        place: Option<Place>,
        flags: OFlags,
        mode: u64,
    ) -> Result<Answer, Errno> {
        let found = fstat(&object)?;
        let kind = FileType::from_raw_mode(found.st_mode);
        let path = place.as_ref().map_or_else(|| self.files.path_of(&object), |place| Ok(place.path.clone()))?;
        if kind == FileType::Symlink {
            return Err(Errno::LOOP);
        }
        if flags.contains(OFlags::DIRECTORY) && kind != FileType::Directory {
            return Err(Errno::NOTDIR);
        }
        if flags.contains(OFlags::TMPFILE) {
            // A name for it is asked about when it gets one.
            target.lend_mask()?;
            let opened = openat(&object, ".", flags | OFlags::CLOEXEC, Mode::from_raw_mode(low(mode)))?;
            return Ok(answer(opened, flags));
        }
        let writes = flags.intersects(OFlags::WRONLY | OFlags::RDWR | OFlags::TRUNC);
        if kind == FileType::Directory && (writes || flags.contains(OFlags::CREATE)) {
            return Err(Errno::ISDIR);
        }
        if writes {
            self.may(NameChange::Fill(&path))?;
        }
        if writes && kind == FileType::RegularFile && found.st_nlink > 1 && !self.places.is_free(&path) {
            let place = place.ok_or(Errno::ROFS)?;
            let kept = if flags.contains(OFlags::TRUNC) { 0 } else { u64::MAX };
            let _held = self.lock.hold()?;
            self.put_copy(&object, &place, kept, |_| true)?;
            object =
                openat(&place.parent, &place.name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
        }
        // Who opens one of these is looked at, and it would be this process. Jobs write in none of them.
        if fstatfs(&object)?.f_type == libc::PROC_SUPER_MAGIC {
            return Err(Errno::ACCESS);
        }
        let flags = (flags - (OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW)) | OFlags::NOCTTY;
        match kind {
            FileType::CharacterDevice if numbers(found.st_rdev) == OWN_TERMINAL => {
                let number = target.terminal().ok_or(Errno::NXIO)?;
                let opened = open(format!("/dev/pts/{number}"), flags | OFlags::CLOEXEC, Mode::empty())?;
                Ok(answer(opened, flags))
            }
            FileType::Fifo if !flags.contains(OFlags::NONBLOCK) => self.open_again(WaitingOpen { object, flags }),
            _ => Ok(answer(self.files.reopen(&object, flags)?, flags)),
        }
    }

    /// Opens a pipe without waiting, which would keep all others waiting.
    pub(super) fn open_again(&self, waiting: WaitingOpen) -> Result<Answer, Errno> {
        match self.files.reopen(&waiting.object, waiting.flags | OFlags::NONBLOCK) {
            Ok(opened) => {
                fcntl_setfl(&opened, fcntl_getfl(&opened)? - OFlags::NONBLOCK)?;
                Ok(answer(opened, waiting.flags))
            }
            Err(Errno::NXIO) => Ok(Answer::Later(waiting)),
            Err(error) => Err(error),
        }
    }
}

/// Returns whether these arguments of `open` can make a name.
pub(super) fn makes([_, _, flags, ..]: [u64; 6]) -> bool {
    OFlags::from_bits_retain(low(flags)).contains(OFlags::CREATE)
}

fn answer(opened: OwnedFd, flags: OFlags) -> Answer {
    Answer::Descriptor(opened, flags.contains(OFlags::CLOEXEC))
}

fn numbers(device: Dev) -> (u32, u32) {
    (major(device), minor(device))
}
