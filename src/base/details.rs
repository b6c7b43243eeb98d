//! The data of a tool's result that a screen shows beyond the model's text.
//!
//! Made by the tools, sent in [`crate::event::Event::ToolDetails`]. Every text in it is untrusted.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::image::ImageInfo;

/// The details of one result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Details {
    /// A file was created or changed.
    Diff(FileDiff),
    /// A command ran.
    Command(CommandEnd),
    /// An address was requested.
    Page(PageInfo),
    /// Images were left for the model; they follow the results.
    Images(ResultPictures),
    /// A kind that this version does not know; read, but never emitted.
    #[serde(other)]
    Unknown,
}

/// The images that a call left for the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResultPictures {
    /// What is told of each.
    pub images: Vec<ImageInfo>,
}

/// The change of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// The files that changed while it ran.
    #[serde(default, skip_serializing_if = "TouchedFiles::is_nothing")]
    pub touched: TouchedFiles,
}

/// The files that changed while a command ran, by whomever.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TouchedFiles {
    /// Their paths, for display.
    pub paths: Vec<String>,
    /// Whether there may be more: the search for them ended early.
    pub partial: bool,
}

impl TouchedFiles {
    /// Returns whether nothing changed.
    pub fn is_nothing(&self) -> bool {
        self.paths.is_empty() && !self.partial
    }
}

impl CommandEnd {
    /// Returns whether it failed: only the exit code 0 is a success.
    pub fn failed(&self) -> bool {
        self.timed_out || self.code != Some(0)
    }
}

/// The facts of a web page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "PageFacts"))]
pub struct PageInfo {
    /// The address that answered, after all redirects.
    pub url: String,
    /// The HTTP status.
    pub status: u16,
    /// The content type.
    pub content_type: String,
    /// The bytes of the body, decoded.
    pub bytes: u64,
}

/// One file that the tools changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UndoneFile {
    /// The file, as it is shown (untrusted).
    pub path: String,
    /// What undo would do about it, or did.
    pub undo: Undo,
}

/// What undo does about a file. Its sentence reads behind the path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Undo {
    /// It gets its old content back.
    Restored {
        /// Bytes of that.
        bytes: u64,
    },
    /// It goes away: there was none before.
    Removed,
    /// Nothing: it was changed, removed or replaced since by somebody else.
    ChangedSince,
    /// Nothing: what it held was too much to be kept.
    NotKept,
    /// Nothing: the file system said this.
    Failed(String),
}

impl Undo {
    /// Returns whether the file is as it was before the turn, or would be.
    pub fn is_done(&self) -> bool {
        match self {
            Self::Restored { .. } | Self::Removed => true,
            Self::ChangedSince | Self::NotKept | Self::Failed(_) => false,
        }
    }
}

impl UndoneFile {
    /// Returns it as a line for the user.
    pub fn line(&self) -> String {
        format!("undo: {}: {}", self.path, self.undo)
    }
}

impl fmt::Display for Undo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Restored { bytes } => write!(f, "back to its {bytes} bytes"),
            Self::Removed => write!(f, "removed, it was new"),
            Self::ChangedSince => write!(f, "left alone, it was changed since by somebody else"),
            Self::NotKept => write!(f, "left alone, its old content was too large to be kept"),
            Self::Failed(why) => write!(f, "left alone: {why}"),
        }
    }
}
