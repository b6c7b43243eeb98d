//! What a text may wait for before it is delivered: a condition, in words that a user writes and reads.
//!
//! Pure. A condition is written as its words everywhere, on the wire too, and reading them back gives the same one. What
//! happens in a run is told as [`Happening`]s; whoever keeps the text decides by [`Condition::is_met_by`].
//!
//! # Where things are
//!
//! - the words of a condition: how they are read, and how they are written: `parse.rs`

mod parse;

use std::fmt;

use globset::GlobBuilder;
use serde::{Deserialize, Serialize};

use crate::id::AgentId;
use crate::message::Arguments;
use crate::price::Money;

pub use parse::{CONDITION_FORMS, ConditionError, ConditionForm, conditional};

/// What a text waits for, and how often it is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trigger {
    /// What it waits for.
    pub condition: Box<Condition>,
    /// How often it is sent.
    #[serde(default)]
    pub recurrence: Recurrence,
}

/// How often a text with a condition is sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Recurrence {
    /// The first time that the condition is met.
    #[default]
    Once,
    /// Each time, as a text of its own.
    Every,
}

/// What a text may wait for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Condition {
    /// A sub-agent ends.
    Agent {
        /// Its id, or its persona; empty for any.
        agent: String,
        /// How.
        end: AgentEnd,
    },
    /// A call of a tool.
    Call {
        /// The tool's name, with wildcards.
        tool: String,
        /// What one of its arguments is, with wildcards; a command also by each of its parts.
        words: Option<String>,
        /// When.
        moment: CallMoment,
    },
    /// The conversation fills more of the context window than this, per cent.
    ContextAbove(u8),
    /// The session has cost more than this.
    CostAbove(Money),
    /// The session has used more tokens than this.
    TokensAbove(u64),
    /// So many tool calls of the agent later.
    Steps(u32),
    /// So many minutes later.
    Minutes(u32),
    /// A file that this glob matches was changed.
    Changed(String),
}

/// How a sub-agent ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentEnd {
    /// However.
    Ends,
    /// Without an answer, because something failed.
    Fails,
}

/// A moment of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallMoment {
    /// It is about to run.
    Before,
    /// It has run, however it ended.
    After,
    /// It has run and failed.
    Failed,
}

/// One thing that happens in a run.
#[derive(Debug, Clone, Copy)]
pub enum Happening<'a> {
    /// A sub-agent has ended.
    AgentEnded {
        /// Which.
        agent: &'a AgentId,
        /// How.
        end: AgentEnd,
    },
    /// A tool call is about to run, or has run.
    Call {
        /// The tool's name.
        tool: &'a str,
        /// Its arguments.
        arguments: &'a Arguments,
        /// Which of it.
        moment: CallMoment,
    },
    /// The conversation fills this much of its context window.
    Context {
        /// Per cent.
        percent: u64,
    },
    /// The session has used this much so far.
    Spent {
        /// Billionths of a US dollar.
        nanos: u64,
        /// Tokens.
        tokens: u64,
    },
    /// A file was changed.
    Changed {
        /// Its path, as it is shown.
        path: &'a str,
    },
}

impl Trigger {
    /// Makes the trigger of a text that is sent once.
    pub fn once(condition: Condition) -> Self {
        Self { condition: Box::new(condition), recurrence: Recurrence::Once }
    }

    /// Makes the trigger of a text that is sent each time.
    pub fn every(condition: Condition) -> Self {
        Self { condition: Box::new(condition), recurrence: Recurrence::Every }
    }

