//! The configuration: flags over environment over file over default, as one value.
//!
//! Parse first ([`Layer`]), then interpret ([`Config::resolve`]), which is a pure function of its arguments: no file, no
//! environment, no clock. The program's `cli` reads the sources and calls it.
//!
//! # Where things are
//!
//! - servers, profiles and whose key is for whom: `server.rs`, `services.rs`, `resolve.rs`, `src/program/cli/keys.rs`;
//!   tests: `profiles.rs`, `keys.rs`
//! - every key, its type and what it allows: `layer.rs`, `sections.rs`; tests: `precedence.rs`
//! - permissions of Claude Code: `permissions.rs`; tests: `permissions.rs`
//! - MCP servers: `mcp/mod.rs`; tests: `mcp/configuration.rs`
//! - which setting wins, the configuration file: `resolve.rs`, `file.rs`, `allowed.rs`, `assets/config.example.toml`; tests:
//!   `config.rs`, `precedence.rs`
//! - one place per key of the configuration file: `settings.rs`

mod allowed;
mod file;
mod layer;
mod mcp;
mod permissions;
mod project;
mod resolve;
mod sections;
mod server;
mod services;
mod settings;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use steersman_base::dialect::Dialect;
use steersman_base::steering::{AgentsGiveWay, Framing};
use steersman_base::text::visible_line;
use steersman_core::approval::{Mode, ModeRefused, RuleError};
use steersman_core::control::{Spending, Staleness};
use steersman_core::provider::{ApiKey, Streaming};
use steersman_provider::Http;
use steersman_tools::workspace::UserCommand;

pub use file::{FileError, parse};
pub use layer::Layer;
pub use mcp::{ForeignServers, ServerSection, read_claude, read_codex, read_project, to_toml};
pub use permissions::{ClaudeSettings, PermissionPlaces};
pub use project::ProjectLayer;
pub use resolve::Environment;
pub use sections::{
    AgentsSection, EditorSection, MessageKeys, Notify, NotifyWhen, RuleLists, SandboxKind, SandboxSection,
    ScreenPictures, ScreenSection, SessionsSection, StatusSection, SteeringSection, WebSection,
};
pub use server::{CommandSetting, KeyPlace, Server};
pub use services::{SERVICES, Service};
pub use settings::Key;

/// The server that is used when only a model or a provider is named.
pub const DEFAULT_BASE_URL: &str = "https://api.openai.com/v1";
/// The environment variable that holds the key of `OpenAI`.
pub const DEFAULT_API_KEY_ENV: &str = "OPENAI_API_KEY";

/// Everything that a start of the program depends on.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Which model answers.
    pub model: ModelSource,
    /// What the server that answers is called in lists: its profile, its service, or its host.
    pub source: String,
    /// True when nothing said which model answers: servers of this machine are looked for then.
    pub unconfigured: bool,
    /// The profiles by their names; a broken one says what is wrong when it is used.
    pub profiles: Vec<(String, Result<Server, ConfigError>)>,
    /// The services whose key is in the environment, by their names.
    pub services: Vec<(String, Server)>,
    /// The loopback ports at which a model server is looked for.
    pub local_ports: Vec<u16>,
    /// Tool calls that a turn may make, at least 1.
    pub max_steps: u32,
    /// Whether replies come in pieces.
    pub streaming: Streaming,
    /// The context window in tokens, when the user said it.
    pub context_window: Option<u64>,
    /// The file that replaces the default system prompt.
    pub system_prompt: Option<PathBuf>,
    /// The file of authorities that are trusted beside those of the system.
    pub ca_file: Option<PathBuf>,
    /// From when on the screen asks whether a waiting text still holds.
    pub still_true: Staleness,
    /// What tokens cost, where the server does not say it, and how much may be spent.
    pub spending: Spending,
    /// How texts reach an agent's model while it works.
    pub framing: Framing,
    /// Which texts end the wait for sub-agents.
    pub agents_give_way: AgentsGiveWay,
    /// How many sub-agents work at the same time.
    pub agents_at_once: usize,
    /// How full the context window is when older rounds are summarised, per cent; 0 is never beforehand.
    pub compact_at: u8,
    /// How much runs without a question.
    pub mode: Mode,
    /// Whether `AGENTS.md` and `CLAUDE.md` enter the system prompt.
    pub context_files: bool,
    /// What tools may do, case by case.
    pub rules: RuleLists,
    /// What confines commands.
    pub sandbox: SandboxSettings,
    /// The tools that use the network.
    pub web: WebSettings,
    /// How the screen looks.
    pub screen: ScreenSection,
    /// Which keys the message takes.
    pub message_keys: MessageKeys,
    /// The command whose first line stands in the status line.
    pub status_command: Option<UserCommand>,
    /// The MCP servers by their names.
    pub servers: BTreeMap<String, ServerSection>,
    /// How much of the context window their tools take before they are searched for, per cent.
    pub mcp_window_percent: u8,
    /// Days after which a session that nobody went on with is removed; `None` is never.
    pub keep_days: Option<u32>,
}

impl Config {
    /// Takes the model that settings of Claude Code name, where nothing else names one and the server is one for it; else
    /// says in one line why it counts for nothing.
    pub fn suggest_model(&mut self, model: &str) -> Option<String> {
        match &mut self.model {
            ModelSource::Server(server) if server.model.is_none() && server.dialect == Dialect::Anthropic => {
                if model.starts_with("claude-") {
                    server.model = Some(model.to_owned());
                    None
                } else {
                    Some(format!(
                        "model {:?} of Claude Code's settings: name it whole, with --model",
                        visible_line(model)
                    ))
                }
            }
            // Another model was named, or another server answers.
            ModelSource::Server(_) | ModelSource::Embedded { .. } => None,
        }
    }

