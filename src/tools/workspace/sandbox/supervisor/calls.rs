//! The operations on names, each carried out in the place of the job once the policy allows it. An error that the call would
//! have had anyway comes before a refusal: programs rely on it.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, chmodat, fstat, ftruncate, linkat, mkdirat, mknodat,
    renameat_with, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;

use super::filter::Operation;
use super::open::makes;
use super::resolve::{Found, Last, Place, kind};
use super::target::{Target, low};
use super::{Answer, Supervisor, View};
use steersman_base::protected::{Decision, MovedKind, NameChange};

impl Supervisor {
    pub(super) fn carry_out(
        &self,
        target: &Target,
        operation: Operation,
        arguments: [u64; 6],
    ) -> Result<Answer, Errno> {
        // Held from the first step of the path on, if names change.
        let _held = match operation {
            Operation::Truncate | Operation::ChangeMode | Operation::ChangeModeOfOpen => None,
            Operation::Open if !makes(arguments) => None,
            _ => Some(self.lock.hold()?),
        };
        let carried_out = self.change(target, operation, arguments);
        self.repositories.borrow_mut().clear();
        carried_out
    }

    fn change(&self, target: &Target, operation: Operation, arguments: [u64; 6]) -> Result<Answer, Errno> {
        match operation {
            Operation::Open => return self.open(target, arguments),
            Operation::MakeDirectory => self.make_directory(target, arguments)?,
            Operation::MakeNode => self.make_node(target, arguments)?,
            Operation::Rename => self.rename(target, arguments)?,
            Operation::Link => self.link(target, arguments)?,
            Operation::Symlink => self.symlink(target, arguments)?,
            Operation::Remove => self.remove(target, arguments)?,
            Operation::Truncate => self.truncate(target, arguments)?,
            Operation::ChangeMode => self.change_mode(target, arguments)?,
            Operation::ChangeModeOfOpen => self.change_mode_of_open(target, arguments)?,
            Operation::Bind => self.bind(target, arguments)?,
        }
        Ok(Answer::Value(0))
    }

    fn make_directory(&self, target: &Target, [directory, path, mode, ..]: [u64; 6]) -> Result<(), Errno> {
        let place = self.missing(target, directory, path)?;
        self.may_write(&place.path)?;
        target.lend_mask()?;
        mkdirat(&place.parent, &place.name, Mode::from_raw_mode(low(mode)))
    }

    fn make_node(&self, target: &Target, [directory, path, mode, device, ..]: [u64; 6]) -> Result<(), Errno> {
        let place = self.missing(target, directory, path)?;
        let mode = low(mode);
        let kind = match mode & libc::S_IFMT {
            0 => FileType::RegularFile,
            kind => FileType::from_raw_mode(kind),
        };
        match kind {
            FileType::RegularFile => self.may(NameChange::Fill(&place.path))?,
            _ => self.may(NameChange::Special(&place.path))?,
        }
        target.lend_mask()?;
        mknodat(&place.parent, &place.name, kind, Mode::from_raw_mode(mode), device)
    }

    fn symlink(&self, target: &Target, [text, directory, path, ..]: [u64; 6]) -> Result<(), Errno> {
        let text = target.text(text)?;
        let place = self.missing(target, directory, path)?;
        self.may(NameChange::Special(&place.path))?;
        symlinkat(OsStr::from_bytes(&text), &place.parent, &place.name)
    }

    fn link(
        &self,
        target: &Target,
        [directory, path, new_directory, new_path, flags, _]: [u64; 6],
    ) -> Result<(), Errno> {
        let flags = AtFlags::from_bits_retain(low(flags));
        if !(AtFlags::SYMLINK_FOLLOW | AtFlags::EMPTY_PATH).contains(flags) {
            return Err(Errno::INVAL);
        }
        let last = if flags.contains(AtFlags::SYMLINK_FOLLOW) { Last::Followed } else { Last::Kept };
        let found = self.existing(target, directory, path, last, flags)?;
        let new = self.missing(target, new_directory, new_path)?;
        let Found { object: Some(object), place } = found else { return Err(Errno::NOENT) };
        if kind(&object)? == FileType::Directory {
            return Err(Errno::PERM);
        }
        if let Some(place) = place {
            self.may(NameChange::HardLink(&place.path, &new.path))?;
            return linkat(&place.parent, &place.name, &new.parent, &new.name, AtFlags::empty());
        }
        let (descriptors, number) = self.files.link_to(&object);
        self.may(NameChange::HardLink(&self.files.path_of(&object)?, &new.path))?;
        linkat(descriptors, number, &new.parent, &new.name, AtFlags::SYMLINK_FOLLOW)
    }

    fn rename(
        &self,
        target: &Target,
        [directory, path, new_directory, new_path, flags, _]: [u64; 6],
    ) -> Result<(), Errno> {
        let flags = RenameFlags::from_bits_retain(low(flags));
        let (from, object) = self.named(target, directory, path)?;
        let (to, replaced) = self.named(target, new_directory, new_path)?;
        let object = object.ok_or(Errno::NOENT)?;
        if flags.contains(RenameFlags::NOREPLACE) && replaced.is_some() {
            return Err(Errno::EXIST);
        }
        if flags.contains(RenameFlags::WHITEOUT) {
            return Err(Errno::INVAL);
        }
        let change = NameChange::Move(&from.path, &to.path, moved(&object)?);
        if self.decide(change)? == Decision::OnlyChecked && !flags.contains(RenameFlags::EXCHANGE) {
            if from.path == to.path {
                return Ok(());
            }
            self.put_index(&object, &to)?;
            return unlinkat(&from.parent, &from.name, AtFlags::empty());
        }
        self.may(change)?;
        if flags.contains(RenameFlags::EXCHANGE) {
            let replaced = replaced.ok_or(Errno::NOENT)?;
            self.may(NameChange::Move(&to.path, &from.path, moved(&replaced)?))?;
        }
        renameat_with(&from.parent, &from.name, &to.parent, &to.name, flags)
    }

