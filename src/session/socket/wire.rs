//! The lines of the socket: JSON-RPC 2.0, one object each.
//!
//! A client calls `authorize` with the key of the session, then `hello`, then `request`; without `hello` only `status` is
//! answered, and without the key nothing. What the run says comes as notifications `update`. Numbers of calls are whole numbers; a call with the same number of the same client is one operation.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use steersman_base::protocol::Request;

/// The name of the version of JSON-RPC.
const RPC: &str = "2.0";

/// What a client sends.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Call {
    pub jsonrpc: String,
    pub id: u64,
    #[serde(flatten)]
    pub method: Method,
}

/// What a client asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", content = "params", rename_all = "snake_case")]
pub enum Method {
    /// The key of the session, which lies beside its socket.
    Authorize(String),
    /// Who it is and what it wants to be told.
    Hello(Hello),
    /// One request of the protocol.
    Request(Box<Request>),
    /// How the session stands.
    Status,
    /// End the session if it was served without a screen and nobody else looks at it.
    End,
}

/// The first call of a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The version of the protocol that it speaks, [`steersman_base::protocol::VERSION`].
    pub version: u32,
    /// The word for what it is, such as `attach`.
    pub name: String,
    /// A text of its own choice by which it is the same client when it comes again.
    pub token: Option<String>,
    /// What it is told by itself.
    #[serde(default, rename = "posts")]
    pub updates: Updates,
}

/// What a client is told by itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Updates {
    /// Nothing.
    #[default]
    None,
    /// What happens from now on.
    Now,
    /// What is kept of the past, then what happens.
    Past,
}

/// The answer to [`Hello`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Welcome {
    /// The version of the protocol.
    pub version: u32,
    /// The program and its version.
    pub program: String,
    /// The name that the client has from now on.
    pub client: steersman_base::id::ClientId,
    /// The session's ID.
    pub session: String,
    /// The directory that the session works in.
    pub directory: String,
    /// The model as it was configured, for a status line.
    pub label: String,
    /// Whether the session runs without a screen of its own.
    #[serde(default)]
    pub is_served: bool,
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Replied {
    /// What came of it; null where it has no reply.
    pub reply: Option<steersman_base::protocol::Reply>,
}

/// Why a call was not carried out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallError {
    /// The code, as JSON-RPC numbers them.
    pub code: i32,
    /// One sentence.
    pub message: String,
}

impl CallError {
    /// Makes one for a line that is no call.
    pub(super) fn unreadable(message: impl Into<String>) -> Self {
        Self { code: -32_600, message: message.into() }
    }

    /// Makes one for a call that cannot be carried out.
    pub(super) fn refused(message: impl Into<String>) -> Self {
        Self { code: -32_000, message: message.into() }
    }
}

/// What a client reads.
#[derive(Debug, Deserialize)]
pub(super) struct Incoming<'a> {
    pub id: Option<u64>,
    #[serde(borrow)]
    pub params: Option<&'a RawValue>,
    #[serde(borrow)]
    pub result: Option<&'a RawValue>,
    pub error: Option<CallError>,
}

pub(super) fn call(id: u64, method: &Method) -> String {
    #[derive(Serialize)]
    struct Line<'a> {
        jsonrpc: &'static str,
        id: u64,
        #[serde(flatten)]
        method: &'a Method,
    }
    line(&Line { jsonrpc: RPC, id, method })
}

pub(super) fn answer<T: Serialize>(id: Option<u64>, outcome: Result<T, CallError>) -> String {
    #[derive(Serialize)]
    struct Line<T> {
        jsonrpc: &'static str,
        id: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<T>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<CallError>,
    }
    let (result, error) = match outcome {
        Ok(result) => (Some(result), None),
        Err(error) => (None, Some(error)),
    };
    line(&Line { jsonrpc: RPC, id, result, error })
}

/// Returns a notification as a line.
pub(super) fn update(update: &steersman_base::protocol::Update) -> String {
    #[derive(Serialize)]
    struct Line<'a> {
        jsonrpc: &'static str,
        method: &'static str,
        params: &'a steersman_base::protocol::Update,
    }
    line(&Line { jsonrpc: RPC, method: "post", params: update })
}

pub(super) fn read_call(line: &[u8]) -> Result<Call, CallError> {
    let call: Call = serde_json::from_slice(line)
        .map_err(|error| CallError::unreadable(format!("this line is no call: {error}")))?;
    if call.jsonrpc == RPC { Ok(call) } else { Err(CallError::unreadable("this line is not of JSON-RPC 2.0")) }
}

fn line(value: &impl Serialize) -> String {
    // Only a map with keys that are no texts cannot be written, and there is none.
    let mut line = serde_json::to_string(value).unwrap_or_else(|_| Value::Null.to_string());
    line.push('\n');
    line
}
