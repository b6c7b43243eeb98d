//! What a question to the user is, what can be answered, and what became of it. Plain values; `approvals` holds and asks
//! them.

use crate::approval::{Act, Grant, KeptRule};
use crate::id::{AgentId, CallId};

/// Names one question of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId(pub u64);

/// Names the call that wants to act.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asker {
    /// The agent.
    pub agent: AgentId,
    /// Its call.
    pub call: CallId,
}

/// An open question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Names it.
    pub id: RequestId,
    /// Who asks; `None` when the program itself does.
    pub asker: Option<Asker>,
    /// What it is about.
    pub subject: Subject,
    /// Why it is asked although the mode or a rule might allow it; empty when that is plain.
    pub why: String,
    /// What an answer for the session would cover.
    pub grant: Option<Grant>,
    /// The rule that an answer for good would keep.
    pub rule: Option<KeptRule>,
}

/// What a question is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// What exactly a tool would do.
    Act(Act),
    /// Something of the program itself, as trust in a project.
    Plain {
        /// What is asked, in one line.
        title: String,
        /// What exactly would happen, of any length.
        detail: String,
    },
    /// Whether a turn that has made all its tool calls may make more.
    MoreCalls {
        /// The calls that it made.
        made: u32,
        /// The calls that a yes allows.
        more: u32,
    },
}

/// What the user says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// This once.
    Once,
    /// For the rest of the session, what the question offered.
    Session,
    /// In later sessions too, by the rule that the question offered.
    Always,
    /// No, with words for the model or without.
    No(Option<String>),
}

/// The answer to a question of the program itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainAnswer {
    /// The user says yes.
    Yes,
    /// The user says no.
    No,
    /// Nobody is there to ask, or not any more.
    Nobody,
}

/// Says why an act is not carried out; the sentence is for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub String);

/// What happened to a question, for the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// The user is asked.
    Asked(Box<Request>),
    /// The question was answered.
    Answered(RequestId, Answer),
    /// The rule is kept for later sessions, or why it holds in this one only.
    Kept(KeptRule, Result<(), String>),
    /// Nobody answered: what the user allowed for the session covers it.
    Allowed(RequestId),
    /// Nobody is left to answer; this is what the model reads.
    Denied(RequestId, String),
    /// The question went away unanswered.
    Withdrawn(RequestId),
}

/// Says why an answer was not taken.
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
    /// A yes that a rule, or the mode, stands against; the question stays.
    #[error("not approved: {0}")]
    Forbidden(String),
}
