//! What a tool is about to do, as a value: shown to the user, decided about, and then carried out unchanged.
//!
//! On the wire a path that is not UTF-8 is written with replacement characters, and the contents of a file are their size:
//! what a client needs to ask the user, not to act.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::id::JobId;
use crate::limits;

/// The name under which rules are about the tools of MCP servers.
pub const SERVER_TOOLS: &str = "mcp";

/// One thing that a tool wants to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Operation {
    /// Run a shell command.
    Command(CommandOperation),
    /// Create or change a file.
    Write(WriteOperation),
    /// Get an address.
    Fetch(FetchOperation),
    /// Send a query to a search service.
    Search(SearchOperation),
    /// Copy a repository.
    Clone(CloneOperation),
    /// Use a tool that changes and sends nothing.
    Use(UseOperation),
    /// Call a tool of an MCP server.
    ServerTool(ServerToolOperation),
    /// Write to a command that runs in the background.
    Input(InputOperation),
    /// Do what a tool of a host does.
    Custom(CustomOperation),
}

/// A command for `bash -c`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandOperation {
    /// Exactly what the shell gets.
    pub command: String,
    /// Where it runs; real and absolute.
    #[serde(serialize_with = "path")]
    pub cwd: PathBuf,
    /// How long it may run, milliseconds on the wire.
    #[serde(rename = "timeout_ms", serialize_with = "millis", deserialize_with = "from_millis")]
    pub timeout: Duration,
    /// Whether nothing confines it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outside: bool,
}

/// A file with its new content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteOperation {
    /// The tool: `write` or `edit`.
    pub tool: Cow<'static, str>,
    /// Real and absolute.
    #[serde(serialize_with = "path")]
    pub path: PathBuf,
    /// The path as it is shown.
    pub shown: String,
    /// What the file held when the tool looked; `None` when there was no file.
    pub before: Option<Content>,
    /// What it is to hold.
    pub after: Content,
    /// The change as a unified diff, for the user.
    pub diff: String,
}

/// The content of a file. Only its size is on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    bytes: Arc<[u8]>,
    size: usize,
}

/// An address that is to be asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FetchOperation {
    /// The tool: `fetch` or `web_scrape`.
    pub tool: Cow<'static, str>,
    /// The whole address, as it is requested.
    pub url: String,
}

/// A query that leaves the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchOperation {
    /// The words.
    pub query: String,
    /// The services that may get it, in order.
    pub services: Vec<String>,
}

/// A repository that is to be copied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CloneOperation {
    /// Its address.
    pub url: String,
    /// The directory that it goes to; real and absolute.
    #[serde(serialize_with = "path")]
    pub into: PathBuf,
}

/// A use of a tool that changes and sends nothing: reading, and what does no operation of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UseOperation {
    /// The tool.
    pub tool: Cow<'static, str>,
    /// What it reads; real and absolute.
    #[serde(serialize_with = "optional_path")]
    pub path: Option<PathBuf>,
    /// The path as it is shown, or the words that the tool gets.
    pub shown: String,
}

/// A call of a tool of an MCP server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerToolOperation {
    /// The server, by its name in the configuration.
    pub server: String,
    /// The command or the address that it is reached by.
    pub reached: String,
    /// The tool, by the server's name for it.
    pub tool: String,
    /// Exactly what the server gets, as JSON.
    pub arguments: String,
    /// What the server says about the effects of the tool.
    pub hints: Vec<String>,
    /// Whether the call can send something out of this machine.
    pub sends: bool,
}

/// A text for a command that runs in the background.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputOperation {
    /// The job.
    pub job: JobId,
    /// Its command.
    pub command: String,
    /// Exactly what it gets.
    pub text: String,
}

/// What a tool of a host is about to do: sending a mail, paying a bill.
///
/// The user sees the action and all of the detail. No mode lets it run unasked but the one that asks about nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomOperation {
    /// The tool.
    pub tool: String,
    /// What it does: `send a mail`. What the user allows for a session is this action of this tool.
    pub action: String,
    /// Everything that the action depends on, as the user is to see it.
    pub detail: String,
    /// Whether it can send something out of this machine.
    pub sends: bool,
}