    /// Says when a text with it is sent: `when bash fails`, `every 10 steps`.
    pub fn sentence(&self) -> String {
        let condition = &*self.condition;
        match (condition, self.recurrence) {
            (Condition::Steps(_) | Condition::Minutes(_), Recurrence::Once) => format!("in {condition}"),
            (Condition::Steps(_) | Condition::Minutes(_), Recurrence::Every) => format!("every {condition}"),
            (Condition::Call { moment: CallMoment::Before | CallMoment::After, .. }, Recurrence::Once) => {
                condition.to_string()
            }
            (_, Recurrence::Once) => format!("when {condition}"),
            (Condition::Call { moment: CallMoment::Before | CallMoment::After, .. }, Recurrence::Every) => {
                format!("each time {condition}")
            }
            (_, Recurrence::Every) => format!("each time that {condition}"),
        }
    }

    /// Returns the command that a text with it begins with, as a user writes it: `/when 10 steps: `.
    pub fn command(&self) -> String {
        match self.recurrence {
            Recurrence::Once => format!("/when {}: ", self.condition),
            Recurrence::Every => format!("/every {}: ", self.condition),
        }
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.recurrence {
            Recurrence::Once => write!(f, "{}", self.condition),
            Recurrence::Every => write!(f, "every {}", self.condition),
        }
    }
}

impl Condition {
    /// Returns whether this happening meets it. An amount is met while it is above the condition's; steps and minutes are
    /// counted by whoever keeps the text.
    pub fn is_met_by(&self, happening: &Happening<'_>) -> bool {
        match (self, *happening) {
            (Self::Agent { agent: wanted, end: wanted_end }, Happening::AgentEnded { agent, end }) => {
                (*wanted_end == AgentEnd::Ends || end == AgentEnd::Fails) && is_named(wanted, agent)
            }
            (Self::Call { tool: wanted, words, moment: at }, Happening::Call { tool, arguments, moment }) => {
                let is_it = match (at, moment) {
                    (CallMoment::Before, CallMoment::Before)
                    | (CallMoment::Failed, CallMoment::Failed)
                    | (CallMoment::After, CallMoment::After | CallMoment::Failed) => true,
                    (CallMoment::Before | CallMoment::After | CallMoment::Failed, _) => false,
                };
                is_it && fits(wanted, tool) && words.as_deref().is_none_or(|words| has_argument(arguments, words))
            }
            (Self::ContextAbove(limit), Happening::Context { percent }) => percent > u64::from(*limit),
            (Self::CostAbove(limit), Happening::Spent { nanos, .. }) => nanos > limit.nanos(),
            (Self::TokensAbove(limit), Happening::Spent { tokens, .. }) => tokens > *limit,
            (Self::Changed(glob), Happening::Changed { path }) => is_path(glob, path),
            (
                Self::Agent { .. }
                | Self::Call { .. }
                | Self::ContextAbove(_)
                | Self::CostAbove(_)
                | Self::TokensAbove(_)
                | Self::Steps(_)
                | Self::Minutes(_)
                | Self::Changed(_),
                _,
            ) => false,
        }
    }
}

/// Returns whether a sub-agent is the one of this name, or has this persona; it is any where there is no name.
pub fn is_named(name: &str, agent: &AgentId) -> bool {
    let persona = agent.as_str().rsplit_once(' ').map_or(agent.as_str(), |(persona, _)| persona);
    name.is_empty() || name == agent.as_str() || name == persona
}

/// Returns whether a text has the form of a pattern, in which `*` stands for anything.
fn fits(pattern: &str, text: &str) -> bool {
    GlobBuilder::new(pattern).build().is_ok_and(|glob| glob.compile_matcher().is_match(text))
}

/// Returns whether a path is one of a glob's: a glob without a slash is about the file's name.
fn is_path(glob: &str, path: &str) -> bool {
    let glob = glob.strip_prefix("./").unwrap_or(glob);
    let glob = if glob.contains('/') { glob.to_owned() } else { format!("**/{glob}") };
    GlobBuilder::new(&glob).literal_separator(true).build().is_ok_and(|glob| glob.compile_matcher().is_match(path))
}

