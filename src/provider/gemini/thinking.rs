//! How a request sets the thinking of a Gemini model: a number of tokens (2.5) or a word (3 and later).
//!
//! The registry comes first; for models that it does not know, the name shows the generation.

use serde::Serialize;

use crate::quirks::EffortForm;
use crate::wire::Outgoing;
use steersman_core::provider::Effort;
pub(super) use steersman_core::provider::registry::Thinking;

/// The way in which the thinking of a model is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ThinkingControl {
    /// Nothing is known.
    Unknown,
    /// The model does not think.
    Never,
    /// By a number of tokens.
    Budget,
    /// By a word; the model requires a signature on each call of its history.
    Level,
}

/// Generations by the beginning of the model's name; the first that fits counts.
const GENERATIONS: [(&str, ThinkingControl); 5] = [
    ("gemini-1", ThinkingControl::Never),
    ("gemini-2.0", ThinkingControl::Never),
    ("gemma", ThinkingControl::Never),
    ("gemini-2.5", ThinkingControl::Budget),
    ("gemini-", ThinkingControl::Level),
];

/// The fewest and the most thinking tokens of a 2.5 model, by a part of its name.
const BUDGETS: [(&str, u32, u32); 2] = [("pro", 128, 32_768), ("", 0, 24_576)];

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ThinkingConfig {
    include_thoughts: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_budget: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_level: Option<&'static str>,
}

/// Returns how the thinking of a request's model is set.
pub(super) fn control(outgoing: &Outgoing<'_>) -> ThinkingControl {
    match outgoing.thinking() {
        Thinking::Never => ThinkingControl::Never,
        Thinking::Budget => ThinkingControl::Budget,
        Thinking::Effort | Thinking::Adaptive => ThinkingControl::Level,
        Thinking::Unknown => {
            let name = outgoing.request.model.trim_start_matches("models/");
            let known = GENERATIONS.iter().find(|(start, _)| name.starts_with(start));
            known.map_or(ThinkingControl::Unknown, |(_, control)| *control)
        }
    }
}

/// Returns the thinking members of a request. An unknown model gets only what the user asked for.
pub(super) fn config(outgoing: &Outgoing<'_>) -> Option<ThinkingConfig> {
    let effort = outgoing.request.answering.effort;
    let include_thoughts = effort != Some(Effort::Off);
    let model = outgoing.request.model;
    match control(outgoing) {
        _ if outgoing.quirks.effort_form == EffortForm::Nowhere => None,
        ThinkingControl::Never => None,
        ThinkingControl::Unknown if effort.is_none() => None,
        ThinkingControl::Budget => {
            let thinking_budget = effort.map(|effort| budget(effort, model));
            Some(ThinkingConfig { include_thoughts, thinking_budget, thinking_level: None })
        }
        ThinkingControl::Level | ThinkingControl::Unknown => {
            let thinking_level = effort.map(|effort| level(effort, model));
            Some(ThinkingConfig { include_thoughts, thinking_budget: None, thinking_level })
        }
    }
}

fn budget(effort: Effort, model: &str) -> u32 {
    let known = BUDGETS.iter().find(|(part, ..)| model.contains(part));
    let (least, most) = known.map_or((0, 24_576), |(_, least, most)| (*least, *most));
    let asked = match effort {
        Effort::Off => 0,
        Effort::Minimal => 512,
        Effort::Low => 1_024,
        Effort::Medium => 8_192,
        Effort::High => 24_576,
        Effort::Max => most,
    };
    asked.clamp(least, most)
}

/// Returns the word for an effort. These models always think; only the smaller ones have a minimal level.
fn level(effort: Effort, model: &str) -> &'static str {
    match effort {
        Effort::Off | Effort::Minimal if model.contains("flash") => "minimal",
        Effort::Off | Effort::Minimal | Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High | Effort::Max => "high",
    }
}
