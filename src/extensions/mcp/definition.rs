//! A server as it is configured: how it is reached, which of its tools are used, how long it is waited for.
//!
//! Made by the program from its configuration, with every value that it names resolved. Its secrets are never shown: a
//! question and a list name the variables and headers only.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use reqwest::Url;
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};

use crate::mcp::catalog::Hints;
use crate::mcp::names::matches_tool;
use steersman_base::limits;
use steersman_core::provider::is_loopback;
use steersman_core::tool::Traits;
use steersman_tools::workspace::{Network, Placement, is_secret};

/// A server that tools can be used of.
#[derive(Debug, Clone)]
pub struct ServerDefinition {
    /// Its name: letters, digits, `-` and single `_`.
    pub name: String,
    /// Where it is configured, for lists.
    pub source: String,
    /// How it is reached.
    pub reached: Reached,
    /// The same in one line, with the names of variables where a configuration has them (untrusted).
    pub shown: String,
    /// What was filled in for variables whose names say that it is secret.
    pub filled: Vec<SecretString>,
    /// The only tools that are used, by the server's names; all without.
    pub only: Option<Vec<String>>,
    /// Tools that are not used.
    pub without: Vec<String>,
    /// Whether the main agent has its tools, too.
    pub on_main_agent: bool,
    /// The time for its start.
    pub start_time: Duration,
    /// The time for the answer to a call.
    pub call_time: Duration,
    /// What its results bring and its calls send, as far as no annotation of a tool says less.
    pub traits: Traits,
    /// Which of these the configuration sets: no annotation changes them.
    pub set_traits: Traits,
}

/// How a server is reached.
#[derive(Debug, Clone)]
pub enum Reached {
    /// It is a process of this machine.
    Process(ProcessDefinition),
    /// It has an address.
    Address(AddressDefinition),
}

/// A process to start.
#[derive(Debug, Clone, Default)]
pub struct ProcessDefinition {
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables besides the usual ones.
    pub environment: Vec<(String, SecretString)>,
    /// Its working directory; that of the agent without.
    pub cwd: Option<PathBuf>,
    /// Whether it runs in the sandbox.
    pub placement: Placement,
    /// Whether it has a network there that commands have not.
    pub network: Network,
    /// What it may read there, besides what commands may.
    pub readable: Vec<PathBuf>,
    /// What it may change there, besides what commands may.
    pub writable: Vec<PathBuf>,
    /// A directory that it alone may change, for what it loads from elsewhere (`npx`, `uvx`); made when it starts.
    pub cache: Option<PathBuf>,
    /// What of the project the user has seen and trusts: it starts only as long as this is the same.
    pub pinned: Option<PinnedFiles>,
}

/// The files of a project that a server runs, as they were trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinnedFiles {
    /// The root of the project.
    pub root: PathBuf,
    /// The directory that the words are meant for.
    pub directory: PathBuf,
    /// The command line, as it was trusted.
    pub words: Vec<String>,
    /// Each file with what tells it from another content.
    pub files: BTreeMap<PathBuf, String>,
    /// The directories that were too large to be compared, as the question said.
    pub uncompared: Vec<PathBuf>,
}

impl ProcessDefinition {
    /// Returns where it runs, for a sentence.
    pub fn place(&self) -> &'static str {
        match (self.placement, self.network) {
            (Placement::Sandboxed, Network::Off) => "in the sandbox",
            (Placement::Sandboxed, Network::On) => "in the sandbox, with a network",
            (Placement::Outside, _) => "outside of the sandbox",
        }
    }
}

/// An address to ask.
#[derive(Debug, Clone)]
pub struct AddressDefinition {
    /// The address.
    pub url: Url,
    /// Headers of every request.
    pub headers: Vec<(String, SecretString)>,
    /// How a login is made where the server wants one.
    pub login: LoginSettings,
}

