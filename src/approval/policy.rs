//! The policy: one function from an act to a verdict. Pure; whoever waits for an answer is not its concern.

use std::fmt;

use crate::approval::{Act, Mode, Sandboxed};

/// Says who answers questions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Answerer {
    /// The user, each time.
    User,
    /// Nobody is there: what would be asked is refused.
    #[default]
    Nobody,
    /// A standing yes, for all but protected places.
    Yes,
}

/// Says whether commands reach the network.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Network {
    /// They do, or nobody can tell.
    #[default]
    On,
    /// The sandbox keeps them from it.
    Off,
}

/// Holds what decides besides the mode.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// Who answers.
    pub answerer: Answerer,
    /// Whether commands are confined.
    pub sandboxed: Option<Sandboxed>,
    /// Whether commands reach the network.
    pub network: Network,
}

/// Is what the user allowed for the rest of the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grant {
    /// Changes of files within the workspace.
    Edits,
    /// A command that begins with these words, nothing else in it.
    Prefix(Vec<String>),
    /// Exactly this command.
    Command(String),
    /// Addresses of this host.
    Host(String),
    /// Search queries.
    Searches,
}

/// In words, for the question that offers it.
impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Edits => f.write_str("every change of a file within the workspace"),
            Self::Prefix(words) => write!(f, "every command that begins with: {}", words.join(" ")),
            Self::Command(command) => write!(f, "exactly this command: {command}"),
            Self::Host(host) => write!(f, "every address of {host}"),
            Self::Searches => f.write_str("every search"),
        }
    }
}

/// Is what the policy says about an act.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It runs.
    Allow,
    /// The user is asked.
    Ask {
        /// Why, in a few words for the user; empty when that is plain.
        why: String,
        /// What an answer for the session would cover; `None` when it is asked about each time.
        grant: Option<Grant>,
    },
    /// It does not run; the sentence is for the model.
    Deny(String),
}

impl Policy {
    /// Decides about an act.
    pub fn decide(&self, act: &Act, mode: Mode, grants: &[Grant]) -> Verdict {
        let _ = grants;
        match (mode, act) {
            (Mode::ReadOnly, Act::Command(_) | Act::Write(_) | Act::Clone(_)) => {
                Verdict::Deny("the mode is read-only".to_owned())
            }
            (Mode::AutoEdit | Mode::Auto | Mode::AutoWithoutSandbox, Act::Write(_))
            | (Mode::Auto | Mode::AutoWithoutSandbox, _) => Verdict::Allow,
            _ => Verdict::Ask { why: String::new(), grant: None },
        }
    }
}
