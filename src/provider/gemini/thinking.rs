//! How a Gemini model is told to think: by a number of tokens (2.5) or by a word (3 and later).
//!
//! What the registry knows comes first; for the rest the name tells the generation.

use serde::Serialize;

use crate::provider::Effort;
use crate::provider::quirks::Spelling;
use crate::provider::registry::Thinking;
use crate::provider::wire::Outgoing;

/// Says how a model thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Nothing is known.
    Unknown,
    /// It does not think.
    Never,
    /// It is told a number of tokens.
    Budget,
    /// It is told a word, and wants a signature on each call of its history.
    Level,
}

/// Generations by the beginning of the model's name; the first that fits counts.
const GENERATIONS: [(&str, Way); 5] = [
    ("gemini-1", Way::Never),
    ("gemini-2.0", Way::Never),
    ("gemma", Way::Never),
    ("gemini-2.5", Way::Budget),
    ("gemini-", Way::Level),
];

/// Tokens that a model of the 2.5 generation may think: the fewest and the most, by a part of its name.
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

/// Returns how the model of a request thinks.
pub(super) fn way(outgoing: &Outgoing<'_>) -> Way {
    match outgoing.card.map(|card| card.thinking) {
        Some(Thinking::Never) => Way::Never,
        Some(Thinking::Budget) => Way::Budget,
        Some(Thinking::Effort | Thinking::Adaptive) => Way::Level,
        Some(Thinking::Unknown) | None => {
            let name = outgoing.request.model.trim_start_matches("models/");
            let known = GENERATIONS.iter().find(|(start, _)| name.starts_with(start));
            known.map_or(Way::Unknown, |(_, way)| *way)
        }
    }
}

/// Says how to think. A model of which nothing is known is told only what the user asked for.
pub(super) fn config(outgoing: &Outgoing<'_>) -> Option<ThinkingConfig> {
    let effort = outgoing.request.answering.effort;
    let include_thoughts = effort != Some(Effort::Off);
    let model = outgoing.request.model;
    match way(outgoing) {
        _ if outgoing.quirks.spelling == Spelling::Nowhere => None,
        Way::Never => None,
        Way::Unknown if effort.is_none() => None,
        Way::Budget => {
            let thinking_budget = effort.map(|effort| budget(effort, model));
            Some(ThinkingConfig { include_thoughts, thinking_budget, thinking_level: None })
        }
        Way::Level | Way::Unknown => {
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

/// These models always think; only the smaller ones can be told to do it hardly at all.
fn level(effort: Effort, model: &str) -> &'static str {
    match effort {
        Effort::Off | Effort::Minimal if model.contains("flash") => "minimal",
        Effort::Off | Effort::Minimal | Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High | Effort::Max => "high",
    }
}
