//! How a request sets the thinking of a model: a budget of tokens or a word, depending on the model.
//!
//! Used by the body. Nothing is set unless the user asks for it.

use serde::Serialize;

use crate::anthropic::turns::Conversation;
use crate::quirks::{EffortForm, Efforts};
use crate::wire::Outgoing;
use steersman_base::limits;
use steersman_core::provider::Effort;
pub(super) use steersman_core::provider::registry::Thinking;

const WORDS: Efforts = Efforts::new(&["low", "medium", "high", "max"]);

/// The members of a request that control thinking.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ThinkingMembers {
    /// Whether the model thinks, and its budget.
    pub thinking: Option<ThinkingSwitch>,
    /// The overall effort of the reply.
    pub effort: Option<&'static str>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ThinkingSwitch {
    Disabled,
    /// The model decides itself. Its thinking comes as a summary, which newer models leave out unless asked.
    Adaptive {
        display: &'static str,
    },
    Enabled {
        budget_tokens: u64,
    },
}

impl ThinkingMembers {
    /// Decides on the members.
    pub(super) fn new(outgoing: &Outgoing<'_>, max_tokens: u64, conversation: &Conversation<'_>) -> Self {
        let Some(effort) = outgoing.request.answering.effort else { return Self::default() };
        if outgoing.quirks.effort_form == EffortForm::Nowhere {
            return Self::default();
        }
        let word = outgoing.quirks.effort_of(WORDS, effort);
        let adaptive = Self { thinking: Some(ThinkingSwitch::Adaptive { display: "summarized" }), effort: word };
        let disabled = Self { thinking: Some(ThinkingSwitch::Disabled), effort: None };
        match outgoing.thinking() {
            Thinking::Never => Self::default(),
            Thinking::Effort => Self { thinking: None, effort: word },
            _ if effort == Effort::Off => disabled,
            Thinking::Adaptive => adaptive,
            // A Claude model that no table knows is newer than the table. Other servers of this dialect use the older
            // form.
            Thinking::Unknown if outgoing.request.model.contains("claude") => adaptive,
            Thinking::Budget | Thinking::Unknown => match budget(effort, max_tokens) {
                Some(budget_tokens) if !conversation.calls_without_thinking() => {
                    Self { thinking: Some(ThinkingSwitch::Enabled { budget_tokens }), effort: None }
                }
                Some(_) | None => disabled,
            },
        }
    }

    /// Returns whether the request turns thinking on.
    pub(super) fn thinks(&self) -> bool {
        matches!(self.thinking, Some(ThinkingSwitch::Adaptive { .. } | ThinkingSwitch::Enabled { .. }))
    }
}

/// Returns the tokens for thinking: at most half of the reply's, or none when that is less than servers accept.
fn budget(effort: Effort, max_tokens: u64) -> Option<u64> {
    let wanted = match effort {
        Effort::Off => return None,
        Effort::Minimal => limits::THINKING_TOKENS,
        Effort::Low => 4_096,
        Effort::Medium => 8_192,
        Effort::High => 16_384,
        Effort::Max => 32_768,
    };
    Some(wanted.min(max_tokens / 2)).filter(|budget| *budget >= limits::THINKING_TOKENS)
}
