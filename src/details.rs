//! The data of a tool's result that a screen shows beyond the model's text.
//!
//! Made by the tools, sent in [`crate::event::Event::ToolDetails`]. Every text in it is untrusted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The details of one result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Details {
    /// A file was created or changed.
    Diff(FileDiff),
    /// A command ran.
    Command(CommandEnd),
    /// An address was requested.
    Page(PageFacts),
    /// A kind that this version does not know; read, but never emitted.
    #[serde(other)]
    Unknown,
}

/// The change of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileDiff {
    /// The path of the file, for display.
    pub path: String,
    /// Whether the file is new.
    pub created: bool,
    /// The number of added lines.
    pub added: u32,
    /// The number of removed lines.
    pub removed: u32,
    /// The hunks of a unified diff with three lines of context, as `git diff` writes them, from the first `@@` on; cut
    /// at a limit.
    pub hunks: String,
}

/// The end of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandEnd {
    /// The exit code; none when a signal ended it.
    pub code: Option<i32>,
    /// The name of the signal that ended it.
    pub signal: Option<String>,
    /// Whether it exceeded its time limit.
    pub timed_out: bool,
    /// The bytes that it printed.
    pub bytes: u64,
    /// The lines that it printed, where they were counted.
    #[serde(default)]
    pub lines: Option<u64>,
    /// The lines that the model did not get.
    #[serde(default)]
    pub lines_left_out: u64,
    /// The number of its processes that were left and had to be killed.
    pub killed: u32,
    /// The file that holds its whole output, when the model did not get all of it.
    pub saved: Option<String>,
}

impl CommandEnd {
    /// Returns whether it failed: only the exit code 0 is a success.
    pub fn failed(&self) -> bool {
        self.timed_out || self.code != Some(0)
    }
}

/// The facts of a web page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PageFacts {
    /// The address that answered, after all redirects.
    pub url: String,
    /// The HTTP status.
    pub status: u16,
    /// The content type.
    pub content_type: String,
    /// The bytes of the body, decoded.
    pub bytes: u64,
}
