//! What a question to the user is, what can be answered, and what became of it. Plain values; `approvals` holds and asks
//! them.

use serde_json::{Map, Value};

use crate::approval::{KeptRule, Mode};
use steersman_base::event::CallFailure;
use steersman_base::protocol::{Answer, ApprovalId, ApprovalRequest};

/// The answer to a question of the program itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainAnswer {
    /// The user says yes.
    Yes,
    /// The user says no.
    No,
    /// The user left the question: nothing is done now, and no no is kept.
    NotNow,
    /// Nobody is there to ask, or not any more.
    Nobody,
}

/// The answer to a submitted plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanAnswer {
    /// The user accepts it; this is the mode from here on.
    Accepted(Mode),
    /// The agent is to keep planning; the user's words, if any.
    Declined(Option<String>),
    /// Nobody is there to ask, or not any more.
    Nobody,
}

/// The answer to a form of a server.
#[derive(Debug, Clone, PartialEq)]
pub enum FormAnswer {
    /// It is filled in.
    Filled(Map<String, Value>),
    /// The user says no.
    Declined,
    /// Nobody is there to ask, or not any more.
    Nobody,
}

/// The answer to a question of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentAnswer {
    /// These options, or the user's own words.
    Given(Vec<String>),
    /// The user does not answer it; the user's words, if any.
    Declined(Option<String>),
    /// Nobody answered within its time: the default counts.
    Default(String),
    /// Nobody is there to ask, or not any more.
    Nobody,
}

/// Why an operation is not carried out; the sentence is for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{words}")]
pub struct Refusal {
    /// The sentence.
    pub words: String,
    /// Whether the user said no, or the operation was refused without an answer.
    pub fault: CallFailure,
}

impl Refusal {
    /// Makes what the user said no to.
    pub fn declined(words: impl Into<String>) -> Self {
        Self { words: words.into(), fault: CallFailure::Declined }
    }

    /// Makes what was refused without an answer of the user.
    pub fn refused(words: impl Into<String>) -> Self {
        Self { words: words.into(), fault: CallFailure::Refused }
    }
}

/// What happened to a question, for the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalRecord {
    /// The user is asked.
    Asked(Box<ApprovalRequest>),
    /// The question was answered.
    Answered(ApprovalId, Answer),
    /// The rule is kept for later sessions, or why it holds in this one only.
    Kept(KeptRule, Result<(), String>),
    /// Nobody answered: what the user allowed for the session covers it.
    Allowed(ApprovalId),
    /// Nobody is left to answer; this is what the model reads.
    Denied(ApprovalId, String),
    /// The question went away unanswered.
    Withdrawn(ApprovalId),
}

/// Why an answer was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unanswered {
    /// Nobody waits for it any more.
    #[error("the question is gone")]
    Gone,
    /// It is asked about each time.
    #[error("this is asked about each time")]
    NotForSession,
    /// No rule was offered that could be kept.
    #[error("no rule can be kept for this")]
    NotKept,
    /// The values do not fit the form, or the question is none; the question stays.
    #[error("not sent: {0}")]
    Unfit(String),
    /// A yes that a rule, or the mode, stands against; the question stays.
    #[error("not approved: {0}")]
    Forbidden(String),
}