impl CustomOperation {
    /// Makes the action of a tool that can send something out of this machine; see [`CustomOperation::keeps_here`].
    pub fn new(tool: impl Into<String>, action: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { tool: tool.into(), action: action.into(), detail: detail.into(), sends: true }
    }

    /// Says that it sends nothing out of this machine.
    #[must_use]
    pub fn keeps_here(self) -> Self {
        Self { sends: false, ..self }
    }
}

impl CommandOperation {
    /// Returns whether it goes on in the background: nothing that is waited for may take so long.
    pub fn is_in_background(&self) -> bool {
        self.timeout > limits::COMMAND_MOST_TIME
    }
}

impl ServerToolOperation {
    /// Returns what rules are about: `server/tool`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.server, self.tool)
    }
}

impl Operation {
    /// Returns the question about it, in one line; nothing in it comes from a tool or a model.
    pub fn title(&self) -> &'static str {
        match self {
            Self::Command(operation) if operation.outside => "Run this command outside of the sandbox, as you?",
            Self::Command(operation) if operation.is_in_background() => "Run this command in the background?",
            Self::Command(_) => "Run this command?",
            Self::Write(WriteOperation { before: None, .. }) => "Create this file?",
            Self::Write(WriteOperation { before: Some(_), .. }) => "Change this file?",
            Self::Fetch(_) => "Get this address?",
            Self::Search(_) => "Search the web for this?",
            Self::Clone(_) => "Clone this repository?",
            Self::Use(_) => "Use this tool?",
            Self::ServerTool(_) => "Call this tool of a server?",
            Self::Input(_) => "Write this to a running command?",
            Self::Custom(_) => "Let this tool do this?",
        }
    }

    /// Returns the name of what the question is about, where it has one, and what exactly would happen; both untrusted.
    pub(super) fn named(&self) -> (Option<String>, &str) {
        match self {
            Self::Command(operation) => (None, &operation.command),
            Self::Write(operation) => (Some(operation.shown.clone()), &operation.diff),
            Self::Fetch(operation) => (None, &operation.url),
            Self::Search(operation) => (None, &operation.query),
            Self::Clone(operation) => (None, &operation.url),
            Self::Use(operation) => (Some(operation.tool.to_string()), &operation.shown),
            Self::ServerTool(operation) => (Some(operation.name()), &operation.arguments),
            Self::Input(operation) => (Some(format!("{}, {}", operation.job, operation.command)), &operation.text),
            Self::Custom(operation) => (Some(format!("{}, {}", operation.tool, operation.action)), &operation.detail),
        }
    }

    /// Returns the name of the tool that it belongs to.
    pub fn tool(&self) -> &str {
        match self {
            // What is written to a command can be a command too.
            Self::Command(_) | Self::Input(_) => "bash",
            Self::Write(operation) => &operation.tool,
            Self::Fetch(operation) => &operation.tool,
            Self::Search(_) => "web_search",
            Self::Clone(_) => "git_clone",
            Self::Use(operation) => &operation.tool,
            Self::ServerTool(_) => SERVER_TOOLS,
            // Only rules for every tool are about the tools of a host, whatever their names.
            Self::Custom(_) => "custom",
        }
    }
}

impl Content {
    /// Returns the bytes; empty where it came over the wire.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the number of bytes.
    pub fn size(&self) -> usize {
        self.size
    }
}

impl<T: Into<Arc<[u8]>>> From<T> for Content {
    fn from(bytes: T) -> Self {
        let bytes = bytes.into();
        Self { size: bytes.len(), bytes }
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.size.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self { bytes: Arc::default(), size: usize::deserialize(deserializer)? })
    }
}

macro_rules! into_act {
    ($($kind:ident $name:ident),*) => {
        $(impl From<$name> for Operation {
            fn from(operation: $name) -> Self {
                Self::$kind(operation)
            }
        })*
    };
}
into_act!(Command CommandOperation, Write WriteOperation, Fetch FetchOperation, Search SearchOperation, Clone CloneOperation, Use UseOperation, ServerTool ServerToolOperation, Input InputOperation, Custom CustomOperation);

fn path<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

#[allow(clippy::ref_option)] // As serde calls it.
fn optional_path<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    path.as_ref().map(|path| path.to_string_lossy()).serialize(serializer)
}

fn millis<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX).serialize(serializer)
}

fn from_millis<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    u64::deserialize(deserializer).map(Duration::from_millis)
}
