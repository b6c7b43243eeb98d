//! What the user allows for the rest of a session or for good, and what is offered for it.
//!
//! A grant is narrower than a rule: commands are held to their directory, and a prefix is offered only for programs that
//! cannot be made to run other code. No grant covers a protected place, an agent's sending of what it may not, or what an
//! ask rule asks about: who wrote that rule wants to be asked each time (fault S8).

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::approval::address::Address;
use crate::approval::rules::is_within;
use crate::approval::shell::Shape;
use crate::approval::shell::runners::{Reach, reach};
use crate::approval::{Act, CommandAct, KeptRule, Rules};

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
    /// Returns what can be allowed together with an act; `None` when it is to be asked about each time.
    pub(super) fn offered(act: &Act, shape: Option<&Shape>, root: Option<&Path>) -> Option<Self> {
        match act {
            Act::Command(act) => Some(Self::of_command(act, shape)),
            Act::Write(act) => is_within(act, root).then_some(Self::Edits),
            Act::Fetch(_) => Address::of(act).as_ref().and_then(Address::origin).map(Self::Host),
            Act::Search(_) => Some(Self::Searches),
            Act::ServerTool(act) => Some(Self::ServerTool(act.name())),
            Act::Custom(act) => Some(Self::Action { tool: act.tool.clone(), action: act.action.clone() }),
            // Each repository and each input is a new one, and only a rule asks about a use.
            Act::Clone(_) | Act::Use(_) | Act::Input(_) => None,
        }
    }

    fn of_command(act: &CommandAct, shape: Option<&Shape>) -> Self {
        let cwd = act.cwd.clone();
        if let Some(Shape::Simple(words)) = shape
            && let Reach::Own(length) = reach(words)
            && let Some(prefix) = words.get(..length)
        {
            return Self::Prefix { words: prefix.to_vec(), cwd };
        }
        Self::Command { command: act.command.clone(), cwd }
    }

    pub(super) fn covers(&self, act: &Act, shape: Option<&Shape>, root: Option<&Path>) -> bool {
        match (self, act) {
            (Self::Edits, Act::Write(act)) => is_within(act, root),
            (Self::Prefix { words: prefix, cwd }, Act::Command(act)) => match shape {
                Some(Shape::Simple(words)) => {
                    *cwd == act.cwd && words.starts_with(prefix) && matches!(reach(words), Reach::Own(_))
                }
                Some(Shape::Complex { .. }) | None => false,
            },
            (Self::Command { command, cwd }, Act::Command(act)) => *command == act.command && *cwd == act.cwd,
            (Self::Host(origin), Act::Fetch(_)) => {
                Address::of(act).as_ref().and_then(Address::origin).as_ref() == Some(origin)
            }
            (Self::Searches, Act::Search(_)) => true,
            (Self::ServerTool(name), Act::ServerTool(act)) => *name == act.name(),
            (Self::Action { tool, action }, Act::Custom(act)) => *tool == act.tool && *action == act.action,
            (Self::Kept(rule), act) => rule.covers(act, shape, root),
            (Self::Template(rules), Act::Command(act)) => {
                let is_here = root.is_some_and(|root| act.cwd.starts_with(root));
                is_here && rules.allows(&Act::Command(act.clone()), shape, root)
            }
            (Self::Call, act) => match act {
                Act::Command(act) => {
                    matches!(shape, Some(Shape::Simple(_))) && root.is_some_and(|root| act.cwd.starts_with(root))
                }
                Act::Write(act) => is_within(act, root),
                Act::Fetch(_) | Act::Search(_) | Act::Clone(_) | Act::ServerTool(_) | Act::Custom(_) => true,
                // What is typed into a running command may be a command line of its own.
                Act::Use(_) | Act::Input(_) => false,
            },
            _ => false,
        }
    }
}
