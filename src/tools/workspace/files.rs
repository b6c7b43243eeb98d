//! Opens and changes the files of a workspace for tools, once a path is resolved.
//!
//! Everything goes through the open directories of the workspace, so that no swap of a directory for a link after the
//! check leads outside. Every failure is one sentence for the model, and leaves the file as it was.

use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rustix::io::Errno;

use crate::workspace::atomic::{self, FileSnapshot, Names, WriteError};
use crate::workspace::beneath::Beneath;
use crate::workspace::changes::{Hash, Undoable, Written, hash};
use crate::workspace::{Bounds, Entry, EntryKind, Workspace};
use steersman_base::limits;
use steersman_base::names_lock::NamesLock;
use steersman_base::protected::ProtectedPlaces;
use steersman_base::sync::lock;

impl Workspace {
    /// Opens a regular file under its real path; anything else is refused, and nothing can block the opening.
    ///
    /// # Errors
    /// That of the file system, also when reading is not allowed there, or the path leads over a link by now.
    pub fn open(&self, real: &Path) -> io::Result<(File, Metadata)> {
        let (_, relative, beneath) = self.readable_part(real)?;
        beneath.open_file(relative)
    }

    /// Finds the open directory that a path is read from, and the path from there.
    pub(super) fn readable_part<'a>(&'a self, real: &'a Path) -> io::Result<(&'a Path, &'a Path, &'a Arc<Beneath>)> {
        let allowed = std::iter::once((&self.root, &self.beneath));
        let mut allowed = allowed.chain(self.readable.iter().map(|(directory, beneath)| (directory, beneath)));
        let found = allowed.find_map(|(base, beneath)| Some((base.as_path(), real.strip_prefix(base).ok()?, beneath)));
        found.ok_or_else(|| io::Error::new(io::ErrorKind::PermissionDenied, "it is outside the workspace"))
    }

    /// Reads a file that is to be changed, whole; `None` when there is none.
    ///
    /// # Errors
    /// One sentence for the model when it cannot be read, or is not for changing: no regular file, write-protected, or
    /// larger than [`limits::CHANGED_FILE_BYTES`].
    pub fn look(&self, real: &Path) -> Result<Option<FileSnapshot>, String> {
        let shown = self.display(real);
        let (relative, beneath) = self.writable(real)?;
        let looked = match beneath.place(relative) {
            Ok(place) => atomic::look(&place, limits::CHANGED_FILE_BYTES),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        };
        match looked {
            Ok(Some(held)) if held.mode & 0o222 == 0 => {
                Err(format!("{shown} is write-protected (mode {:03o})", held.mode))
            }
            Ok(held) => Ok(held),
            Err(error) => Err(format!("{shown} cannot be changed: {error}")),
        }
    }

    /// Returns the other names of a file that has several; `None` when some of them are not among the files of the
    /// workspace that a search sees.
    pub fn other_names(&self, real: &Path, file: &FileSnapshot) -> Option<Vec<PathBuf>> {
        let wanted = usize::try_from(file.links()).ok()?.saturating_sub(1);
        let mut names = Vec::new();
        if wanted == 0 {
            return Some(names);
        }
        let bounds = Bounds { entries: self.caution.entries(), time: self.caution.time() };
        let mut walk = self.walk(&self.root, bounds).ok()?;
        while names.len() < wanted {
            let Entry { path, kind, .. } = walk.next(|| false)?;
            let is_other = kind == EntryKind::File && path != real;
            let identity = || path.symlink_metadata().map(|metadata| (metadata.dev(), metadata.ino()));
            if is_other && identity().is_ok_and(|identity| identity == file.identity) {
                names.push(path);
            }
        }
        Some(names)
    }

    /// Writes a file, in one step, if it still holds `before` (`None`: if there is still none); missing directories are
    /// made. The change is recorded for undo, the content as seen.
    ///
    /// # Errors
    /// One sentence for the model; the file is as it was, and so are the directories.
    pub fn write(&self, real: &Path, before: Option<&[u8]>, after: &[u8]) -> Result<Undoable, String> {
        self.write_names(real, before, after, Names::Parted, RepositoryPart::Refused)
    }

    /// As [`Workspace::write`], with what becomes of the other names of the file.
    ///
    /// # Errors
    /// As [`Workspace::write`].
    pub fn write_names(
        &self,
        real: &Path,
        before: Option<&[u8]>,
        after: &[u8],
        names: Names,
        part: RepositoryPart,
    ) -> Result<Undoable, String> {
        let (relative, beneath) = self.writable(real)?;
        let _alone = beneath.writing();
        // What a command makes at the same time must not become a repository by this.
        let failed = |error: Errno| self.unwritten(real, before, &error.into());
        let lock =
            ProtectedPlaces::may_be_part(relative).then(|| NamesLock::new(&self.root)).transpose().map_err(failed)?;
        let _held = lock.as_ref().map(NamesLock::hold).transpose().map_err(failed)?;
        let mut repositories = Vec::new();
        if let Some(lock) = &lock {
            let in_root = |directory: &Path| directory.starts_with(&self.root);
            lock.with_repositories(real, in_root, &mut repositories).map_err(failed)?;
        }
        if lock.is_some() && part == RepositoryPart::Refused && ProtectedPlaces::is_part(real) {
            return Err(self.unwritten(real, before, &WriteError::Changed));
        }
        let mut made = Vec::new();
        let written = beneath.place_made(relative, &mut made).map_err(WriteError::from).and_then(|place| {
            let held = atomic::look(&place, limits::CHANGED_FILE_BYTES)?;
            atomic::replace(&place, before, after, names)?;
            Ok(held)
        });
        match written {
            Ok(held) => {
                self.note_seen(real, after);
                let shown = self.display(real);
                Ok(self.changes.record(Written {
                    beneath,
                    relative,
                    shown,
                    before: held.as_ref(),
                    after,
                    names,
                    directories: made,
                }))
            }
            Err(error) => {
                beneath.unmake(&made);
                Err(self.unwritten(real, before, &error))
            }
        }
    }

    /// Remembers what the model has seen of a file.
    pub fn note_seen(&self, real: &Path, content: &[u8]) {
        self.seen.note(real, content);
    }

    /// Returns whether the model has seen this content of a file.
    pub fn seen_state(&self, real: &Path, content: &[u8]) -> SeenState {
        self.seen.seen_state(real, content)
    }

    fn writable<'a>(&'a self, real: &'a Path) -> Result<(&'a Path, &'a Arc<Beneath>), String> {
        self.changeable_part(real).ok_or_else(|| format!("{} is outside the workspace", self.display(real)))
    }

    fn unwritten(&self, real: &Path, before: Option<&[u8]>, error: &WriteError) -> String {
        let shown = self.display(real);
        match (error, before) {
            (WriteError::Changed, Some(_)) => {
                format!("{shown} was not written: another program changed it meanwhile; read it again")
            }
            (WriteError::Changed, None) => {
                format!("{shown} was not written: another program created it meanwhile; read it")
            }
            (WriteError::Io(error), Some(_)) => format!("{shown} was not written and is as it was: {error}"),
            (WriteError::Io(error), None) => format!("{shown} was not created: {error}"),
        }
    }
}

