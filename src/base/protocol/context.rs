//! What fills the context window of an agent, part by part, and what the user wants done with one of them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::id::{AgentId, CallId};
use crate::image::ImageDigest;

/// What fills the context window of one agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextReport {
    /// The agent.
    pub agent: AgentId,
    /// Tokens that fit, when that is known.
    pub window: Option<u64>,
    /// Tokens that are used.
    pub tokens: u64,
    /// Whether that is a guess; those of the parts always are.
    pub estimated: bool,
    /// The parts, the largest first.
    pub parts: Vec<ContextPart>,
}

/// One part of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextPart {
    /// What it is.
    pub kind: ContextKind,
    /// Its name: a file, a server, a call (untrusted).
    pub name: String,
    /// Tokens, guessed.
    pub tokens: u64,
    /// By what it is taken out; absent where it cannot be.
    #[serde(default, flatten, skip_serializing_if = "Option::is_none")]
    pub item: Option<ContextItem>,
    /// What the user wants done with it.
    #[serde(default, rename = "wish", skip_serializing_if = "Option::is_none")]
    pub request: Option<ContextRequest>,
}

/// A part of a conversation that can be taken out.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContextItem {
    /// The result of a call, which can be pinned too.
    Call(CallId),
    /// An image that no result brought.
    Image(ImageDigest),
}

/// What a part of a conversation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContextKind {
    /// The system prompt without the instruction files.
    Prompt,
    /// An instruction file, in the system prompt or of a directory that work came to later.
    Instructions,
    /// The tools of the program, or of one server.
    Tools,
    /// What the user wrote.
    Texts,
    /// An image that the user sent.
    Image,
    /// A file that was read.
    File,
    /// The result of another call.
    Result,
    /// What the model wrote, its calls included.
    Replies,
    /// The model's thoughts, as they go back to the server.
    Thoughts,
    /// The summary of older rounds, and results that stay with it.
    Summary,
    /// Notes of the program and of hooks.
    Notes,
    /// What of the user's and the project's files counts for nothing; in no request.
    LeftOut,
}

impl ContextKind {
    /// All of them, in the order in which sums are listed.
    pub const ALL: [Self; 12] = [
        Self::Prompt,
        Self::Instructions,
        Self::Tools,
        Self::Texts,
        Self::Image,
        Self::File,
        Self::Result,
        Self::Replies,
        Self::Thoughts,
        Self::Summary,
        Self::Notes,
        Self::LeftOut,
    ];

    /// Returns it in a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Instructions => "instructions",
            Self::Tools => "tools",
            Self::Texts => "your texts",
            Self::Image => "images",
            Self::File => "files read",
            Self::Result => "results",
            Self::Replies => "replies",
            Self::Thoughts => "thoughts",
            Self::Summary => "summary",
            Self::Notes => "notes",
            Self::LeftOut => "left out",
        }
    }
}

impl fmt::Display for ContextKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// What the user wants done with a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContextRequest {
    /// It is taken out at the next boundary.
    Drop,
    /// A compaction keeps it.
    Pin,
}

/// What is done about the contents of the context windows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContextOperation {
    /// They are listed.
    List,
    /// This becomes the request about a part, or there is none any more.
    #[serde(rename = "wish")]
    Request {
        /// The agent.
        agent: AgentId,
        /// The part.
        #[serde(flatten)]
        item: ContextItem,
        /// What is wanted.
        #[serde(rename = "wish")]
        request: Option<ContextRequest>,
    },
}

impl ContextReport {
    /// Returns the tokens of each kind that there is, in the order of the kinds.
    pub fn sums(&self) -> Vec<(ContextKind, u64)> {
        let sum = |kind: ContextKind| -> u64 {
            let its = self.parts.iter().filter(|part| part.kind == kind);
            its.map(|part| part.tokens).fold(0, u64::saturating_add)
        };
        ContextKind::ALL.into_iter().map(|kind| (kind, sum(kind))).filter(|(_, tokens)| *tokens > 0).collect()
    }
}
