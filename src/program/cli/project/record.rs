//! The record of the projects that the user trusts: directory and hash of the content. The directory is the root, or the one
//! below it that adds files of its own: each package of a repository is remembered apart.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::state_file::StateFile;
use super::trusted_texts::TrustedTexts;
use crate::program::cli::project::ProjectOffer;

/// The file with the trusted projects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustRecord {
    file: StateFile,
    texts: TrustedTexts,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct TrustFile {
    #[serde(default)]
    trusted: Vec<TrustedProject>,
}

/// A project with the hash of its files when the user said yes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct TrustedProject {
    root: String,
    sha256: String,
}

impl TrustedProject {
    /// Makes the entry of a project; `None` for a directory that is not UTF-8.
    fn new(offer: &ProjectOffer) -> Option<Self> {
        Some(Self { root: offer.nearest.to_str()?.to_owned(), sha256: offer.hash() })
    }
}

impl TrustRecord {
    /// Returns the record of a state directory; `None` without one.
    pub fn at(state: Option<&Path>) -> Option<Self> {
        state.map(|state| Self { file: StateFile::new(state, "trust"), texts: TrustedTexts::at(state) })
    }

    /// Returns whether the user trusts exactly these files. An unreadable record trusts nothing.
    pub fn knows(&self, offer: &ProjectOffer) -> bool {
        let trusted: TrustFile = self.file.read().unwrap_or_default();
        TrustedProject::new(offer).is_some_and(|entry| trusted.trusted.contains(&entry))
    }

    /// Returns whether the user has trusted files of this project, also others than these.
    pub fn knows_root(&self, offer: &ProjectOffer) -> bool {
        self.hash_of_root(offer).is_some()
    }

    /// Returns what the question about this project showed when the user trusted it last.
    pub fn text_of_root(&self, offer: &ProjectOffer) -> Option<String> {
        self.texts.read(&self.hash_of_root(offer)?)
    }

    fn hash_of_root(&self, offer: &ProjectOffer) -> Option<String> {
        let trusted: TrustFile = self.file.read().unwrap_or_default();
        let entry = TrustedProject::new(offer)?;
        trusted.trusted.into_iter().find(|known| known.root == entry.root).map(|known| known.sha256)
    }

    /// Adds a project, replacing its earlier entry.
    ///
    /// # Errors
    /// The error of the system; the record is unchanged.
    pub fn add(&self, offer: &ProjectOffer) -> io::Result<()> {
        let entry = TrustedProject::new(offer).ok_or_else(|| io::Error::other("the project's path is not UTF-8"))?;
        self.texts.keep(&entry.sha256, &offer.detail());
        self.file.change(|all: io::Result<TrustFile>| {
            // An unreadable record trusts nothing and is replaced by the next yes.
            let mut all = all.unwrap_or_default();
            all.trusted.retain(|old| old.root != entry.root);
            all.trusted.push(entry);
            Ok(all)
        })
    }
}
