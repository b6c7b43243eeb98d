//! Files that the user names for output: a file, or what the system offers under the name of one.
//!
//! Always holds: only a regular file of the user's with a single name is replaced, as one step. A device and a FIFO are
//! written to, a link leads to what it names, and a file that has other names or another owner keeps them.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use tempfile::Builder;

/// What becomes of a regular file that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExistingFile {
    /// It gets the new content.
    Replaced,
    /// It is kept: the writing fails.
    Kept,
}

/// Writes a file, whole or not at all where it is a new one or replaced. It waits for the reader of a FIFO.
///
/// # Errors
/// What the system says, without the name.
pub fn write_named(path: &Path, bytes: &[u8], existing: ExistingFile) -> io::Result<()> {
    let found = match fs::metadata(path) {
        // A link to what is not there yet leads there.
        Err(error) if error.kind() == io::ErrorKind::NotFound && path.is_symlink() => {
            return write_into(OpenOptions::new().write(true).create(true), path, bytes);
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => return put(path, bytes, None, ExistingFile::Kept),
        found => found?,
    };
    if found.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    // What standard output is may be a file too, to which others write.
    if !found.is_file() || path.starts_with("/dev") || path.starts_with("/proc") {
        return write_into(OpenOptions::new().append(true), path, bytes);
    }
    if existing == ExistingFile::Kept {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let in_place = || write_into(OpenOptions::new().write(true).truncate(true), path, bytes);
    if found.nlink() > 1 || found.uid() != rustix::process::geteuid().as_raw() {
        return in_place();
    }
    match put(&path.canonicalize()?, bytes, Some(&found), existing) {
        // No file can be made beside it.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => in_place(),
        written => written,
    }
}

/// Checks, before the content is there, that a file can be written as far as that can be known.
///
/// # Errors
/// A sentence without the name.
pub fn check_named(path: &Path) -> Result<(), String> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (fs::metadata(parent), fs::metadata(path)) {
        // A link leads to what is not there yet, or cannot be.
        (Ok(_), Err(error)) if path.is_symlink() && error.kind() != io::ErrorKind::NotFound => Err(error.to_string()),
        (Ok(_), Err(_)) if path.is_symlink() => {
            let target = fs::read_link(path).map_err(|error| error.to_string())?;
            check_named(&parent.join(target))
        }
        (Ok(_), Ok(found)) if found.file_type().is_socket() => Err("it is a socket".to_owned()),
        (Err(error), _) => Err(format!("its directory cannot be used: {error}")),
        (Ok(parent), _) if !parent.is_dir() => Err("its directory is a file".to_owned()),
        (Ok(_), Ok(found)) if found.is_dir() => Err("it is a directory".to_owned()),
        (Ok(_), Ok(_) | Err(_)) => Ok(()),
    }
}

fn write_into(options: &OpenOptions, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    if file.metadata()?.is_file() { file.sync_all() } else { Ok(()) }
}

/// Writes a file beside its place, and gives it its name at the end: a reader sees the old one or the new one.
fn put(path: &Path, bytes: &[u8], like: Option<&Metadata>, existing: ExistingFile) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // A new one has what the umask leaves.
    let rights = Permissions::from_mode(0o666);
    let mut file = Builder::new()
        .prefix(".steersman-")
        .permissions(rights)
        .tempfile_in(directory)
        .map_err(|error| without_path(&error))?;
    file.write_all(bytes)?;
    if let Some(like) = like {
        file.as_file().set_permissions(like.permissions())?;
    }
    file.as_file().sync_all()?;
    let named: Result<File, _> = match existing {
        ExistingFile::Replaced => file.persist(path),
        ExistingFile::Kept => file.persist_noclobber(path),
    };
    named.map(drop).map_err(|error| error.error)
}

/// Returns the error without the name of the temporary file, which tells a user nothing.
fn without_path(error: &io::Error) -> io::Error {
    let said = error.to_string();
    io::Error::new(error.kind(), said.split(" at path ").next().unwrap_or_default())
}
