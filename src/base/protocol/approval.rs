//! A question about an operation, and what can be answered.

use std::borrow::Cow;
use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::id::{AgentId, CallId};
use crate::plan::Plan;
use crate::protocol::{AgentQuestion, FormField, Operation, form_lines};
use crate::summary::calls_made;

/// The number of one approval request of the session. As text it is the id of the events `question` and `answer`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ApprovalId(pub u64);

/// What stands before the number in an event's id.
const ID_PREFIX: &str = "approval ";

impl fmt::Display for ApprovalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{ID_PREFIX}{}", self.0)
    }
}

impl FromStr for ApprovalId {
    type Err = ParseIntError;

    /// Reads the id of an event, or the number alone.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.strip_prefix(ID_PREFIX).unwrap_or(text).parse().map(Self)
    }
}

/// The call that wants to act.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asker {
    /// The agent.
    pub agent: AgentId,
    /// Its call.
    pub call: CallId,
}

/// A question that waits for the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalRequest {
    /// Its number.
    pub id: ApprovalId,
    /// Who asks; `None` when the program itself does.
    pub asker: Option<Asker>,
    /// What it is about.
    pub subject: ApprovalSubject,
    /// Why it is asked although the mode or a rule might allow it; empty when that is plain.
    pub why: String,
    /// What an answer for the session would cover; none is taken without.
    pub session: Option<String>,
    /// The rule that an answer for good would keep; none is taken without.
    pub rule: Option<OfferedRule>,
}

/// An allow rule that an answer for good would keep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferedRule {
    /// The whole rule, as it stands in the configuration (untrusted).
    pub text: String,
    /// Its pattern, without the tool (untrusted).
    pub pattern: String,
}

/// What a question is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ApprovalSubject {
    /// What exactly a tool would do.
    #[serde(rename = "act")]
    Operation {
        /// The operation.
        #[serde(rename = "act")]
        operation: Operation,
    },
    /// Something of the program itself, as trust in a project.
    Plain {
        /// What is asked, in one line.
        title: String,
        /// What exactly would happen, of any length.
        detail: String,
    },
    /// What a server asks the user for. All of it is untrusted.
    Form {
        /// The server, by its name in the configuration.
        server: String,
        /// Why it asks.
        message: String,
        /// What it asks for.
        fields: Vec<FormField>,
    },
    /// Whether the plan of the agent is to be carried out. A yes chooses the mode to go on with: for once `ask`, for the
    /// session `auto-edit`.
    Plan {
        /// The plan.
        plan: Plan,
    },
    /// Whether a turn that has made all its tool calls may make more.
    MoreCalls {
        /// The calls that it made.
        made: u32,
        /// The calls that a yes allows.
        more: u32,
    },
    /// What an agent asks the user.
    AgentQuestion {
        /// The question.
        question: AgentQuestion,
    },
}

impl ApprovalSubject {
    /// Returns the question, in one line; nothing in it comes from a tool or a model.
    pub fn title(&self) -> Cow<'_, str> {
        match self {
            Self::Operation { operation } => operation.title().into(),
            Self::Plain { title, .. } => title.into(),
            Self::Form { .. } => "A server asks you; whatever you write goes to it.".into(),
            Self::Plan { .. } => "Accept this plan? Until then nothing is changed.".into(),
            Self::MoreCalls { made, more } => {
                format!("{}: go on for {more} more, or answer from what was found?", calls_made(*made)).into()
            }
            Self::AgentQuestion { question } if question.waits => {
                "The agent asks you, and waits for the answer.".into()
            }
            Self::AgentQuestion { .. } => "The agent asks you, and works on meanwhile.".into(),
        }
    }

    /// Returns the question for a reader of events, with the name of what it is about, and what exactly would happen
    /// (untrusted).
    pub fn describe(&self) -> (String, Option<String>) {
        let (named, detail) = match self {
            Self::Operation { operation } => {
                let (named, detail) = operation.named();
                (named, Some(detail.to_owned()))
            }
            Self::Plain { detail, .. } => (None, Some(detail.clone())),
            Self::Form { server, message, fields } => {
                (Some(server.clone()), Some(format!("{message}\n{}", form_lines(fields))))
            }
            Self::Plan { plan } => (None, Some(plan.checklist())),
            Self::MoreCalls { .. } => (None, None),
            Self::AgentQuestion { question } => (None, Some(question.lines())),
        };
        let title = self.title().into_owned();
        (named.map_or_else(|| title.clone(), |named| format!("{title} {named}")), detail)
    }
}

/// The user's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Yes, this once.
    Once,
    /// Yes, and for the rest of the session, what the question offered.
    Session,
    /// Yes, and in later sessions of this project too, by the rule that the question offered.
    Always,
    /// The same, in later sessions of every project.
    Everywhere,
    /// A form, filled in with these values; of a question of an agent the answer; of a call, yes with these arguments
    /// instead of its own.
    Filled(Map<String, Value>),
    /// No, with words for the model or without.
    No(Option<String>),
    /// Neither: a question of the program itself comes again at its next occasion; to any other it is a no.
    NotNow,
}
