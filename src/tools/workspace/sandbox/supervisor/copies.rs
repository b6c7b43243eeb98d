//! Files that are put in the place of others while nobody of the job has them open: an index of git, once its names were looked
//! at, and a file with other names, which may lie where the job cannot write (package managers share files so). Those keep it.

use std::fs::{File, FileTimes, Metadata};
use std::io::{self, Read as _, Seek as _};
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Mode, OFlags, openat, renameat, unlinkat};
use rustix::io::Errno;

use super::Supervisor;
use super::resolve::Place;
use steersman_base::limits;
use steersman_base::protected::is_harmless_index;
use steersman_base::regular_file::{self, Links};

/// The name of a copy that is being made, which no job can open.
const NAME: &str = ".steersman-copy.tmp";

impl Supervisor {
    /// Puts a copy of the first bytes of a file in a place, if it is right.
    pub(super) fn put_copy(
        &self,
        object: &OwnedFd,
        place: &Place,
        bytes: u64,
        is_right: impl FnOnce(&File) -> bool,
    ) -> Result<(), Errno> {
        let source = File::from(self.files.reopen(object, OFlags::RDONLY)?);
        let found = source.metadata().map_err(|error| errno(&error))?;
        if found.len().min(bytes) > limits::COPIED_FILE_BYTES {
            return Err(Errno::FBIG);
        }
        let _ = unlinkat(&place.parent, NAME, AtFlags::empty());
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut copy = File::from(openat(&place.parent, NAME, flags, Mode::RUSR | Mode::WUSR)?);
        let times =
            |of: &Metadata| io::Result::Ok(FileTimes::new().set_modified(of.modified()?).set_accessed(of.accessed()?));
        let written = io::copy(&mut (&source).take(bytes.min(limits::COPIED_FILE_BYTES)), &mut copy)
            .and_then(|_| copy.set_times(times(&found)?))
            .and_then(|()| copy.set_permissions(found.permissions()));
        let put = match written {
            Ok(()) if is_right(&copy) => renameat(&place.parent, NAME, &place.parent, &place.name),
            Ok(()) => Err(Errno::ROFS),
            Err(error) => Err(errno(&error)),
        };
        if put.is_err() {
            let _ = unlinkat(&place.parent, NAME, AtFlags::empty());
        }
        put
    }

    /// Puts an index of git in its place.
    pub(super) fn put_index(&self, object: &OwnedFd, place: &Place) -> Result<(), Errno> {
        let is_harmless = |bytes: Vec<u8>| is_harmless_index(&bytes, hash_bytes(&place.parent));
        self.put_copy(object, place, u64::MAX, |copy| rewound(copy).is_ok_and(is_harmless))
    }
}

fn rewound(mut copy: &File) -> io::Result<Vec<u8>> {
    copy.rewind()?;
    let mut bytes = Vec::new();
    copy.take(limits::COPIED_FILE_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns how long hashes are in the repository that has this directory; one of a worktree shares another's settings.
fn hash_bytes(directory: &OwnedFd) -> usize {
    let read = |name: &str| regular_file::open_at(directory, name.as_ref(), Links::Refused);
    let settings = read("config").or_else(|_| read("../../config"));
    let mut text = String::new();
    let _ = settings.map(|(file, _)| file.take(limits::GIT_SETTINGS_BYTES).read_to_string(&mut text));
    if text.to_ascii_lowercase().contains("sha256") { 32 } else { 20 }
}

fn errno(error: &io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error)
}