/// Returns whether an argument of a call has the form of a pattern; of a command line also one of its commands.
fn has_argument(arguments: &Arguments, pattern: &str) -> bool {
    let fits = |text: &str| fits(pattern, text.trim());
    match arguments {
        Arguments::Raw(text) => fits(text),
        Arguments::Object(map) => map.iter().any(|(name, value)| {
            let Some(text) = value.as_str() else { return false };
            fits(text) || name == "command" && text.split(['\n', ';', '&', '|']).any(fits)
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn condition(words: &str) -> Condition {
        words.parse().unwrap()
    }

    fn call(tool: &str, arguments: &str, words: &str, moment: CallMoment) -> bool {
        let arguments = Arguments::parse(arguments);
        condition(words).is_met_by(&Happening::Call { tool, arguments: &arguments, moment })
    }

    #[test]
    fn a_call_is_known_by_its_tool_its_arguments_and_the_commands_of_a_line() {
        use CallMoment::{After, Before, Failed};
        let test = r#"{"command":"cd web && cargo test --all | tail -3"}"#;
        assert!(call("bash", test, "before bash", Before));
        assert!(call("bash", test, "before bash cargo test*", Before));
        assert!(call("bash", test, "after bash cargo test*", After));
        assert!(call("bash", test, "after bash cargo test*", Failed), "what failed has run");
        assert!(call("bash", test, "bash cargo test* fails", Failed));
        for (words, moment) in [
            ("before bash cargo build*", Before),
            ("before bash argo test*", Before),
            ("before write", Before),
            ("bash cargo test* fails", After),
            ("after bash", Before),
            ("before bash", After),
        ] {
            assert!(!call("bash", test, words, moment), "{words}");
        }
        assert!(call("mcp__db__query", r#"{"sql":"drop table x"}"#, "before mcp__db__* drop *", Before));
        assert!(call("write", r#"{"path":"db/1.sql","content":"x"}"#, "after write *.sql", After));
        assert!(!call("write", r#"{"path":"db/1.sql","content":"x"}"#, "after write *.rs", After));
    }

    #[test]
    fn an_agent_is_known_by_its_id_or_its_persona() {
        let met = |words: &str, end| {
            condition(words).is_met_by(&Happening::AgentEnded { agent: &AgentId::new("file_miner 1"), end })
        };
        assert!(met("agent ends", AgentEnd::Ends) && met("agent ends", AgentEnd::Fails));
        assert!(met("agent file_miner ends", AgentEnd::Ends) && met("agent file_miner 1 fails", AgentEnd::Fails));
        assert!(!met("agent file_miner 0 ends", AgentEnd::Ends) && !met("agent file ends", AgentEnd::Ends));
        assert!(!met("agent fails", AgentEnd::Ends));
    }

    #[test]
    fn a_file_is_known_by_a_glob_of_its_path_or_of_its_name() {
        let met = |words: &str, path| condition(words).is_met_by(&Happening::Changed { path });
        assert!(met("*.sql changes", "db/migrations/1.sql") && met("*.sql changes", "1.sql"));
        assert!(met("src/**/*.rs changes", "src/a.rs") && met("./src/**/*.rs changes", "src/x/y.rs"));
        assert!(met("src/**/*.{rs,toml} changes", "src/x.toml"));
        assert!(!met("src/*.rs changes", "src/x/y.rs") && !met("*.sql changes", "1.sqlx"));
    }

    #[test]
    fn an_amount_is_met_while_it_is_above() {
        let context = |percent| condition("context above 70%").is_met_by(&Happening::Context { percent });
        assert!(!context(70) && context(71));
        let spent = |words: &str, nanos, tokens| condition(words).is_met_by(&Happening::Spent { nanos, tokens });
        assert!(spent("cost above $0.50", 500_000_001, 0) && !spent("cost above $0.50", 500_000_000, 9));
        assert!(spent("tokens above 100k", 0, 100_001) && !spent("tokens above 100k", 1 << 40, 100_000));
    }
}
