//! What an event does not say by itself: why a call failed, how the last reply of a turn ended, what failed in it.
//!
//! Told to listeners just before the event; no journal holds it.

use serde::{Deserialize, Serialize};

use crate::id::CallId;

/// What an event does not say by itself: given to listeners just before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventContext {
    /// Why the call failed whose result follows.
    Call {
        /// The call.
        id: CallId,
        /// Why.
        fault: CallFailure,
    },
    /// How the turn ended whose end follows.
    Turn {
        /// Why its last reply ended; none without a reply.
        finish: Option<TurnFinish>,
        /// Why it failed.
        fault: Option<TurnFailure>,
    },
}

/// Why a call has an error as its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "CallFault"))]
#[serde(rename_all = "snake_case")]
pub enum CallFailure {
    /// A rule or the mode forbids it, or nobody was there to ask.
    Refused,
    /// The user said no, or skipped it.
    Declined,
    /// There is no such tool, or its arguments are wrong.
    Invalid,
    /// The tool failed.
    Failed,
    /// It was not run, or not to its end.
    Cancelled,
}

/// Why the last reply of a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TurnFinish {
    /// The model was done.
    Stop,
    /// The token limit cut it.
    Length,
    /// A filter of the server cut it, or the model refused.
    ContentFilter,
    /// It was cut for another reason.
    Unfinished,
}

/// Why a turn failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TurnFault"))]
pub struct TurnFailure {
    /// What failed.
    pub kind: TurnFailureKind,
    /// The HTTP status of the server, where it answered with one.
    pub status: Option<u16>,
    /// Whether the same may succeed later.
    pub retryable: bool,
}

/// What failed in a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TurnFaultKind"))]
#[serde(rename_all = "snake_case")]
pub enum TurnFailureKind {
    /// The server could not be reached.
    Unreachable,
    /// The server does not accept the key.
    Authentication,
    /// The server asks for fewer requests.
    RateLimit,
    /// Money or quota at the server is used up.
    Quota,
    /// The conversation does not fit the model.
    Context,
    /// The server does not accept the request.
    Request,
    /// The server failed, or its reply was none.
    Server,
    /// A setting is wrong.
    Configuration,
    /// The money or the tokens of the session's own budget are used up.
    Budget,
    /// The tool calls of the turn are used up.
    Steps,
    /// The rounds of the turn are used up.
    Rounds,
    /// A hook stopped it.
    Hook,
    /// A part of the program failed.
    Internal,
}
