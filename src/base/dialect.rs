//! The dialects that model servers speak, with their names in settings.
//!
//! A dialect is the form of requests and replies; the transport says which server speaks it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A dialect of model servers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// Chat completions, the dialect of `OpenAI` that nearly every server speaks.
    #[default]
    #[serde(rename = "openai")]
    OpenAi,
    /// `OpenAI`'s Responses.
    #[serde(rename = "openai-responses")]
    OpenAiResponses,
    /// Anthropic's Messages.
    Anthropic,
    /// Google's `generateContent`.
    Gemini,
}

impl Dialect {
    /// Every dialect, in the order in which they are listed.
    pub const ALL: [Self; 4] = [Self::OpenAi, Self::OpenAiResponses, Self::Anthropic, Self::Gemini];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error for an unknown name of a dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("known: openai, openai-responses, anthropic, gemini")]
pub struct NoDialect;

impl FromStr for Dialect {
    type Err = NoDialect;

    fn from_str(name: &str) -> Result<Self, NoDialect> {
        Self::ALL.into_iter().find(|dialect| dialect.name() == name).ok_or(NoDialect)
    }
}
