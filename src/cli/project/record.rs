//! The record of the projects that the user trusts: root and content, in the state directory, 0600. Instances that write
//! at once take turns, so that no yes is lost.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use crate::cli::project::Offer;
use crate::limits;
use crate::regular_file::read_head;

/// The file of the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    path: PathBuf,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Trusted {
    #[serde(default)]
    trusted: Vec<Entry>,
}

/// A project with what it brought when the user said yes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    root: String,
    sha256: String,
}

impl Entry {
    /// `None` for a root that cannot be written down.
    fn of(offer: &Offer) -> Option<Self> {
        Some(Self { root: offer.root.to_str()?.to_owned(), sha256: offer.hash() })
    }
}

impl Record {
    /// Names the record in the state directory; `None` without one.
    pub fn at(state: Option<&Path>) -> Option<Self> {
        state.map(|state| Self { path: state.join("trust.toml") })
    }

    /// Tells whether the user trusts exactly this. A record that cannot be read trusts nothing.
    pub fn knows(&self, offer: &Offer) -> bool {
        Entry::of(offer).is_some_and(|entry| self.read().trusted.contains(&entry))
    }

    /// Adds this, in the place of what the same project brought before.
    ///
    /// # Errors
    /// What the system says; the record is as it was.
    pub fn add(&self, offer: &Offer) -> io::Result<()> {
        let entry = Entry::of(offer).ok_or_else(|| io::Error::other("the project's path is not UTF-8"))?;
        let directory = self.path.parent().unwrap_or(Path::new("."));
        DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        std::fs::set_permissions(directory, Permissions::from_mode(0o700))?;
        // What another instance adds meanwhile is read too: until the end of this function nobody else writes.
        let _lock = lock(&directory.join(".trust.lock"))?;
        let mut all = self.read();
        all.trusted.retain(|old| old.root != entry.root);
        all.trusted.push(entry);
        let text = toml::to_string(&all).map_err(io::Error::other)?;
        // Made with 0600, and in its place at once or not at all.
        let mut file = tempfile::Builder::new().prefix(".trust").tempfile_in(directory)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(&self.path).map_err(|error| error.error)?;
        Ok(())
    }

    fn read(&self) -> Trusted {
        let head = read_head(&self.path, limits::TRUST_BYTES).ok().filter(|head| !head.is_cut());
        let text = head.and_then(|head| String::from_utf8(head.bytes).ok());
        text.and_then(|text| toml::from_str(&text).ok()).unwrap_or_default()
    }
}

/// Waits until no other instance writes. The file is the user's own and never followed as a link; the lock ends with it.
fn lock(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600);
    options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
    let file = options.open(path)?;
    file.lock()?;
    Ok(file)
}
