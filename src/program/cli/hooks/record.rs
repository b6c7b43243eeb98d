//! The record of the hooks that the user said yes or no to, by the hash of their content.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::program::cli::project::{StateFile, TrustedTexts};
use steersman_extensions::hooks::{HookPin, HookTrust, TrustedHook};

/// The file with the decisions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookRecord {
    file: StateFile,
    texts: TrustedTexts,
}

/// What the user said of a content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookDecision {
    Trusted,
    Declined,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct HooksFile {
    trusted: Vec<String>,
    declined: Vec<String>,
}

impl HookRecord {
    /// Returns the record of a state directory; `None` without one.
    pub fn at(state: Option<&Path>) -> Option<Self> {
        state.map(|state| Self { file: StateFile::new(state, "hooks"), texts: TrustedTexts::at(state) })
    }

    /// Returns what the user said of a content. An unreadable record trusts nothing.
    pub(super) fn decision(&self, hash: &str) -> Option<HookDecision> {
        let all: HooksFile = self.file.read().unwrap_or_default();
        let holds = |hashes: &[String]| hashes.iter().any(|known| known == hash);
        match (holds(&all.declined), holds(&all.trusted)) {
            (true, _) => Some(HookDecision::Declined),
            (false, true) => Some(HookDecision::Trusted),
            (false, false) => None,
        }
    }

    /// Returns the texts of the trusted contents that none of these hooks has: what hooks were before they changed.
    pub(super) fn texts_of_others(&self, present: &[TrustedHook]) -> Vec<String> {
        let all: HooksFile = self.file.read().unwrap_or_default();
        let is_there =
            |hash: &str| present.iter().any(|hook| matches!(&hook.trust, HookTrust::Content(pin) if pin.hash == hash));
        // The newest count where there are several.
        all.trusted.iter().rev().filter(|hash| !is_there(hash)).filter_map(|hash| self.texts.read(hash)).collect()
    }

    /// Trusts these contents from now on.
    ///
    /// # Errors
    /// The error of the system; the record is unchanged.
    pub fn trust(&self, pins: &[&HookPin]) -> io::Result<()> {
        for pin in pins {
            self.texts.keep(&pin.hash, pin.text.as_str());
        }
        self.decide(pins.iter().map(|pin| pin.hash.clone()).collect(), |all| &mut all.trusted)
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
        self.file.change(|_: io::Result<HooksFile>| Ok(HooksFile::default()))
    }

    fn decide(&self, hashes: Vec<String>, list: impl Fn(&mut HooksFile) -> &mut Vec<String>) -> io::Result<()> {
        self.file.change(|all: io::Result<HooksFile>| {
            let mut all = all.unwrap_or_default();
            all.trusted.retain(|known| !hashes.contains(known));
            all.declined.retain(|known| !hashes.contains(known));
            list(&mut all).extend(hashes);
            Ok(all)
        })
    }
}
