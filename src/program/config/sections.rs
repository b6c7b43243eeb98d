//! The sections of the configuration file: rules, sandbox, web, screen, editor, steering, sessions. Each is also a value of its
//! own, filled gap by gap.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use serde::Deserialize;

use crate::program::config::settings::{ADDRESS, DIRECTORIES, FILE, FLAG, TEXT, VARIABLE, settings};
use crate::program::config::{CommandSetting, Key};
use steersman_base::steering::{AgentsGiveWay, Framing};
use steersman_core::approval::{RuleError, Rules};

/// What a list of rules allows.
const RULES: &str = "a list of rules in quotes, such as [\"bash: cargo test *\"]";

/// Rules for what tools may do, as they are written: `bash: cargo test *`. The strictest that matches counts.
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
    pub const KEYS: &'static [Key] = &[
        Key { name: "allow", allowed: RULES },
        Key { name: "ask", allowed: RULES },
        Key { name: "deny", allowed: RULES },
    ];

    /// Returns these rules: they are not mixed with those of a lower source.
    #[must_use]
    pub fn or(self, _lower: Self) -> Self {
        self
    }

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

settings! {
    /// What is said about the sandbox of commands.
    pub struct SandboxSection {
        /// What confines commands.
        kind: SandboxKind, "\"auto\", \"namespaces\", \"bubblewrap\", \"landlock\" or \"off\"";
        /// Whether they reach the network.
        network: bool, FLAG;
        /// Directories besides the workspace that they read.
        readable: Vec<PathBuf>, DIRECTORIES;
        /// Directories besides the workspace that they write.
        writable: Vec<PathBuf>, DIRECTORIES;
        /// Names of environment variables that they get besides the usual ones.
        pass_env: Vec<String>, "a list of names in quotes";
    }
}

impl SandboxSection {
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

settings! {
    /// What is said about the tools that use the network.
    pub struct WebSection {
        /// Hosts that are asked although their address is not a public one.
        allow_hosts: Vec<String>, "a list of hosts in quotes, such as [\"wiki.intranet.example\"]";
        /// The address of a `SearXNG` server.
        searxng_url: String, ADDRESS;
        /// The environment variable that holds the key of Brave.
        brave_key_env: String, VARIABLE;
        /// The environment variable that holds the key of Exa.
        exa_key_env: String, VARIABLE;
        /// Whether the main agent has the network tools itself.
        on_main_agent: bool, FLAG;
    }
}

settings! {
    /// What is said about the screen.
    pub struct ScreenSection {
        /// The name of the theme.
        theme: String, TEXT;
        /// Whether lines are written instead of drawing a screen.
        screen_reader: bool, FLAG;
        /// Whether the mouse is the screen's.
        mouse: bool, FLAG;
        /// How a user who does not look at the screen is notified.
        notify: Notify, "\"auto\", \"bell\", \"osc9\", \"osc777\" or \"off\"";
        /// When.
        notify_when: NotifyWhen, "\"away\" or \"always\"";
        /// Whether the terminal's title says what the agents do.
        title: bool, FLAG;
        /// Whether images are shown as pictures.
        pictures: ScreenPictures, "\"auto\" or \"off\"";
        /// The file of keys.
        keys: PathBuf, FILE;
    }
}

/// How a user who does not look at the screen is notified.
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

/// Whether images are shown as pictures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScreenPictures {
    /// Where the terminal can.
    #[default]
    Auto,
    /// By their names only.
    Off,
}

/// When the user is notified.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotifyWhen {
    /// While the terminal says that it has lost the focus.
    #[default]
    Away,
    /// Always.
    Always,
}

settings! {
    /// What is said about the message.
    pub struct EditorSection {
        /// Which keys it takes.
        keys: MessageKeys, "\"default\" or \"vim\"";
    }
}

settings! {
    /// What is said about the status line.
    pub struct StatusSection {
        /// The command whose first line stands in it.
        command: CommandSetting, "a command in quotes, or a list of its words";
    }
}

/// Which keys the message takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageKeys {
    /// Those of readline.
    #[default]
    Default,
    Vim,
}

settings! {
    /// What is said about texts that reach an agent while it works.
    pub struct SteeringSection {
        /// How they reach the model.
        framing: Framing, "\"framed\" or \"plain\"";
        /// Which of them end the wait for sub-agents, which go on in the background then.
        agents_give_way: AgentsGiveWay, "\"always\", \"now\" or \"never\"";
    }
}

settings! {
    /// What is said about sub-agents.
    pub struct AgentsSection {
        /// How many work at the same time.
        at_once: NonZeroUsize, "a whole number, 1 or more";
    }
}

settings! {
    /// What is said about the sessions that are saved.
    pub struct SessionsSection {
        /// Days after which one that nobody went on with is removed; 0 is never.
        keep_days: u32, "a whole number of days, 0 or more";
    }
}
