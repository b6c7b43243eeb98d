//! The directories that commands may write in, each opened once; what lies in them is reached from there only.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Dir, FileType};

use crate::workspace::beneath::{Beneath, NameInDirectory};
use crate::workspace::snapshot::content::{KeepLimits, PathContent};

/// The opened directories. Clones share them.
#[derive(Debug, Clone, Default)]
pub(super) struct WritableDirectories(Vec<WritableDirectory>);

#[derive(Debug, Clone)]
pub(super) struct WritableDirectory {
    /// Real and absolute.
    pub(super) path: PathBuf,
    pub(super) inode: u64,
    beneath: std::sync::Arc<Beneath>,
}

impl WritableDirectories {
    pub(super) fn open(paths: &[PathBuf]) -> Self {
        let mut grounds = Self::default();
        for path in paths {
            let Ok(path) = path.canonicalize() else { continue };
            let Ok(beneath) = Beneath::open(&path) else { continue };
            let Ok(inode) = beneath.inode() else { continue };
            if grounds.0.iter().all(|ground| ground.path != path) {
                grounds.0.push(WritableDirectory { path, inode, beneath: beneath.into() });
            }
        }
        grounds
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &WritableDirectory> {
        self.0.iter()
    }

    pub(super) fn add(&mut self, others: &Self) {
        let new: Vec<WritableDirectory> =
            others.0.iter().filter(|other| self.0.iter().all(|own| own.path != other.path)).cloned().collect();
        self.0.extend(new);
    }

    pub(super) fn hold(&self, path: &Path) -> bool {
        self.0.iter().any(|ground| path.starts_with(&ground.path))
    }

    pub(super) fn place(&self, path: &Path) -> io::Result<NameInDirectory> {
        let (ground, relative) = self.split(path)?;
        ground.beneath.place(relative)
    }

    pub(super) fn look(&self, path: &Path, room: &mut KeepLimits) -> PathContent {
        let Ok((ground, relative)) = self.split(path) else { return PathContent::Missing };
        PathContent::look(&ground.beneath, relative, room)
    }

    /// Looks at a directory, which may be one of these itself.
    pub(super) fn look_at_directory(&self, path: &Path) -> PathContent {
        match self.0.iter().find(|ground| ground.path == path) {
            Some(ground) => PathContent::Directory { mode: 0, inode: ground.inode },
            None => self.look(path, &mut KeepLimits::for_one()),
        }
    }

    /// Returns the names in a directory, at most so many, and whether that is all of them.
    pub(super) fn list(&self, path: &Path, most: usize) -> io::Result<(Vec<(OsString, FileType)>, bool)> {
        let (ground, relative) = self.split(path)?;
        let mut names = Vec::new();
        for entry in Dir::new(ground.beneath.directory(relative)?)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            if names.len() >= most {
                return Ok((names, false));
            }
            let kind = match entry.file_type() {
                FileType::Unknown => match self.look(&path.join(name), &mut KeepLimits { bytes: 0, entries: 0 }) {
                    PathContent::Directory { .. } => FileType::Directory,
                    PathContent::Link(_) => FileType::Symlink,
                    PathContent::File { .. } | PathContent::Missing | PathContent::Unkept { .. } => {
                        FileType::RegularFile
                    }
                },
                kind => kind,
            };
            names.push((name.to_owned(), kind));
        }
        names.sort_by(|(left, _), (right, _)| left.cmp(right));
        Ok((names, true))
    }

    fn split<'a>(&'a self, path: &'a Path) -> io::Result<(&'a WritableDirectory, &'a Path)> {
        let holding = self.0.iter().filter_map(|ground| Some((ground, path.strip_prefix(&ground.path).ok()?)));
        let nearest = holding.max_by_key(|(ground, _)| ground.path.as_os_str().len());
        nearest.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "it is outside"))
    }
}

/// Returns where a name leads that stands in a file of `from`, with the links that are there now followed.
pub(super) fn resolve(from: &Path, name: &Path) -> PathBuf {
    let joined = from.join(name);
    if let Ok(real) = joined.canonicalize() {
        return real;
    }
    let mut plain = PathBuf::new();
    for part in joined.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => plain.push(part),
        }
    }
    match (plain.parent().and_then(|parent| parent.canonicalize().ok()), plain.file_name()) {
        (Some(parent), Some(name)) => parent.join(name),
        _ => plain,
    }
}
