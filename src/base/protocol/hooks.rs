//! The hooks of a session, and whether each of them runs.

use serde::{Deserialize, Serialize};

use crate::event::HookEvent;

/// One hook. All texts are untrusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookStatus {
    /// The file that it is in.
    pub file: String,
    /// The point of the loop.
    pub event: HookEvent,
    /// What it is for there; empty for everything.
    pub matcher: String,
    /// What is run.
    pub command: String,
    /// Whether it runs, and why.
    pub state: HookState,
    /// Whether nobody waits for it.
    pub in_background: bool,
}

/// Whether a hook runs, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HookState {
    /// It stands in the user's own file of this program.
    Own,
    /// The user said yes to it.
    Accepted,
    /// The user trusts the project.
    OfTrustedProject,
    /// The user said no to it.
    Declined,
    /// The user was not asked about it.
    Unasked,
    /// The user does not trust the project.
    OfUntrustedProject,
}

impl HookState {
    /// Returns it in words.
    pub fn label(self) -> &'static str {
        match self {
            Self::Own => "runs",
            Self::Accepted => "runs, you said yes",
            Self::OfTrustedProject => "runs, you trust the project",
            Self::Declined => "not run, you said no",
            Self::Unasked => "not run, you were not asked yet",
            Self::OfUntrustedProject => "not run, the project is not trusted",
        }
    }

    /// Tells whether it runs.
    pub fn runs(self) -> bool {
        match self {
            Self::Own | Self::Accepted | Self::OfTrustedProject => true,
            Self::Declined | Self::Unasked | Self::OfUntrustedProject => false,
        }
    }
}
