//! Where the sockets lie: one directory of the user's own; a socket and a key per session, named by its ID. Another one has
//! a link to each, for programs that were started without the variable that names the first.
//!
//! Always holds: nothing is made or used in a directory that somebody else could write to.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, PermissionsExt as _, symlink};
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
        let mut paths: Vec<PathBuf> = self.entries()?.into_iter().filter_map(|entry| socket_of(&entry)).collect();
        paths.sort();
        Ok(paths)
    }

    /// Leaves a link to the socket of a session that listens elsewhere: programs that know only this directory find it here.
    ///
    /// # Errors
    /// What the system says, when the directory is not the user's alone, or when a session listens here under that name.
    pub(super) fn announce(&self, socket: &Path) -> io::Result<PathBuf> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.0)?;
        check(&self.0)?;
        self.sweep();
        let link = self.0.join(socket.file_name().unwrap_or_default());
        if is_link(&link) {
            fs::remove_file(&link)?;
        }
        symlink(socket, &link)?;
        Ok(link)
    }

    /// Returns the directories in which the sockets lie that are found here: this one, and those that links lead to.
    pub fn directories(&self) -> Vec<PathBuf> {
        let linked = self.list().unwrap_or_default().into_iter().filter_map(|path| path.parent().map(Path::to_owned));
        let mut all: Vec<PathBuf> = std::iter::once(self.0.clone()).chain(linked).collect();
        all.sort();
        all.dedup();
        all
    }

    /// Returns what is there under the name of a session.
    fn entries(&self) -> io::Result<Vec<PathBuf>> {
        match check(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            checked => checked?,
        }
        let entries = fs::read_dir(&self.0)?.flatten().map(|entry| entry.path());
        Ok(entries.filter(|path| name_of(path).is_some()).collect())
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
        if is_socket(&path) || is_link(&path) {
            fs::remove_file(&path)?;
        }
        let key = SessionKey::create(&key_path(&path))?;
        let listener = UnixListener::bind(&path)?;
        fs::set_permissions(&path, Permissions::from_mode(0o600))?;
        Ok((listener, path, key))
    }

    /// Removes what programs left that were killed, unless one may just begin to listen there.
    fn sweep(&self) {
        for entry in self.entries().unwrap_or_default() {
            let Some(path) = socket_of(&entry) else {
                // A link whose session is gone leads nowhere.
                let is_left = is_link(&entry) && !entry.exists();
                let _ = is_left.then(|| fs::remove_file(&entry));
                continue;
            };
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

/// Returns the socket that an entry is, or leads to: one of the same name, in a directory that is the user's alone.
fn socket_of(entry: &Path) -> Option<PathBuf> {
    if is_socket(entry) {
        return Some(entry.to_owned());
    }
    let socket = fs::read_link(entry).ok().filter(|socket| socket.is_absolute() && is_socket(socket))?;
    let is_same = socket.file_name() == entry.file_name();
    (is_same && check(socket.parent()?).is_ok()).then_some(socket)
}

fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink())
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
