//! What a text of the user is to the agent that it is for: its kind, what it waits for, and the rules that hold until they are
//! withdrawn.
//!
//! Plain values, the same in the queue, on the wire and on the screen. How a model is told of them: `agent::frame`.
//!
//! # Where things are
//!
//! - what a model says in its own words about a text of the user: `answer.rs`

mod answer;
mod condition;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::id::{AgentId, MessageId};
use crate::text::visible_line;

pub use answer::{TextAnswer, answer_mark, text_answers};
pub use condition::{
    AgentEnd, CONDITION_FORMS, CallMoment, Condition, ConditionError, ConditionForm, Happening, Recurrence, Trigger,
    conditional, is_named,
};

/// What a text of the user is to the agent that it is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TextKind {
    /// It adds to the current task or corrects it; the task goes on.
    #[default]
    Add,
    /// It replaces the task; what is open of the old one is dropped.
    Instead,
    /// It is information that needs no reply.
    Note,
    /// It holds from now on, until the user withdraws it.
    Rule,
}

impl TextKind {
    /// All kinds, in the order in which a key goes through them.
    pub const ALL: [Self; 4] = [Self::Add, Self::Instead, Self::Note, Self::Rule];

    /// Returns its name, as on the wire and on the screen.
    pub fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Instead => "instead",
            Self::Note => "note",
            Self::Rule => "rule",
        }
    }

    /// Returns the kind of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the kind behind it; the first one is behind the last.
    #[must_use]
    pub fn next(self) -> Self {
        match self {
            Self::Add => Self::Instead,
            Self::Instead => Self::Note,
            Self::Note => Self::Rule,
            Self::Rule => Self::Add,
        }
    }

    /// Returns whether it is a task or a part of one: what asks for no work starts no turn.
    pub fn asks_for_work(self) -> bool {
        match self {
            Self::Add | Self::Instead => true,
            Self::Note | Self::Rule => false,
        }
    }
}

impl fmt::Display for TextKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The agents that a rule holds for, as seen from the one that it was sent to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RuleScope {
    /// That agent alone.
    Agent,
    /// That agent and every one beneath it, those that run and those that start later.
    #[default]
    Tree,
    /// Every agent beneath it that starts from now on; the agent itself only knows of it.
    NewAgents,
}

impl RuleScope {
    /// All scopes.
    pub const ALL: [Self; 3] = [Self::Agent, Self::Tree, Self::NewAgents];

    /// Returns its name, as on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Tree => "tree",
            Self::NewAgents => "new_agents",
        }
    }

    /// Returns the scope of this name; words may be joined by a hyphen too.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.replace('-', "_");
        Self::ALL.into_iter().find(|scope| scope.name() == name)
    }

    /// Returns whether it is the usual one.
    #[allow(clippy::trivially_copy_pass_by_ref)] // As serde calls it.
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// A rule of the user that holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rule {
    /// The text that set it.
    pub id: MessageId,
    /// The agent that it was sent to; empty for the main agent.
    #[serde(default)]
    pub agent: AgentId,
    /// The agents that it holds for, as seen from that one.
    #[serde(default)]
    pub scope: RuleScope,
    /// Its words as they are now.
    pub text: String,
    /// Counts its changes, from 0.
    #[serde(default)]
    pub version: u32,
}

/// A change of a rule that holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RuleChange {
    /// It no longer holds.
    Withdraw,
    /// It holds in other words, or for other agents.
    Edit {
        /// The new words; `None` leaves them.
        text: Option<String>,
        /// The agents that it holds for from now on; `None` leaves them.
        scope: Option<RuleScope>,
    },
}

/// What an agent told its model about a rule that it was not sent itself, or that has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RuleNews {
    /// It holds.
    Holds,
    /// It has other words.
    Changed,
    /// It no longer holds.
    Withdrawn,
}

impl RuleNews {
    /// Says for the user what an agent told its model of this rule, whose words are now `text`; safe to show.
    pub fn sentence(self, rule: &MessageId, text: Option<&str>) -> String {
        let rule = visible_line(rule.as_str());
        let text = visible_line(text.unwrap_or_default());
        match self {
            Self::Holds => format!("rule {rule} holds here: {text}"),
            Self::Changed => format!("rule {rule} has other words here: {text}"),
            Self::Withdrawn => format!("rule {rule} no longer holds here"),
        }
    }
}

/// How the texts of the user reach the model during a turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Framing {
    /// The words alone.
    #[default]
    Plain,
    /// In a short frame that says their kind and when they were sent.
    Framed,
}

/// Which texts for an agent end the wait of its calls for sub-agents: these go on in the background then (D28).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentsGiveWay {
    /// Every text that is due at the boundary behind the calls.
    #[default]
    Always,
    /// Those that are to be delivered now.
    Now,
    /// None.
    Never,
}

/// What an agent did when a text for it was accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SentDuring {
    /// Tool calls that it had begun in this process.
    pub calls: u64,
    /// The tool that it had called last; null while its model was asked or wrote.
    pub tool: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_what_they_name() {
        for kind in TextKind::ALL {
            assert_eq!(TextKind::named(kind.name()), Some(kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
        for scope in RuleScope::ALL {
            assert_eq!(RuleScope::named(scope.name()), Some(scope));
            assert_eq!(serde_json::to_value(scope).unwrap(), scope.name());
        }
        assert_eq!(RuleScope::named("new-agents"), Some(RuleScope::NewAgents));
        assert_eq!((TextKind::named("Add"), RuleScope::named("")), (None, None));
    }

    #[test]
    fn a_key_goes_through_every_kind() {
        let seen: Vec<TextKind> =
            std::iter::successors(Some(TextKind::Add), |kind| Some(kind.next())).take(5).collect();
        assert_eq!(seen[..4], TextKind::ALL);
        assert_eq!(seen[4], TextKind::Add);
    }
}
