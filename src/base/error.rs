//! The errors of the library. Each prints as one clear sentence.
//!
//! Mistakes of the model are not errors here, but `Error: …` observations in the conversation.

use std::error::Error;
use std::iter;

use serde::{Deserialize, Serialize};

use crate::event::{TurnFailure, TurnFailureKind};

/// Why a text was not taken into the queue; the caller keeps the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Refused {
    /// Nothing but white space or invisible characters.
    #[error("the message is blank")]
    Blank,
    /// Over `limits::MESSAGE_BYTES`.
    #[error("the message is longer than 2 MiB")]
    TooLong,
    /// Over `limits::PENDING_ENTRIES`.
    #[error("100 messages are pending already")]
    TooMany,
    /// The agent has ended.
    #[error("that agent has ended")]
    Ended,
    /// The agent was not built and never will be.
    #[error("the agent could not be built")]
    NotBuilt,
    /// A follow-up for a sub-agent, which ends with its first turn.
    #[error("a sub-agent has one turn only, nothing can follow it")]
    OneTurn,
}

/// Why there is no agent, in one sentence, and what it is to be blamed on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum StartError {
    /// A setting is wrong; the user must change it.
    #[error("{0}")]
    Configuration(String),
    /// The server does not take the key.
    #[error("{0}")]
    Authentication(String),
    /// A server or this machine failed; the same start may succeed later.
    #[error("{0}")]
    Failed(String),
}

impl From<BuildError> for StartError {
    fn from(error: BuildError) -> Self {
        let sentence = error.to_string();
        match error {
            BuildError::Argument(_) | BuildError::Provider(ProviderError::Configuration(_)) => {
                Self::Configuration(sentence)
            }
            BuildError::Provider(_) | BuildError::Cancelled(_) | BuildError::Extension(_) => Self::Failed(sentence),
        }
    }
}

/// Raised when the user stops the run; passes through every tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

/// The error of the tool call that exceeds the step budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("agent exhausted {max_steps} steps")]
pub struct Exceeded {
    /// The budget, in tool calls.
    pub max_steps: u32,
}

/// The reason why there is no reply. Each prints as one clear sentence; server text in it is not yet sanitised.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    /// The server could not be reached.
    #[error("cannot reach {host}: {reason}")]
    Unreachable {
        /// Host and port.
        host: String,
        /// The step that failed, and how.
        reason: String,
    },
    /// The server answered with an error status.
    #[error("the server answered {status}: {message}")]
    Status {
        /// The HTTP status.
        status: u16,
        /// The server's own words.
        message: String,
        /// The wait that it asked for, milliseconds.
        retry_after_ms: Option<u64>,
    },
    /// The conversation does not fit the model's context window.
    #[error("the conversation is too long for the model: {message}")]
    Overflow {
        /// The server's own words.
        message: String,
        /// Tokens of the conversation, when the server says them.
        tokens: Option<u64>,
        /// Tokens of the window, when the server says them.
        window: Option<u64>,
    },
    /// Money or quota at the server is used up; waiting does not help.
    #[error("the money or quota at the server is used up: {0}")]
    Spent(String),
    /// The server asks for a wait that needs the user's consent.
    #[error("the server asks to wait {}: {message}", spell(*.wait_ms))]
    AsksToWait {
        /// The wait, milliseconds.
        wait_ms: u64,
        /// The server's own words.
        message: String,
    },
    /// The server reported an error within a reply.
    #[error("the server reported an error: {0}")]
    Server(String),
    /// The reply stopped before its end. None of its calls ran.
    #[error("the reply was cut off before its end")]
    CutOff,
    /// No bytes came for too long.
    #[error("the server was silent for {0} s")]
    Stalled(u64),
    /// The reply did not follow the protocol.
    #[error("the server sent something that is not a reply: {0}")]
    Malformed(String),
    /// The server redirects; the key is not sent to the new address.
    #[error("the server redirects to {0}; set that address as the base URL if it is right")]
    Redirect(String),
    /// A setting is wrong; the user must change it.
    #[error("{0}")]
    Configuration(String),
    /// The conversation must not be sent. A fault of this program.
    #[error("the conversation cannot be sent ({0}); this is a fault of the program")]
    InvalidHistory(String),
    /// The run was stopped.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// Writes a time in the largest unit that fits.
