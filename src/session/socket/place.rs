//! Where the sockets lie: one directory of the user's own; a socket and a key per session, named by its ID.
//!
//! Always holds: nothing is made or used in a directory that somebody else could write to.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use crate::socket::key::SessionKey;

/// How the name of a socket ends.
const END: &str = ".sock";
/// How the name of the file with its key ends.
const KEY_END: &str = "key";

/// The directory of the sockets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sockets(PathBuf);

impl Sockets {
    /// Names the directory; it is made when a session listens.
    pub fn within(directory: PathBuf) -> Self {
        Self(directory)
    }

    /// Returns the path of a session's socket.
    pub fn path(&self, session: &str) -> PathBuf {
        self.0.join(format!("{session}{END}"))
    }

    /// Returns the sockets that are there, by the names of their sessions; not each is listened on.
    ///
    /// # Errors
    /// What the system says; a directory that is not there holds none.
    pub fn list(&self) -> io::Result<Vec<PathBuf>> {
        match check(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            checked => checked?,
        }
        let entries = fs::read_dir(&self.0)?.flatten().map(|entry| entry.path());
        let mut paths: Vec<PathBuf> = entries.filter(|path| name_of(path).is_some() && is_socket(path)).collect();
        paths.sort();
        Ok(paths)
    }

    /// Listens for a session, in place of a socket that nobody listens on any more; whoever has the key may act.
    ///
    /// # Errors
    /// What the system says, when the directory is not the user's alone, or when somebody listens there.
    pub(super) fn listen(&self, session: &str) -> io::Result<(UnixListener, PathBuf, SessionKey)> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.0)?;
        check(&self.0)?;
        self.sweep();
        let path = self.path(session);
        if UnixStream::connect(&path).is_ok() {
            return Err(io::Error::new(io::ErrorKind::AddrInUse, "somebody listens for this session already"));
        }
        if is_socket(&path) {
            fs::remove_file(&path)?;
        }
        let key = SessionKey::create(&key_path(&path))?;
        let listener = UnixListener::bind(&path)?;
        fs::set_permissions(&path, Permissions::from_mode(0o600))?;
        Ok((listener, path, key))
    }

    /// Removes what programs left that were killed, unless one may just begin to listen there.
    fn sweep(&self) {
        for path in self.list().unwrap_or_default() {
            let made = fs::symlink_metadata(&path).and_then(|metadata| metadata.modified());
            let is_old = made.is_ok_and(|made| made.elapsed().is_ok_and(|age| age.as_secs() > 60));
            let is_left =
                || UnixStream::connect(&path).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused);
            if is_old && is_left() {
                remove(&path);
            }
        }
    }
}

/// Returns the name of the session whose socket this is.
pub fn name_of(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()?.strip_suffix(END)
}

/// Returns the path of the key that belongs to a socket.
pub(super) fn key_path(socket: &Path) -> PathBuf {
    socket.with_extension(KEY_END)
}

/// Removes a socket and its key.
pub(super) fn remove(socket: &Path) {
    for path in [socket, &key_path(socket)] {
        let _ = fs::remove_file(path);
    }
}

fn is_socket(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.file_type().is_socket())
}

/// Checks that a directory is the user's own and nobody else's.
fn check(directory: &Path) -> io::Result<()> {
    let metadata = fs::symlink_metadata(directory)?;
    let is_own = metadata.is_dir() && metadata.uid() == rustix::process::geteuid().as_raw();
    // No right of the group, nor of others.
    if is_own && metadata.mode().trailing_zeros() >= 6 {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::PermissionDenied, "the directory of the sockets is not yours alone"))
}