/// The hashes of the contents of files that the model has seen in this session, the latest ones up to a limit. Only the content
/// counts: a new time stamp on the same bytes changes nothing, and other bytes under the old time stamp do.
#[derive(Debug, Default)]
pub(super) struct SeenContents {
    inner: Mutex<SeenHashes>,
}

#[derive(Debug, Default)]
struct SeenHashes {
    files: HashMap<PathBuf, (u64, Hash)>,
    count: u64,
}

/// Whether a written file may be a part of a repository without a `.git`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepositoryPart {
    /// It is not written then.
    Refused,
    /// The user was asked about it.
    Approved,
}

/// Whether the model has seen the current content of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeenState {
    /// The model has not looked at it.
    Unread,
    /// Its content differs from what the model saw.
    Changed,
    /// It is as the model saw it.
    Known,
}

impl SeenContents {
    /// Remembers what a file holds.
    pub(super) fn note(&self, path: &Path, content: &[u8]) {
        let hash = hash(content);
        let mut inner = lock(&self.inner);
        inner.count += 1;
        let count = inner.count;
        inner.files.insert(path.to_owned(), (count, hash));
        if inner.files.len() > limits::SEEN_FILES {
            let oldest = inner.files.iter().min_by_key(|(_, (count, _))| *count).map(|(path, _)| path.clone());
            if let Some(oldest) = oldest {
                inner.files.remove(&oldest);
            }
        }
    }

    /// Compares what a file holds with what was remembered.
    pub(super) fn seen_state(&self, path: &Path, content: &[u8]) -> SeenState {
        match lock(&self.inner).files.get(path) {
            None => SeenState::Unread,
            Some((_, seen)) if *seen == hash(content) => SeenState::Known,
            Some(_) => SeenState::Changed,
        }
    }
}
