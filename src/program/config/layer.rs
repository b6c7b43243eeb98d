//! One source of settings: the flags, the environment or the file. Each says only what it knows.

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;

use crate::program::config::settings::{ADDRESS, FILE, FLAG, TEXT, TOKENS, VARIABLE, settings};
use crate::program::config::{
    AgentsSection, CommandSetting, EditorSection, Key, Provider, RuleLists, SandboxSection, ScreenSection,
    ServerSection, SessionsSection, StatusSection, SteeringSection, WebSection,
};
use steersman_base::price::{Money, Prices};
use steersman_core::approval::Mode;
use steersman_core::provider::Effort;

settings! {
    /// The settings of one source; `None` is left to the next one. Its serde form is the file.
    pub struct Layer {
        /// What kind of server answers.
        provider: Provider, "\"openai\", \"openai-responses\", \"anthropic\", \"gemini\" or \"demo\"";
        /// The server's address, with or without `/v1`.
        base_url: String, ADDRESS;
        /// The model's name.
        model: String, TEXT;
        /// The environment variable that holds the key.
        api_key_env: String, VARIABLE;
        /// The file that holds the key.
        api_key_file: PathBuf, FILE;
        /// The command that prints the key.
        api_key_command: CommandSetting, "a command in quotes, or a list of its words";
        /// The file of authorities that are trusted beside those of the system.
        ca_file: PathBuf, FILE;
        /// How much the model thinks.
        reasoning_effort: Effort, "\"off\", \"minimal\", \"low\", \"medium\", \"high\" or \"max\"";
        /// How much chance there is in its choice of words.
        temperature: f64, "a number from 0 to 2";
        /// Tokens that one reply may have.
        max_tokens: NonZeroU64, TOKENS;
        /// The profile to use.
        default_profile: String, TEXT;
        /// The profiles by their names.
        profile: BTreeMap<String, Self>, "sections, each as [profile.NAME] with its keys below it";
        /// The loopback ports at which a model server is looked for when nothing is configured.
        local_ports: Vec<u16>, "a list of ports from 0 to 65535, such as [8080, 11434]";
        /// Tool calls per turn.
        max_steps: NonZeroU32, "a whole number, 1 or more";
        /// False: replies come whole.
        stream: bool, FLAG;
        /// The context window in tokens.
        context_window: NonZeroU64, TOKENS;
        /// The file that replaces the default system prompt.
        system_prompt: PathBuf, FILE;
        /// Words per second of the embedded model; 0 is as fast as it goes.
        pace: u32, "a whole number of words per second, 0 or more";
        /// Minutes that a text may wait before the screen asks whether to send it; 0 means for ever.
        still_true_minutes: u32, "a whole number of minutes, 0 or more";
        /// Tool calls of its agent that a text may wait for; 0 means any number.
        still_true_steps: u32, "a whole number of tool calls, 0 or more";
        /// What tokens cost, by the model's name.
        prices: Prices, "a table with the price of each model, such as prices.\"qwen3-coder\"";
        /// US dollars that the whole tree of agents may spend.
        max_cost: Money, "an amount of US dollars above 0, such as 2.50";
        /// Tokens that the whole tree of agents may use.
        max_tokens_total: NonZeroU64, TOKENS;
        /// How full the context window is when older rounds are summarised, per cent; 0 is never beforehand.
        compact_at: u8, "a whole number from 0 to 100";
        /// How much runs without a question.
        mode: Mode, "\"ask\", \"auto-edit\", \"auto\", \"auto-without-sandbox\", \"read-only\" or \"plan\"";
        /// False: no `AGENTS.md` or `CLAUDE.md` enters the system prompt.
        context_files: bool, FLAG;
        /// The MCP servers by their names.
        mcp: BTreeMap<String, ServerSection>, "sections, each as [mcp.NAME] with its keys below it";
        /// How much of the context window the tools of MCP servers take before they are searched for, per cent.
        mcp_window_percent: u8, "a whole number from 0 to 100";
    }
    sections {
        /// What tools may do, case by case.
        rules: RuleLists;
        /// What confines commands.
        sandbox: SandboxSection;
        /// The tools that use the network.
        web: WebSection;
        /// How the screen looks.
        screen: ScreenSection;
        /// The message.
        editor: EditorSection;
        /// The status line.
        status: StatusSection;
        /// Texts that reach an agent while it works.
        steering: SteeringSection;
        /// Sub-agents.
        agents: AgentsSection;
        /// The sessions that are saved.
        sessions: SessionsSection;
    }
}

impl Layer {
    /// The keys of a profile: what can be said about one server.
    pub const PROFILE_KEYS: [&'static str; 10] = [
        "provider",
        "base_url",
        "model",
        "api_key_env",
        "api_key_file",
        "api_key_command",
        "reasoning_effort",
        "temperature",
        "max_tokens",
        "context_window",
    ];

    /// Returns the names of everything that may stand at the top of the file: keys, and behind them sections.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::KEYS.iter().map(|key| key.name).chain(Self::SECTIONS.iter().map(|(section, _)| *section))
    }

    /// Returns the keys of a section.
    pub(super) fn section(name: &str) -> Option<&'static [Key]> {
        Self::SECTIONS.iter().find(|(section, _)| *section == name).map(|(_, keys)| *keys)
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
        .chain(self.mcp.iter().flat_map(BTreeMap::values).filter_map(|server| server.bearer_token_env.as_ref()))
    }
}
