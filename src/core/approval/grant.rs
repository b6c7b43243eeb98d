//! What the user allows for the rest of a session or for good, and what is offered for it.
//!
//! A grant is narrower than a rule: commands are held to their directory, and a prefix is offered only for programs that
//! cannot be made to run other code. No grant covers a protected place, an agent's sending of what it may not, or what an
//! ask rule asks about: who wrote that rule wants to be asked each time.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::approval::address::Address;
use crate::approval::rules::is_within;
use crate::approval::shell::Shape;
use crate::approval::shell::runners::{Reach, reach};
use crate::approval::{CommandOperation, KeptRule, Operation, Rules};

/// What the user allowed for the rest of the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grant {
    /// Changes of files within the workspace.
    Edits,
    /// Simple commands that begin with these words, and run no other code by the words that follow.
    Prefix {
        /// The program and its sub-command.
        words: Vec<String>,
        /// Where they run; real and absolute.
        cwd: PathBuf,
    },
    /// Exactly this command.
    Command {
        /// The whole of it.
        command: String,
        /// Where it runs; real and absolute.
        cwd: PathBuf,
    },
    /// Addresses of this host: scheme, host and, when it is unusual, port.
    Host(String),
    /// Search queries.
    Searches,
    /// Calls of one tool of a server: `server/tool`.
    ServerTool(String),
    /// One action of one tool of a host.
    Action {
        /// The tool.
        tool: String,
        /// What it does.
        action: String,
    },
    /// What a rule covers that is kept for later sessions.
    Kept(KeptRule),
    /// What a hook allows: one call, as far as a rule could.
    Call,
    /// What the file of a custom command allows its shell lines.
    Template(Arc<Rules>),
}

impl fmt::Display for Grant {
    /// Writes what it covers, for the user. The text is untrusted.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Edits => f.write_str("every edit in this directory"),
            Self::Prefix { words, .. } => {
                write!(f, "every command in this directory that begins with: {}", words.join(" "))
            }
            Self::Command { .. } => f.write_str("exactly this command in this directory"),
            Self::Host(origin) => write!(f, "every address of {origin}"),
            Self::Searches => f.write_str("every search"),
            Self::ServerTool(name) => write!(f, "every call of {name}"),
            Self::Action { tool, action } => write!(f, "whenever {tool} is to {action}"),
            Self::Kept(rule) => write!(f, "the kept rule {rule}"),
            Self::Call => f.write_str("this call"),
            Self::Template(_) => f.write_str("what the file of the command allows"),
        }
    }
}

impl Grant {
    /// Returns what can be allowed together with an operation; `None` when it is to be asked about each time.
    pub(super) fn offered(operation: &Operation, shape: Option<&Shape>, root: Option<&Path>) -> Option<Self> {
        match operation {
            Operation::Command(operation) => Some(Self::of_command(operation, shape)),
            Operation::Write(operation) => is_within(operation, root).then_some(Self::Edits),
            Operation::Fetch(_) => {
                Address::from_operation(operation).as_ref().and_then(Address::origin).map(Self::Host)
            }
            Operation::Search(_) => Some(Self::Searches),
            Operation::ServerTool(operation) => Some(Self::ServerTool(operation.name())),
            Operation::Custom(operation) => {
                Some(Self::Action { tool: operation.tool.clone(), action: operation.action.clone() })
            }
            // Each repository and each input is a new one, and only a rule asks about a use.
            Operation::Clone(_) | Operation::Use(_) | Operation::Input(_) => None,
        }
    }

    fn of_command(operation: &CommandOperation, shape: Option<&Shape>) -> Self {
        let cwd = operation.cwd.clone();
        if let Some(Shape::Simple(words)) = shape
            && let Reach::Own(length) = reach(words)
            && let Some(prefix) = words.get(..length)
        {
            return Self::Prefix { words: prefix.to_vec(), cwd };
        }
        Self::Command { command: operation.command.clone(), cwd }
    }

    pub(super) fn covers(&self, operation: &Operation, shape: Option<&Shape>, root: Option<&Path>) -> bool {
        match (self, operation) {
            (Self::Edits, Operation::Write(operation)) => is_within(operation, root),
            (Self::Prefix { words: prefix, cwd }, Operation::Command(operation)) => match shape {
                Some(Shape::Simple(words)) => {
                    *cwd == operation.cwd && words.starts_with(prefix) && matches!(reach(words), Reach::Own(_))
                }
                Some(Shape::Complex { .. }) | None => false,
            },
            (Self::Command { command, cwd }, Operation::Command(operation)) => {
                *command == operation.command && *cwd == operation.cwd
            }
            (Self::Host(origin), Operation::Fetch(_)) => {
                Address::from_operation(operation).as_ref().and_then(Address::origin).as_ref() == Some(origin)
            }
            (Self::Searches, Operation::Search(_)) => true,
            (Self::ServerTool(name), Operation::ServerTool(operation)) => *name == operation.name(),
            (Self::Action { tool, action }, Operation::Custom(operation)) => {
                *tool == operation.tool && *action == operation.action
            }
            (Self::Kept(rule), operation) => rule.covers(operation, shape, root),
            (Self::Template(rules), Operation::Command(operation)) => {
                let is_here = root.is_some_and(|root| operation.cwd.starts_with(root));
                is_here && rules.allows(&Operation::Command(operation.clone()), shape, root)
            }
            (Self::Call, operation) => match operation {
                Operation::Command(operation) => {
                    matches!(shape, Some(Shape::Simple(_))) && root.is_some_and(|root| operation.cwd.starts_with(root))
                }
                Operation::Write(operation) => is_within(operation, root),
                Operation::Fetch(_)
                | Operation::Search(_)
                | Operation::Clone(_)
                | Operation::ServerTool(_)
                | Operation::Custom(_) => true,
                // What is typed into a running command may be a command line of its own.
                Operation::Use(_) | Operation::Input(_) => false,
            },
            _ => false,
        }
    }
}
