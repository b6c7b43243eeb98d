//! What a text in the message is for, where it is not the draft: it is written first, and the draft comes back after it.
//!
//! A pending entry is held in its queue as long as it is edited, so that it cannot be delivered half changed.

use super::composer::Composer;
use super::entry::written;
use super::history::Origin;
use crate::plan::StepText;
use steersman_base::event::Pending;
use steersman_base::id::AgentId;
use steersman_base::message::ToolCall;
use steersman_base::protocol::ApprovalId;

/// What a text above the draft is for.
#[derive(Debug)]
pub enum Purpose {
    /// A text of the history, or a command that a key began.
    Recall(Recall),
    /// The new words of a pending entry.
    Edit(Editing),
    /// Something about a call before which an agent waits.
    AboutCall(AboutCall),
    /// What is written to answer a question.
    AboutQuestion(AboutQuestion),
    /// The text of a step of a plan.
    AboutStep(AboutStep),
    /// A whole line that was read at once.
    Line,
}

/// A walk through the history, and where in it the text comes from.
#[derive(Debug)]
pub struct Recall {
    /// Where the text comes from.
    pub(super) origin: Origin,
    /// Texts that were changed and left, with where they come from.
    pub(super) changed: Vec<(Origin, Composer)>,
}

/// A pending entry that is being edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Editing {
    /// The agent whose queue holds the entry.
    pub agent: AgentId,
    /// The entry as it was when the edit began.
    pub entry: Pending,
    /// Whether the edit began in the list, to which its end goes back.
    pub from_list: bool,
}

/// A call before which an agent waits, and what is written about it.
#[derive(Debug, Clone, PartialEq)]
pub struct AboutCall {
    pub agent: AgentId,
    pub call: ToolCall,
    pub what: CallText,
    /// The text that it began with.
    pub before: String,
}

/// A question that is open, and what is written to answer it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AboutQuestion {
    pub id: ApprovalId,
    pub what: QuestionText,
    /// The text that it began with.
    pub before: String,
}

/// A step of a plan, and what is written for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AboutStep {
    pub agent: AgentId,
    pub what: StepText,
    /// The text that it began with.
    pub before: String,
}

impl Purpose {
    /// Tells whether the text has to be ended before anything else is written.
    pub fn comes_first(&self) -> bool {
        match self {
            Self::Edit(_) | Self::AboutCall(_) | Self::AboutQuestion(_) | Self::AboutStep(_) => true,
            Self::Recall(_) | Self::Line => false,
        }
    }

    /// Returns the text that is not worth keeping when it is left: the one from before.
    pub(super) fn before(&self) -> String {
        match self {
            Self::Edit(editing) => written(&editing.entry),
            Self::AboutCall(about) => about.before.clone(),
            Self::AboutQuestion(about) => about.before.clone(),
            Self::AboutStep(about) => about.before.clone(),
            Self::Recall(_) | Self::Line => String::new(),
        }
    }
}

/// What is written about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallText {
    /// Its arguments, a JSON object.
    Arguments,
    /// Why it is skipped; the model is told.
    Reason,
}

/// What is written for a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionText {
    /// Why not: the answer is a no.
    No,
    /// The values of a form.
    Form,
    /// The answer to a question of an agent.
    Answer,
}