    fn remove(&self, target: &Target, [directory, path, flags, ..]: [u64; 6]) -> Result<(), Errno> {
        let (place, object) = self.named(target, directory, path)?;
        if object.is_none() {
            return Err(Errno::NOENT);
        }
        self.may_write(&place.path)?;
        unlinkat(&place.parent, &place.name, AtFlags::from_bits_retain(low(flags)))
    }

    fn truncate(&self, target: &Target, [directory, path, length, ..]: [u64; 6]) -> Result<(), Errno> {
        if length.cast_signed() < 0 {
            return Err(Errno::INVAL);
        }
        let Found { place, object } = self.existing(target, directory, path, Last::Followed, AtFlags::empty())?;
        let object = object.ok_or(Errno::NOENT)?;
        match kind(&object)? {
            FileType::RegularFile => {}
            FileType::Directory => return Err(Errno::ISDIR),
            _ => return Err(Errno::INVAL),
        }
        match self.open_object(target, object, place, OFlags::WRONLY, 0)? {
            Answer::Descriptor(open, _) => ftruncate(open, length),
            Answer::Value(_) | Answer::Later(_) => Err(Errno::INVAL),
        }
    }

    fn change_mode(&self, target: &Target, [directory, path, mode, flags, ..]: [u64; 6]) -> Result<(), Errno> {
        let flags = AtFlags::from_bits_retain(low(flags));
        if !(AtFlags::SYMLINK_NOFOLLOW | AtFlags::EMPTY_PATH).contains(flags) {
            return Err(Errno::INVAL);
        }
        let last = if flags.contains(AtFlags::SYMLINK_NOFOLLOW) { Last::Kept } else { Last::Followed };
        let Found { place, object } = self.existing(target, directory, path, last, flags)?;
        let object = object.ok_or(Errno::NOENT)?;
        let path = place.map_or_else(|| self.files.path_of(&object), |place| Ok(place.path))?;
        self.set_mode(&object, &path, mode)
    }

    fn change_mode_of_open(&self, target: &Target, [descriptor, mode, ..]: [u64; 6]) -> Result<(), Errno> {
        if low(descriptor).cast_signed() < 0 {
            return Err(Errno::BADF);
        }
        let object = target.descriptor(descriptor)?;
        self.set_mode(&object, &self.files.path_of(&object)?, mode)
    }

    fn set_mode(&self, object: &OwnedFd, path: &Path, mode: u64) -> Result<(), Errno> {
        self.may_write(path)?;
        if self.view == View::Machine && !self.places.are_written(path) {
            return Err(Errno::PERM);
        }
        if kind(object)? == FileType::Symlink {
            return Err(Errno::OPNOTSUPP);
        }
        let (descriptors, number) = self.files.link_to(object);
        chmodat(descriptors, number, Mode::from_raw_mode(low(mode)), AtFlags::empty())
    }

    /// Finds the place of a path whose last link is not followed, and what is there.
    fn named(&self, target: &Target, directory: u64, path: u64) -> Result<(Place, Option<OwnedFd>), Errno> {
        let found = self.files.find(target, directory, &target.text(path)?, Last::Kept)?;
        Ok((found.place.ok_or(Errno::INVAL)?, found.object))
    }

    /// Finds the place of something that is to be made.
    pub(super) fn missing(&self, target: &Target, directory: u64, path: u64) -> Result<Place, Errno> {
        match self.named(target, directory, path)? {
            (_, Some(_)) => Err(Errno::EXIST),
            (place, None) => Ok(place),
        }
    }

    /// Finds what is at a path, or in a descriptor where the path is empty and that is allowed.
    fn existing(&self, target: &Target, directory: u64, path: u64, last: Last, flags: AtFlags) -> Result<Found, Errno> {
        let path = target.text(path)?;
        if path.is_empty() && flags.contains(AtFlags::EMPTY_PATH) {
            return Ok(Found { place: None, object: Some(target.descriptor(directory)?) });
        }
        self.files.find(target, directory, &path, last)
    }

    pub(super) fn may_write(&self, path: &Path) -> Result<(), Errno> {
        self.may(NameChange::Write(path))
    }

    pub(super) fn may(&self, change: NameChange<'_>) -> Result<(), Errno> {
        match self.decide(change)? {
            Decision::Allowed => Ok(()),
            Decision::Refused(_) | Decision::OnlyChecked => Err(Errno::ROFS),
            Decision::OnlyByCopy => Err(Errno::XDEV),
        }
    }

    /// Decides about a change. Until the call is carried out nobody else makes a part of the same repository, whatever
    /// directory he works in.
    fn decide(&self, change: NameChange<'_>) -> Result<Decision, Errno> {
        for path in change.paths().filter(|path| !self.places.is_free(path)) {
            let is_written = |directory: &Path| self.places.are_written(directory);
            self.lock.with_repositories(path, is_written, &mut self.repositories.borrow_mut())?;
        }
        let exists = |path: &Path| statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).is_ok();
        Ok(self.places.decide(change, &exists))
    }
}

fn moved(object: &OwnedFd) -> Result<MovedKind, Errno> {
    Ok(match FileType::from_raw_mode(fstat(object)?.st_mode) {
        FileType::RegularFile => MovedKind::File,
        FileType::Directory => MovedKind::Directory,
        _ => MovedKind::Special,
    })
}
