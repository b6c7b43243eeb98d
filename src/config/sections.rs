//! The sections of the configuration file: rules, sandbox, web, profiles. Each is also a value of its own, filled gap by gap.

use std::num::NonZeroU64;
use std::path::PathBuf;

use serde::Deserialize;

use crate::approval::{RuleError, Rules};
use crate::config::{CommandWords, Layer, Provider};
use crate::provider::Effort;

/// Holds rules for what tools may do, as they are written: `bash: cargo test *`. The strictest that matches counts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RuleLists {
    /// What runs without a question.
    pub allow: Vec<String>,
    /// What is asked about, whatever the mode.
    pub ask: Vec<String>,
    /// What never runs.
    pub deny: Vec<String>,
}

impl RuleLists {
    /// The keys of the section.
    pub const KEYS: &'static [&'static str] = &["allow", "ask", "deny"];

    /// Reads the rules.
    ///
    /// # Errors
    /// [`RuleError`] for the first that is none.
    pub fn parse(&self) -> Result<Rules, RuleError> {
        Rules::parse(&self.allow, &self.ask, &self.deny)
    }

    /// Tells whether there is no rule.
    pub fn is_empty(&self) -> bool {
        self.allow.is_empty() && self.ask.is_empty() && self.deny.is_empty()
    }

    /// Returns these rules and further ones behind them.
    #[must_use]
    pub fn and(mut self, more: Self) -> Self {
        self.allow.extend(more.allow);
        self.ask.extend(more.ask);
        self.deny.extend(more.deny);
        self
    }
}

/// What is said about the sandbox of commands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SandboxSection {
    /// What confines commands.
    pub kind: Option<SandboxKind>,
    /// Whether they reach the network.
    pub network: Option<bool>,
    /// Directories besides the workspace that they read.
    pub readable: Option<Vec<PathBuf>>,
    /// Directories besides the workspace that they write.
    pub writable: Option<Vec<PathBuf>>,
    /// Names of environment variables that they get besides the usual ones.
    pub pass_env: Option<Vec<String>>,
}

impl SandboxSection {
    /// The keys of the section.
    pub const KEYS: &'static [&'static str] = &["kind", "network", "readable", "writable", "pass_env"];

    /// Returns this section with its gaps filled from a lower one.
    #[must_use]
    pub fn or(self, lower: Self) -> Self {
        Self {
            kind: self.kind.or(lower.kind),
            network: self.network.or(lower.network),
            readable: self.readable.or(lower.readable),
            writable: self.writable.or(lower.writable),
            pass_env: self.pass_env.or(lower.pass_env),
        }
    }

    /// Changes every directory of the section, as when a relative one begins at the file's place.
    pub fn each_directory(&mut self, mut change: impl FnMut(&mut PathBuf)) {
        self.readable.iter_mut().chain(&mut self.writable).flatten().for_each(&mut change);
    }
}

/// What confines commands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum SandboxKind {
    /// The best that this machine has; nothing when it has none.
    #[default]
    Auto,
    /// Namespaces that the program makes itself; without them it does not start.
    Namespaces,
    /// bubblewrap; without it the program does not start.
    Bubblewrap,
    /// Landlock; without it the program does not start.
    Landlock,
    /// Nothing, said plainly on the screen.
    Off,
}

/// What is said about the tools that use the network.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebSection {
    /// Hosts that are asked although their address is not a public one.
    pub allow_hosts: Option<Vec<String>>,
    /// The address of a `SearXNG` server.
    pub searxng_url: Option<String>,
    /// The environment variable that holds the key of Brave.
    pub brave_key_env: Option<String>,
    /// The environment variable that holds the key of Exa.
    pub exa_key_env: Option<String>,
    /// Whether the main agent has the network tools itself.
    pub on_main_agent: Option<bool>,
}

