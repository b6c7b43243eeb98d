//! What a screen shows of a tool's result beyond the words that the model gets.
//!
//! Made by the tools, carried by [`crate::event::Event::ToolResult`]. Every text in it is untrusted.

use serde::{Deserialize, Serialize};

/// Is what there is to see of one result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Details {
    /// A file was created or changed.
    Diff(FileDiff),
    /// A command ran.
    Command(CommandEnd),
    /// An address was asked.
    Page(PageFacts),
    /// A kind that this version does not know; only ever read, never emitted.
    #[serde(other)]
    Unknown,
}

/// Is the change of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDiff {
    /// The file, as it is shown.
    pub path: String,
    /// True when there was no file before.
    pub created: bool,
    /// Lines that came.
    pub added: u32,
    /// Lines that went.
    pub removed: u32,
    /// The hunks of a unified diff with three lines of context, as `git diff` writes them, from the first `@@` on; cut
    /// at a limit.
    pub hunks: String,
}

/// The end of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandEnd {
    /// The exit code; none when a signal ended it.
    pub code: Option<i32>,
    /// The name of the signal that ended it.
    pub signal: Option<String>,
    /// True when it took longer than it was given.
    pub timed_out: bool,
    /// Bytes that it printed.
    pub bytes: u64,
    /// Lines that it printed; none where nobody counted them.
    #[serde(default)]
    pub lines: Option<u64>,
    /// Lines of them that the model did not get.
    #[serde(default)]
    pub lines_left_out: u64,
    /// Processes of it that were left and had to be killed.
    pub killed: u32,
    /// The file that holds its whole output, when the model did not get all of it.
    pub saved: Option<String>,
}

impl CommandEnd {
    /// Tells whether it failed: only the exit code 0 says that it did not.
    pub fn failed(&self) -> bool {
        self.timed_out || self.code != Some(0)
    }
}

/// Is what came from an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageFacts {
    /// The address that answered, behind all redirects.
    pub url: String,
    /// The HTTP status.
    pub status: u16,
    /// The content type.
    pub content_type: String,
    /// Bytes of the body, decoded.
    pub bytes: u64,
}
