//! One source of settings: the flags, the environment or the file. Each says only what it knows.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;

use serde::Deserialize;

use crate::approval::Mode;
use crate::config::{Provider, RuleLists, SandboxSection, WebSection};
use crate::price::{Money, Prices};

/// Holds the settings of one source; `None` is left to the next one. Its serde form is the file.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layer {
    /// `openai` or `demo`.
    pub provider: Option<Provider>,
    /// The server's address, with or without `/v1`.
    pub base_url: Option<String>,
    /// The model's name.
    pub model: Option<String>,
    /// The environment variable that holds the key.
    pub api_key_env: Option<String>,
    /// Tool calls per turn.
    pub max_steps: Option<NonZeroU32>,
    /// False: replies come whole.
    pub stream: Option<bool>,
    /// The context window in tokens.
    pub context_window: Option<NonZeroU64>,
    /// The file that replaces the default system prompt.
    pub system_prompt: Option<PathBuf>,
    /// Words per second of the embedded model; 0 is as fast as it goes.
    pub pace: Option<u32>,
    /// Minutes that a text may wait before the screen asks whether it still holds; 0 means for ever.
    pub still_true_minutes: Option<u32>,
    /// Tool calls of its agent that a text may wait for; 0 means any number.
    pub still_true_steps: Option<u32>,
    /// What tokens cost, by the model's name.
    pub prices: Option<Prices>,
    /// US dollars that the whole tree of agents may spend.
    pub max_cost: Option<Money>,
    /// Tokens that the whole tree of agents may use.
    pub max_tokens_total: Option<NonZeroU64>,
    /// How full the context window is when older rounds are summarised, per cent; 0 is never.
    pub compact_at: Option<u8>,
    /// How much runs without a question.
    pub mode: Option<Mode>,
    /// False: no `AGENTS.md` or `CLAUDE.md` enters the system prompt.
    pub context_files: Option<bool>,
    /// What tools may do, case by case.
    pub rules: Option<RuleLists>,
    /// What confines commands.
    pub sandbox: Option<SandboxSection>,
    /// The tools that use the network.
    pub web: Option<WebSection>,
}

impl Layer {
    /// The keys of the file, in the order of its documentation.
    pub const KEYS: &'static [&'static str] = &[
        "provider",
        "base_url",
        "model",
        "api_key_env",
        "max_steps",
        "stream",
        "context_window",
        "system_prompt",
        "pace",
        "still_true_minutes",
        "still_true_steps",
        "prices",
        "max_cost",
        "max_tokens_total",
        "compact_at",
        "mode",
        "context_files",
        "rules",
        "sandbox",
        "web",
    ];

    /// The keys within each section of the file.
    pub const SECTIONS: [(&'static str, &'static [&'static str]); 3] =
        [("rules", RuleLists::KEYS), ("sandbox", SandboxSection::KEYS), ("web", WebSection::KEYS)];

    /// Returns this layer with its gaps filled from a lower one.
    #[must_use]
    pub fn or(self, lower: Self) -> Self {
        Self {
            provider: self.provider.or(lower.provider),
            base_url: self.base_url.or(lower.base_url),
            model: self.model.or(lower.model),
            api_key_env: self.api_key_env.or(lower.api_key_env),
            max_steps: self.max_steps.or(lower.max_steps),
            stream: self.stream.or(lower.stream),
            context_window: self.context_window.or(lower.context_window),
            system_prompt: self.system_prompt.or(lower.system_prompt),
            pace: self.pace.or(lower.pace),
            still_true_minutes: self.still_true_minutes.or(lower.still_true_minutes),
            still_true_steps: self.still_true_steps.or(lower.still_true_steps),
            prices: self.prices.or(lower.prices),
            max_cost: self.max_cost.or(lower.max_cost),
            max_tokens_total: self.max_tokens_total.or(lower.max_tokens_total),
            compact_at: self.compact_at.or(lower.compact_at),
            mode: self.mode.or(lower.mode),
            context_files: self.context_files.or(lower.context_files),
            rules: self.rules.or(lower.rules),
            sandbox: both(self.sandbox, lower.sandbox, SandboxSection::or),
            web: both(self.web, lower.web, WebSection::or),
        }
    }

    /// Returns the provider that this layer asks for: the one it names, or a server when it names an address or a model.
    pub(super) fn asks_for(&self) -> Option<Provider> {
        let server = self.base_url.is_some() || self.model.is_some();
        self.provider.or(server.then_some(Provider::OpenAi))
    }
}

/// Joins two sections; the gaps of the first are filled from the second.
fn both<T>(upper: Option<T>, lower: Option<T>, join: fn(T, T) -> T) -> Option<T> {
    match (upper, lower) {
        (Some(upper), Some(lower)) => Some(join(upper, lower)),
        (upper, lower) => upper.or(lower),
    }
}
