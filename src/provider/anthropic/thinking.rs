//! How a request sets the thinking of a model: a budget of tokens or a word, depending on the model.
//!
//! Used by the body. Nothing is set unless the user asks for it.

use serde::Serialize;

use crate::limits;
use crate::provider::Effort;
use crate::provider::quirks::{EffortForm, Efforts};
use crate::provider::registry::Thinking;
use crate::provider::wire::Outgoing;

const WORDS: Efforts = Efforts::of(&["low", "medium", "high", "max"]);

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
    /// Decides on the members. `calls_without_thinking`: whether the model is in the middle of calls that it made
    /// without thinking.
    pub fn of(outgoing: &Outgoing<'_>, max_tokens: u64, calls_without_thinking: CallsWithoutThinking) -> Self {
        let Some(effort) = outgoing.request.answering.effort else { return Self::default() };
        if outgoing.quirks.effort_form == EffortForm::Nowhere {
            return Self::default();
        }
        let word = outgoing.quirks.effort_of(WORDS, effort);
        let adaptive = Self { thinking: Some(ThinkingSwitch::Adaptive { display: "summarized" }), effort: word };
        let disabled = Self { thinking: Some(ThinkingSwitch::Disabled), effort: None };
        match outgoing.card.map(|card| card.thinking).unwrap_or_default() {
            Thinking::Never => Self::default(),
            Thinking::Effort => Self { thinking: None, effort: word },
            _ if effort == Effort::Off => disabled,
            Thinking::Adaptive => adaptive,
            // A Claude model that no table knows is newer than the table. Other servers of this dialect use the older
            // form.
            Thinking::Unknown if outgoing.request.model.contains("claude") => adaptive,
            Thinking::Budget | Thinking::Unknown => match (calls_without_thinking, budget(effort, max_tokens)) {
                (CallsWithoutThinking::No, Some(budget_tokens)) => {
                    Self { thinking: Some(ThinkingSwitch::Enabled { budget_tokens }), effort: None }
                }
                (CallsWithoutThinking::Yes, _) | (CallsWithoutThinking::No, None) => disabled,
            },
        }
    }

    /// Returns whether the request turns thinking on.
    pub fn thinks(&self) -> bool {
        matches!(self.thinking, Some(ThinkingSwitch::Adaptive { .. } | ThinkingSwitch::Enabled { .. }))
    }
}

/// Whether the model is in the middle of calls that it made without thinking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallsWithoutThinking {
    Yes,
    No,
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
