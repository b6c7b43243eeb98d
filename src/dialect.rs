//! The dialects that model servers speak, by the names that users and transports call them.
//!
//! A dialect says how a request and a reply are written; which server speaks it is the transport's matter.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Names how a server wants to be asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// Chat completions, as `OpenAI` brought them up and nearly every server speaks them.
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

/// Says that a name is no dialect's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("known: openai, openai-responses, anthropic, gemini")]
pub struct NoDialect;

impl FromStr for Dialect {
    type Err = NoDialect;

    fn from_str(name: &str) -> Result<Self, NoDialect> {
        Self::ALL.into_iter().find(|dialect| dialect.name() == name).ok_or(NoDialect)
    }
}