pub fn spell(ms: u64) -> String {
    let seconds = ms / 1_000;
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// The reason why an agent could not be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A value from the host is invalid.
    #[error("{0}")]
    Argument(String),
    /// The provider could not be set up.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// The construction was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// An extension failed; its own error.
    #[error(transparent)]
    Extension(#[from] Box<dyn std::error::Error + Send + Sync>),
}

impl BuildError {
    /// Makes an argument error from a sentence.
    pub fn argument(message: impl Into<String>) -> Self {
        Self::Argument(message.into())
    }
}

impl ProviderError {
    /// Returns what failed, for readers of events; `None` after a stop.
    pub fn fault(&self) -> Option<TurnFailure> {
        let (kind, status, retryable) = match self {
            Self::Unreachable { .. } => (TurnFailureKind::Unreachable, None, true),
            Self::Status { status, .. } => match status {
                401 | 403 => (TurnFailureKind::Authentication, Some(*status), false),
                429 => (TurnFailureKind::RateLimit, Some(*status), true),
                408 | 500.. => (TurnFailureKind::Server, Some(*status), true),
                _ => (TurnFailureKind::Request, Some(*status), false),
            },
            Self::Overflow { .. } => (TurnFailureKind::Context, None, false),
            Self::Spent(_) => (TurnFailureKind::Quota, None, false),
            Self::AsksToWait { .. } => (TurnFailureKind::RateLimit, None, true),
            Self::Server(_) | Self::CutOff | Self::Stalled(_) => (TurnFailureKind::Server, None, true),
            Self::Malformed(_) => (TurnFailureKind::Server, None, false),
            Self::Redirect(_) | Self::Configuration(_) => (TurnFailureKind::Configuration, None, false),
            Self::InvalidHistory(_) => (TurnFailureKind::Internal, None, false),
            Self::Cancelled(Cancelled) => return None,
        };
        Some(TurnFailure { kind, status, retryable })
    }
}

/// The reason why a turn ended without an answer.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The user message was blank; nothing happened.
    #[error("the message is blank")]
    Blank,
    /// The user stopped the turn.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// The provider failed; the history is intact.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// The step budget is used up and the agent was told to fail then.
    #[error(transparent)]
    Exceeded(#[from] Exceeded),
    /// An extension failed on a user message.
    #[error("an extension failed: {0}")]
    Extension(Box<dyn std::error::Error + Send + Sync>),
    /// A part of the program panicked; the log has the details.
    #[error("a part of the program broke down; the log says more")]
    Broken,
    /// The money or the tokens of the budget are used up; the sentence says which.
    #[error("{0}")]
    Budget(String),
    /// A hook of the user stopped it; the sentence is the hook's.
    #[error("a hook stopped this: {0}")]
    Hook(String),
    /// The limit on model rounds is used up.
    #[error("exceeded max_turns ({max_turns}) without a final answer")]
    MaxTurns {
        /// The limit, in model rounds.
        max_turns: u32,
    },
}

impl RunError {
    /// Returns what failed, for readers of events; `None` after a stop.
    pub fn fault(&self) -> Option<TurnFailure> {
        let kind = match self {
            Self::Cancelled(Cancelled) => return None,
            Self::Provider(error) => return error.fault(),
            Self::Blank => TurnFailureKind::Request,
            Self::Exceeded(_) => TurnFailureKind::Steps,
            Self::MaxTurns { .. } => TurnFailureKind::Rounds,
            Self::Budget(_) => TurnFailureKind::Budget,
            Self::Hook(_) => TurnFailureKind::Hook,
            Self::Extension(_) | Self::Broken => TurnFailureKind::Internal,
        };
        Some(TurnFailure { kind, status: None, retryable: false })
    }
}

/// The reason why a turn brought no value of the type or schema that was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The turn brought no answer.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The answer, also the second one, does not match; the sentence says why and may quote it (untrusted).
    #[error("the answer does not match what was asked for: {0}")]
    Mismatch(String),
    /// The schema cannot be used.
    #[error("the schema cannot be used: {0}")]
    Schema(String),
}

fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    iter::successors(error.source(), |error| (*error).source())
}

/// Returns an error with its causes, those left out that it says itself.
pub fn with_causes(error: &(dyn Error + 'static)) -> String {
    let causes = causes(error).map(ToString::to_string);
    causes.fold(
        error.to_string(),
        |words, cause| if words.contains(&cause) { words } else { format!("{words}: {cause}") },
    )
}

/// Returns the causes of a failed request, without the outermost wrappers.
pub fn request_causes(error: &(dyn Error + 'static)) -> String {
    let mut parts: Vec<String> = Vec::new();
    for cause in causes(error) {
        let text = cause.to_string();
        if !text.starts_with("client error") && !parts.iter().any(|parts| parts.contains(&text)) {
            parts.push(text);
        }
    }
    if parts.is_empty() { error.to_string() } else { parts.join(": ") }
}
