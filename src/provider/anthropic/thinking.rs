//! How a model is told to think: by a budget of tokens or by a word, as its card says.
//!
//! Used by the body. Nothing is told unless the user asks for it.

use serde::Serialize;

use crate::limits;
use crate::provider::Effort;
use crate::provider::quirks::{Efforts, Spelling};
use crate::provider::registry::Thinking;
use crate::provider::wire::Outgoing;

/// The words of this dialect.
const WORDS: Efforts = Efforts::of(&["low", "medium", "high", "max"]);

/// Is what a request says about thinking.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Told {
    /// Whether it thinks, and up to which amount.
    pub thinking: Option<Switch>,
    /// How much it does altogether.
    pub effort: Option<&'static str>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Switch {
    Disabled,
    /// It decides itself; what it thought comes as a summary, which newer models leave out unless asked.
    Adaptive {
        display: &'static str,
    },
    Enabled {
        budget_tokens: u64,
    },
}

impl Told {
    /// Decides what to tell. `unthinking`: the model is in the middle of calls before which it did not think.
    pub fn of(outgoing: &Outgoing<'_>, max_tokens: u64, unthinking: Unthinking) -> Self {
        let Some(effort) = outgoing.request.answering.effort else { return Self::default() };
        if outgoing.quirks.spelling == Spelling::Nowhere {
            return Self::default();
        }
        let word = outgoing.quirks.effort_of(WORDS, effort);
        let adaptive = Self { thinking: Some(Switch::Adaptive { display: "summarized" }), effort: word };
        let disabled = Self { thinking: Some(Switch::Disabled), effort: None };
        match outgoing.card.map(|card| card.thinking).unwrap_or_default() {
            Thinking::Never => Self::default(),
            Thinking::Effort => Self { thinking: None, effort: word },
            _ if effort == Effort::Off => disabled,
            Thinking::Adaptive => adaptive,
            // A model of theirs that no table knows is newer than the table. Others that speak this dialect took over
            // the older form.
            Thinking::Unknown if outgoing.request.model.contains("claude") => adaptive,
            Thinking::Budget | Thinking::Unknown => match (unthinking, budget(effort, max_tokens)) {
                (Unthinking::No, Some(budget_tokens)) => {
                    Self { thinking: Some(Switch::Enabled { budget_tokens }), effort: None }
                }
                (Unthinking::Yes, _) | (Unthinking::No, None) => disabled,
            },
        }
    }

    /// Tells whether the model thinks, as far as the request says.
    pub fn thinks(&self) -> bool {
        matches!(self.thinking, Some(Switch::Adaptive { .. } | Switch::Enabled { .. }))
    }
}

/// Says whether the model is in the middle of calls before which it did not think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unthinking {
    Yes,
    No,
}

/// Returns the tokens for thinking: at most half of the reply's, or none at all when that is less than a server takes.
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
