//! One source of settings: the flags, the environment or the file. Each says only what it knows.

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;

use serde::Deserialize;

use crate::approval::Mode;
use crate::config::{
    CommandWords, ProfileSection, Provider, RuleLists, SandboxSection, ScreenSection, SessionsSection, WebSection,
};
use crate::price::{Money, Prices};
use crate::provider::Effort;

/// The settings of one source; `None` is left to the next one. Its serde form is the file.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layer {
    /// What kind of server answers.
    pub provider: Option<Provider>,
    /// The server's address, with or without `/v1`.
    pub base_url: Option<String>,
    /// The model's name.
    pub model: Option<String>,
    /// The environment variable that holds the key.
    pub api_key_env: Option<String>,
    /// The file that holds the key.
    pub api_key_file: Option<PathBuf>,
    /// The command that prints the key.
    pub api_key_command: Option<CommandWords>,
    /// The file of authorities that are trusted beside those of the system.
    pub ca_file: Option<PathBuf>,
    /// How much the model thinks.
    pub reasoning_effort: Option<Effort>,
    /// How much chance there is in its choice of words.
    pub temperature: Option<f64>,
    /// Tokens that one reply may have.
    pub max_tokens: Option<NonZeroU64>,
    /// The profile to use.
    pub default_profile: Option<String>,
    /// The profiles by their names.
    pub profile: Option<BTreeMap<String, ProfileSection>>,
    /// The loopback ports at which a model server is looked for when nothing is configured.
    pub local_ports: Option<Vec<u16>>,
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
    /// How full the context window is when older rounds are summarised, per cent; 0 is never beforehand.
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
    /// How the screen looks.
    pub screen: Option<ScreenSection>,
    /// The sessions that are saved.
    pub sessions: Option<SessionsSection>,
}

impl Layer {
    /// The keys of the file, in the order of its documentation.
    pub const KEYS: &'static [&'static str] = &[
        "provider",
        "base_url",
        "model",
        "api_key_env",
        "api_key_file",
        "api_key_command",
        "ca_file",
        "reasoning_effort",
        "temperature",
        "max_tokens",
        "default_profile",
        "profile",
        "local_ports",
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
        "screen",
        "sessions",
    ];

    /// The keys within each section of the file.
    pub const SECTIONS: [(&'static str, &'static [&'static str]); 5] = [
        ("rules", RuleLists::KEYS),
        ("sandbox", SandboxSection::KEYS),
        ("web", WebSection::KEYS),
        ("screen", ScreenSection::KEYS),
        ("sessions", SessionsSection::KEYS),
    ];

    /// Returns this layer with its gaps filled from a lower one.
    #[must_use]
    pub fn or(self, lower: Self) -> Self {
        Self {
            provider: self.provider.or(lower.provider),
            base_url: self.base_url.or(lower.base_url),
            model: self.model.or(lower.model),
            api_key_env: self.api_key_env.or(lower.api_key_env),
            api_key_file: self.api_key_file.or(lower.api_key_file),
            api_key_command: self.api_key_command.or(lower.api_key_command),
            ca_file: self.ca_file.or(lower.ca_file),
            reasoning_effort: self.reasoning_effort.or(lower.reasoning_effort),
            temperature: self.temperature.or(lower.temperature),
            max_tokens: self.max_tokens.or(lower.max_tokens),
            default_profile: self.default_profile.or(lower.default_profile),
            profile: self.profile.or(lower.profile),
            local_ports: self.local_ports.or(lower.local_ports),
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
            screen: both(self.screen, lower.screen, ScreenSection::or),
            sessions: both(self.sessions, lower.sessions, SessionsSection::or),
        }
    }

    /// Returns this layer without what is said about a server: a profile that is used takes its place as a whole.
    pub(super) fn without_server(self) -> Self {
        Self {
            provider: None,
            base_url: None,
            model: None,
            api_key_env: None,
            api_key_file: None,
            api_key_command: None,
            context_window: None,
            ..self
        }
    }

    /// Tells whether it says where a key is.
    pub(super) fn names_key(&self) -> bool {
        self.api_key_env.is_some() || self.api_key_file.is_some() || self.api_key_command.is_some()
    }

    /// Returns the environment variables that it names as places of keys.
    pub(super) fn key_variables(&self) -> impl Iterator<Item = &String> {
        let web = self.web.as_ref();
        let profiles = self.profile.iter().flat_map(BTreeMap::values);
        [
            self.api_key_env.as_ref(),
            web.and_then(|web| web.brave_key_env.as_ref()),
            web.and_then(|web| web.exa_key_env.as_ref()),
        ]
        .into_iter()
        .flatten()
        .chain(profiles.filter_map(|profile| profile.api_key_env.as_ref()))
    }
}

/// Joins two sections; the gaps of the first are filled from the second.
fn both<T>(upper: Option<T>, lower: Option<T>, join: fn(T, T) -> T) -> Option<T> {
    match (upper, lower) {
        (Some(upper), Some(lower)) => Some(join(upper, lower)),
        (upper, lower) => upper.or(lower),
    }
}
