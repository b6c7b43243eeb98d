//! A file with decisions of the user, in the state directory, 0600. Instances of the program write one after
//! another, so that no decision is lost.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use serde::Serialize;
use serde::de::DeserializeOwned;

use steersman_base::limits;
use steersman_base::regular_file::{self, Links, read_own_text};

/// A file of the state directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::program::cli) struct StateFile {
    directory: PathBuf,
    /// Its name without the ending.
    name: &'static str,
}

impl StateFile {
    pub(in crate::program::cli) fn new(directory: &Path, name: &'static str) -> Self {
        Self { directory: directory.to_owned(), name }
    }

    /// Reads the file; a missing file is empty.
    pub(in crate::program::cli) fn read<T: Default + DeserializeOwned>(&self) -> io::Result<T> {
        let text = match read_own_text(&self.path(), limits::STATE_FILE_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(T::default()),
            text => text?,
        };
        toml::from_str(&text).map_err(|error| io::Error::other(error.message().to_owned()))
    }

    /// Replaces the content by what `change` returns, atomically. What is no regular file is left as it is.
    pub(in crate::program::cli) fn change<T: Default + DeserializeOwned + Serialize>(
        &self,
        change: impl FnOnce(io::Result<T>) -> io::Result<T>,
    ) -> io::Result<()> {
        let Self { directory, name } = self;
        DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        std::fs::set_permissions(directory, Permissions::from_mode(0o700))?;
        // Other instances cannot write until the end of this function, so the read below sees all their changes.
        let _lock = lock(&directory.join(format!(".{name}.lock")))?;
        let text = toml::to_string(&change(self.read())?).map_err(io::Error::other)?;
        // A link is the user's, as to a file that several machines share: it stays, and leads to the new content.
        let path = match regular_file::open(&self.path(), Links::Followed) {
            Ok(_) => self.path().canonicalize()?,
            Err(error) if error.kind() == io::ErrorKind::NotFound && !self.path().is_symlink() => self.path(),
            Err(error) => return Err(error),
        };
        let beside = path.parent().unwrap_or(directory);
        let mut file = tempfile::Builder::new().prefix(&format!(".{name}")).tempfile_in(beside)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(&path).map_err(|error| error.error)?;
        Ok(())
    }

    pub(in crate::program::cli) fn path(&self) -> PathBuf {
        self.directory.join(format!("{}.toml", self.name))
    }
}

/// Waits until no other instance writes. Links are not followed; closing the file releases the lock.
fn lock(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600);
    options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
    let file = options.open(path)?;
    file.lock()?;
    Ok(file)
}