/// How a login is made.
#[derive(Debug, Clone, Default)]
pub struct LoginSettings {
    /// The name by which the authorization server knows this program; registered there without.
    pub client_id: Option<String>,
    /// The secret that goes with it.
    pub client_secret: Option<SecretString>,
    /// What is asked for; what the server names without.
    pub scopes: Option<Vec<String>>,
    /// The port of this machine that the browser comes back to; any free one without.
    pub port: Option<u16>,
}

impl ServerDefinition {
    /// Makes a definition with the usual settings.
    pub fn new(name: impl Into<String>, reached: Reached) -> Self {
        Self {
            name: name.into(),
            source: String::new(),
            shown: reached.location(),
            reached,
            filled: Vec::new(),
            only: None,
            without: Vec::new(),
            on_main_agent: true,
            start_time: limits::MCP_START_TIME,
            call_time: limits::MCP_CALL_TIME,
            // Until the user or a tool says otherwise: it may read anything, and pass it on to anybody.
            traits: Traits { private: true, untrusted: true, egress: true },
            set_traits: Traits::NONE,
        }
    }

    /// Returns what the results of one of its tools bring and the calls send. A tool that stays within the server, as its
    /// annotation says, brings no text of strangers; one of a server of this machine sends nothing out of it then.
    pub fn traits_of(&self, hints: Hints) -> Traits {
        let is_closed = hints.open_world == Some(false);
        let Traits { private, untrusted, egress } = self.traits;
        Traits {
            private,
            untrusted: untrusted && (self.set_traits.untrusted || !is_closed),
            egress: egress && (self.set_traits.egress || !is_closed || !self.reached.is_local()),
        }
    }

    /// Tells whether a tool of the server is used.
    pub fn uses(&self, tool: &str) -> bool {
        let listed = |list: &[String]| list.iter().any(|pattern| matches_tool(pattern, tool));
        self.only.as_deref().is_none_or(listed) && !listed(&self.without)
    }

    /// Returns the names of its variables or headers, whose values are not shown.
    pub fn secret_names(&self) -> Vec<&str> {
        match &self.reached {
            Reached::Process(process) => process.environment.iter().map(|(name, _)| name.as_str()).collect(),
            Reached::Address(address) => address.headers.iter().map(|(name, _)| name.as_str()).collect(),
        }
    }

    /// Returns what tells this server from others: name, and command or address. No secret is part of it.
    pub fn identity(&self) -> String {
        let mut hash = Sha256::new();
        for field in [&self.name, &self.shown] {
            hash.update((field.len() as u64).to_le_bytes());
            hash.update(field);
        }
        let digest = hash.finalize();
        digest.iter().take(8).fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    /// Returns every secret of it, which must not enter a record: each header, the variables whose names say so, and what
    /// was filled in for such.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        let (pairs, login, is_process) = match &self.reached {
            Reached::Process(process) => (&process.environment, None, true),
            Reached::Address(address) => (&address.headers, address.login.client_secret.as_ref(), false),
        };
        let pairs = pairs.iter().filter(move |(name, _)| !is_process || is_secret(name));
        pairs.map(|(_, value)| value).chain(login).chain(&self.filled).map(SecretString::expose_secret)
    }
}

impl Reached {
    /// Tells whether the server is on this machine.
    fn is_local(&self) -> bool {
        match self {
            Self::Process(_) => true,
            Self::Address(address) => is_loopback(&address.url),
        }
    }

    /// Returns the command line or the address.
    fn location(&self) -> String {
        match self {
            Self::Process(process) => command_line(&process.command, &process.args),
            Self::Address(address) => address.url.to_string(),
        }
    }
}

/// Returns a command and its arguments as a shell would need them.
pub fn command_line(command: &str, args: &[String]) -> String {
    let words = std::iter::once(command).chain(args.iter().map(String::as_str)).map(shell_word);
    words.collect::<Vec<_>>().join(" ")
}

/// Quotes a word as a shell would need it.
fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@=,+%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
