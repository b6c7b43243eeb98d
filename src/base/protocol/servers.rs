//! How the MCP servers of a session stand.

use serde::{Deserialize, Serialize};

/// How one server stands. All texts but the names of this program's own are untrusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerStatus {
    /// Its name.
    pub name: String,
    /// Where it is configured.
    pub source: String,
    /// How it is reached: a command, or an address.
    pub reached: String,
    /// The names of the variables that it gets, or of the headers of each request; never a value.
    pub variables: Vec<String>,
    /// How far it has come.
    pub state: ServerState,
    /// What it calls itself, once it has said so.
    pub about: String,
    /// The names of its tools for the model.
    pub tools: Vec<String>,
    /// How its tools are to be used, in its own words (untrusted); empty when it says nothing of it.
    #[serde(default)]
    pub instructions: String,
    /// The addresses of its resources.
    pub resources: Vec<String>,
    /// Its prompts, each as its command is written.
    pub prompts: Vec<String>,
    /// How many calls it was sent.
    pub calls: u64,
    /// The last thing that went wrong.
    pub error: Option<String>,
    /// The end of what it wrote to its error output.
    pub errors: String,
    /// What of it is not used, and changes that wait for a yes; one sentence each.
    pub notes: Vec<String>,
}

/// How far a server has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerState {
    /// Nothing is known but how it is reached.
    Configured,
    /// Its tools are known from an earlier time; it does not run.
    Known,
    /// It runs, and was not called.
    Started,
    /// It runs, and was called.
    Used,
    /// It could not be started, or ended when it should not.
    Failed,
}

impl ServerState {
    /// Returns its name for the user.
    pub fn name(self) -> &'static str {
        match self {
            Self::Configured => "configured",
            Self::Known => "known",
            Self::Started => "started",
            Self::Used => "used",
            Self::Failed => "failed",
        }
    }

    /// Returns what it means, for the user.
    pub fn help(self) -> &'static str {
        match self {
            Self::Configured => "its tools are not known yet: it starts when one is looked for",
            Self::Known => "its tools are known from an earlier time: it starts when one is called",
            Self::Started => "it runs, and no tool of it was called",
            Self::Used => "it runs, and tools of it were called",
            Self::Failed => "it could not be started, or ended by itself; the next call starts it again",
        }
    }
}