impl WebSection {
    /// The keys of the section.
    pub const KEYS: &'static [&'static str] =
        &["allow_hosts", "searxng_url", "brave_key_env", "exa_key_env", "on_main_agent"];

    /// Returns this section with its gaps filled from a lower one.
    #[must_use]
    pub fn or(self, lower: Self) -> Self {
        Self {
            allow_hosts: self.allow_hosts.or(lower.allow_hosts),
            searxng_url: self.searxng_url.or(lower.searxng_url),
            brave_key_env: self.brave_key_env.or(lower.brave_key_env),
            exa_key_env: self.exa_key_env.or(lower.exa_key_env),
            on_main_agent: self.on_main_agent.or(lower.on_main_agent),
        }
    }
}

/// What is said about the screen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScreenSection {
    /// The name of the theme.
    pub theme: Option<String>,
    /// Whether lines are written instead of drawing a screen.
    pub screen_reader: Option<bool>,
    /// Whether the mouse is the screen's.
    pub mouse: Option<bool>,
    /// How the user is told who does not look at the screen.
    pub notify: Option<Notify>,
    /// When.
    pub notify_when: Option<NotifyWhen>,
    /// Whether the terminal's title says what the agents do.
    pub title: Option<bool>,
    /// The file of keys.
    pub keys: Option<PathBuf>,
}

/// How the user is told who does not look at the screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notify {
    /// As the terminal can.
    #[default]
    Auto,
    /// By the bell.
    Bell,
    /// By OSC 9.
    Osc9,
    /// By OSC 777.
    Osc777,
    /// Not at all.
    Off,
}

/// When the user is told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotifyWhen {
    /// While the terminal says that it has lost the focus.
    #[default]
    Away,
    /// Always.
    Always,
}

impl ScreenSection {
    /// The keys of the section.
    pub const KEYS: &'static [&'static str] =
        &["theme", "screen_reader", "mouse", "notify", "notify_when", "title", "keys"];

    /// Returns this section with its gaps filled from a lower one.
    #[must_use]
    pub fn or(self, lower: Self) -> Self {
        Self {
            theme: self.theme.or(lower.theme),
            screen_reader: self.screen_reader.or(lower.screen_reader),
            mouse: self.mouse.or(lower.mouse),
            notify: self.notify.or(lower.notify),
            notify_when: self.notify_when.or(lower.notify_when),
            title: self.title.or(lower.title),
            keys: self.keys.or(lower.keys),
        }
    }
}

/// What is said about the sessions that are saved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionsSection {
    /// Days after which one that nobody went on with is removed; 0 is never.
    pub keep_days: Option<u32>,
}

impl SessionsSection {
    /// The keys of the section.
    pub const KEYS: &'static [&'static str] = &["keep_days"];

    /// Returns this section with its gaps filled from a lower one.
    #[must_use]
    pub fn or(self, lower: Self) -> Self {
        Self { keep_days: self.keep_days.or(lower.keep_days) }
    }
}

/// One profile: a server by a name, with all that is said about it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfileSection {
    /// What kind of server it is.
    pub provider: Option<Provider>,
    /// Its address.
    pub base_url: Option<String>,
    /// The model's name.
    pub model: Option<String>,
    /// The environment variable that holds the key.
    pub api_key_env: Option<String>,
    /// The file that holds the key.
    pub api_key_file: Option<PathBuf>,
    /// The command that prints the key.
    pub api_key_command: Option<CommandWords>,
    /// How much the model thinks.
    pub reasoning_effort: Option<Effort>,
    /// How much chance there is in its choice of words.
    pub temperature: Option<f64>,
    /// Tokens that one reply may have.
    pub max_tokens: Option<NonZeroU64>,
    /// The context window in tokens.
    pub context_window: Option<NonZeroU64>,
}

impl ProfileSection {
    /// The keys of the section.
    pub const KEYS: &'static [&'static str] = &[
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

    /// Returns it as a layer.
    pub(super) fn layer(&self) -> Layer {
        let Self {
            provider,
            base_url,
            model,
            api_key_env,
            api_key_file,
            api_key_command,
            reasoning_effort,
            temperature,
            max_tokens,
            context_window,
        } = self.clone();
        Layer {
            provider,
            base_url,
            model,
            api_key_env,
            api_key_file,
            api_key_command,
            reasoning_effort,
            temperature,
            max_tokens,
            context_window,
            ..Layer::default()
        }
    }
}