    /// Returns the HTTP clients that it asks for.
    pub fn http(&self) -> Http {
        match &self.ca_file {
            Some(file) => Http::default().with_ca_file(file),
            None => Http::default(),
        }
    }

    /// Returns where the keys of all servers come from.
    pub fn keys_mut(&mut self) -> impl Iterator<Item = &mut KeyPlace> {
        let answering = match &mut self.model {
            ModelSource::Server(server) => Some(server),
            ModelSource::Embedded { .. } => None,
        };
        let profiles = self.profiles.iter_mut().filter_map(|(_, server)| server.as_mut().ok());
        let services = self.services.iter_mut().map(|(_, server)| server);
        answering.into_iter().chain(profiles).chain(services).map(|server| &mut server.key)
    }
}

/// Everything about the sandbox of commands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SandboxSettings {
    /// What confines them.
    pub kind: SandboxKind,
    /// Whether they reach the network.
    pub network: bool,
    /// Directories besides the workspace that they read.
    pub readable: Vec<PathBuf>,
    /// Directories besides the workspace that they write.
    pub writable: Vec<PathBuf>,
    /// Those of them that the command line adds: other tools read there too.
    pub added: Vec<PathBuf>,
    /// Names of environment variables that they get besides the usual ones; never one that holds a key.
    pub pass_env: Vec<String>,
    /// Variables that they get with these values: those of settings of Claude Code.
    pub variables: BTreeMap<String, String>,
    /// Names of the environment variables that hold keys: no child gets them, whatever else is said.
    pub key_variables: Vec<String>,
}

/// Everything about the tools that use the network.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WebSettings {
    /// Hosts that are asked although their address is not a public one.
    pub allow_hosts: Vec<String>,
    /// The address of a `SearXNG` server.
    pub searxng_url: Option<String>,
    /// The key of Brave.
    pub brave_key: Option<ApiKey>,
    /// The key of Exa.
    pub exa_key: Option<ApiKey>,
    /// Whether the main agent has the network tools itself.
    pub on_main_agent: bool,
}

/// Which model answers.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelSource {
    /// The model server inside the process: no key, no network.
    Embedded {
        /// Words per second; 0 is as fast as it goes; `None` is its own pace.
        pace: Option<u32>,
    },
    /// A server.
    Server(Server),
}

/// A kind of model server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    /// Any server that speaks chat completions.
    #[value(name = "openai")]
    #[serde(rename = "openai")]
    OpenAi,
    /// `OpenAI`'s Responses.
    #[value(name = "openai-responses", help = "OpenAI's Responses")]
    #[serde(rename = "openai-responses")]
    OpenAiResponses,
    /// Anthropic's Messages.
    Anthropic,
    /// Google's `generateContent`.
    #[value(help = "Google's generateContent")]
    Gemini,
    /// The embedded model.
    Demo,
}

impl Provider {
    /// Returns the dialect of its servers; the embedded model has none of its own.
    pub fn dialect(self) -> Option<Dialect> {
        match self {
            Self::OpenAi => Some(Dialect::OpenAi),
            Self::OpenAiResponses => Some(Dialect::OpenAiResponses),
            Self::Anthropic => Some(Dialect::Anthropic),
            Self::Gemini => Some(Dialect::Gemini),
            Self::Demo => None,
        }
    }
}

/// What is wrong with the configuration, in one sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The address is not one.
    #[error("the base URL {0:?} is not an address such as http://localhost:8080")]
    BaseUrl(String),
    /// Nobody said which model.
    #[error("no model is named: add --model NAME, or --base-url URL to ask that server for its models")]
    NoModel,
    /// The named variable is not set.
    #[error("the environment variable {0} is to hold the key, but it is not set")]
    NoKey(String),
    /// More than one place is to hold the key.
    #[error("a server's key comes from one place: keep one of api_key_env, api_key_file and api_key_command")]
    TwoKeys,
    /// The command that prints the key is none.
    /// The command of the status line names no program.
    #[error("status.command names no program, or a quote in it is not closed")]
    StatusCommand,
    #[error("api_key_command names no program, or a quote in it is not closed")]
    KeyCommand,
    /// The temperature is out of range.
    #[error("temperature must be a number from 0 to 2; it is {0}")]
    Temperature(String),
    /// There is no such profile.
    #[error("there is no profile {name:?}; {known}")]
    NoProfile {
        /// The profile that was asked for.
        name: String,
        /// A clause about those that there are.
        known: String,
    },
    /// There are too many profiles.
    #[error("the configuration has {0} profiles, more than {most}", most = steersman_base::limits::PROFILES)]
    Profiles(usize),
    /// A profile cannot be called so.
    #[error("the profile {0:?} needs another name: one without blanks and without /")]
    ProfileName(String),
    /// The ports are none.
    #[error("STEERSMAN_LOCAL_PORTS must be a list of ports such as 8080,11434, or none; it is {0:?}")]
    LocalPorts(String),
    /// A variable that holds a key is to be given to commands.
    #[error("sandbox.pass_env names {0}, which holds a key; no command gets a key")]
    PassesKey(String),
    /// The share is none.
    #[error(
        "compact_at must be a whole number from 1 to 100 (per cent of the context window), or 0 for never beforehand; it is {0}"
    )]
    CompactAt(u8),
    /// The share for the tools of servers is none.
    #[error("mcp_window_percent must be a whole number from 0 to 100 (per cent of the context window); it is {0}")]
    WindowPercent(u8),
    /// The mode needs what the configuration switches off.
    #[error(transparent)]
    Mode(#[from] ModeRefused),
    /// A rule is none.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// The address of the search server is none.
    #[error("web.searxng_url {0:?} is not an address such as https://searx.example.org")]
    Searxng(String),
}
