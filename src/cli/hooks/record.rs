//! The record of the hooks that the user said yes or no to, by the hash of their content.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::UserHookState;
use crate::cli::project::StateFile;
use crate::hooks::HookTrust;

/// The file with the decisions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookRecord(StateFile);

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct HooksFile {
    trusted: Vec<String>,
    declined: Vec<String>,
}

impl HookRecord {
    /// Returns the record of a state directory; `None` without one.
    pub fn at(state: Option<&Path>) -> Option<Self> {
        state.map(|state| Self(StateFile::new(state, "hooks")))
    }

    /// Returns how a content stands. An unreadable record trusts nothing.
    pub(super) fn state(&self, hash: &str) -> UserHookState {
        let all: HooksFile = self.0.read().unwrap_or_default();
        let holds = |hashes: &[String]| hashes.iter().any(|known| known == hash);
        match (holds(&all.declined), holds(&all.trusted)) {
            (true, _) => UserHookState::Declined,
            (false, true) => UserHookState::Trusted(HookTrust::Content(hash.to_owned())),
            (false, false) => UserHookState::Unknown(hash.to_owned()),
        }
    }

    /// Trusts these contents from now on.
    ///
    /// # Errors
    /// The error of the system; the record is unchanged.
    pub fn trust(&self, hashes: Vec<String>) -> io::Result<()> {
        self.decide(hashes, |all| &mut all.trusted)
    }

    /// Does not ask about these contents again.
    ///
    /// # Errors
    /// As [`Self::trust`].
    pub fn decline(&self, hashes: Vec<String>) -> io::Result<()> {
        self.decide(hashes, |all| &mut all.declined)
    }

    /// Forgets every decision.
    ///
    /// # Errors
    /// As [`Self::trust`].
    pub fn forget(&self) -> io::Result<()> {
        self.0.change(|_: io::Result<HooksFile>| Ok(HooksFile::default()))
    }

    fn decide(&self, hashes: Vec<String>, list: impl Fn(&mut HooksFile) -> &mut Vec<String>) -> io::Result<()> {
        self.0.change(|all: io::Result<HooksFile>| {
            let mut all = all.unwrap_or_default();
            all.trusted.retain(|known| !hashes.contains(known));
            all.declined.retain(|known| !hashes.contains(known));
            list(&mut all).extend(hashes);
            Ok(all)
        })
    }
}
