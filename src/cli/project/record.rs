//! The record of the projects that the user trusts: root and content.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::state_file::StateFile;
use crate::cli::project::Offer;

/// The file of the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record(StateFile);

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
        state.map(|state| Self(StateFile::new(state, "trust")))
    }

    /// Returns whether the user trusts exactly this. A record that cannot be read trusts nothing.
    pub fn knows(&self, offer: &Offer) -> bool {
        let trusted: Trusted = self.0.read().unwrap_or_default();
        Entry::of(offer).is_some_and(|entry| trusted.trusted.contains(&entry))
    }

    /// Adds this, in the place of what the same project brought before.
    ///
    /// # Errors
    /// What the system says; the record is as it was.
    pub fn add(&self, offer: &Offer) -> io::Result<()> {
        let entry = Entry::of(offer).ok_or_else(|| io::Error::other("the project's path is not UTF-8"))?;
        self.0.change(|all: io::Result<Trusted>| {
            // One that cannot be read trusts nothing; the next yes makes it good.
            let mut all = all.unwrap_or_default();
            all.trusted.retain(|old| old.root != entry.root);
            all.trusted.push(entry);
            Ok(all)
        })
    }
}
