//! The approval modes: how much runs without a question. Always shown, switched at any time.

use serde::{Deserialize, Serialize};

/// An approval mode. Rules of the configuration and protected places have precedence over it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Reading runs; overwriting, editing, commands and the network are asked about.
    #[default]
    Ask,
    /// Files within the workspace are written without a question.
    AutoEdit,
    /// Everything runs that the sandbox confines; needs a sandbox.
    Auto,
    /// As [`Mode::Auto`], also without a sandbox. Only ever chosen by name.
    AutoWithoutSandbox,
    /// Nothing is changed or sent, and no command runs.
    ReadOnly,
    /// As [`Mode::ReadOnly`], until the user accepts the plan of the agent and with it chooses another mode.
    Plan,
}

impl Mode {
    /// Returns the name, as in the configuration and on the screen.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::AutoEdit => "auto-edit",
            Self::Auto => "auto",
            Self::AutoWithoutSandbox => "auto-without-sandbox",
            Self::ReadOnly => "read-only",
            Self::Plan => "plan",
        }
    }

    /// Returns the mode of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }

    /// Returns a description.
    pub fn help(self) -> &'static str {
        match self {
            Self::Ask => "changes of files, commands and the network are asked about",
            Self::AutoEdit => "files of the workspace are changed without a question",
            Self::Auto => "everything that the sandbox confines runs without a question",
            Self::AutoWithoutSandbox => "everything runs without a question, also unconfined",
            Self::ReadOnly => "nothing is changed or sent, and no command runs",
            Self::Plan => "as read-only, until you accept the agent's plan",
        }
    }

    /// Returns whether commands run without a question.
    pub fn is_auto(self) -> bool {
        matches!(self, Self::Auto | Self::AutoWithoutSandbox)
    }

    /// Every mode, in the order of their documentation.
    pub const ALL: [Self; 6] =
        [Self::Ask, Self::AutoEdit, Self::Auto, Self::AutoWithoutSandbox, Self::ReadOnly, Self::Plan];

    /// Tells whether nothing is changed or sent, and no command runs.
    pub fn only_reads(self) -> bool {
        matches!(self, Self::ReadOnly | Self::Plan)
    }

    /// Returns the mode that a key switches to: never one that must be chosen by name, nor `auto` without a sandbox.
    #[must_use]
    pub fn next(self, is_sandboxed: Sandboxed) -> Self {
        match (self, is_sandboxed) {
            (Self::Ask, _) => Self::AutoEdit,
            (Self::AutoEdit, Sandboxed::Yes) => Self::Auto,
            (Self::AutoEdit, Sandboxed::No) | (Self::Auto | Self::AutoWithoutSandbox, _) => Self::ReadOnly,
            (Self::ReadOnly, _) => Self::Plan,
            (Self::Plan, _) => Self::Ask,
        }
    }
}

/// Whether commands run in a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sandboxed {
    /// By namespaces, bubblewrap or Landlock.
    Yes,
    /// Not at all.
    No,
}

/// The reason why a mode was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ModeRefused {
    /// `auto` needs a sandbox.
    #[error("the mode auto needs a sandbox, and there is none; the mode auto-without-sandbox does without")]
    NotSandboxed,
}
