//! Providers: how one request to a model becomes one reply.
//!
//! This file owns the seam: the trait, its request, its reply and its errors. A provider knows nothing of the
//! loop; the loop knows nothing of HTTP. [`ScriptedProvider`] plays a prepared conversation for tests.
//!
//! # Where things are
//!
//! - one request over HTTP, from sending to the whole reply: `course.rs`, `wire.rs`; stories: `wire.rs`
//! - server-sent events, and one reply out of many chunks: `sse.rs`, `chat/assemble.rs`; stories: `sse.rs`,
//!   `assemble.rs`, `assemble_calls.rs`
//! - the same stream in every encoding and chunking: `sse.rs`, `wire.rs`; stories: `equivalence/mod.rs`,
//!   `equivalence/streams.rs`, `tests/fuzz/src/lib.rs`
//! - retries, Retry-After; a wait that is asked about: `retry.rs`, `src/agent/long_wait.rs`; stories: `retry.rs`,
//!   `long_wait.rs`
//! - every way a server fails, over every dialect: `course.rs`, `incoming.rs`; stories: `faults/mod.rs`,
//!   `faults/http2.rs`, `faults/real_servers.rs`
//! - why no server is reached; TLS, proxies, authorities: `unreachable.rs`, `http.rs`, `src/tls.rs`; stories: `faults/tls.rs`,
//!   `faults/unreachable.rs`, `proxies.rs`
//! - too long a conversation and spent accounts, in servers' words: `refusals.rs`; stories: `faults/refusals.rs`,
//!   `retry.rs`
//! - promises of everything that reads a server's bytes, under mutation and fuzzing: `wire.rs`, `reasoning.rs`;
//!   stories: `mutations.rs`, `tests/fuzz/src/lib.rs`
//! - quirks of single servers and models: `quirks.rs`, `quirks/known.rs`, `quirks/refusals.rs`; stories:
//!   `quirks.rs`, `quirks_known.rs`
//! - thoughts within the visible text (`<think>`): `reasoning.rs`; stories: `reasoning.rs`
//! - what a server says when it refuses: `error_body.rs`; stories: `wire.rs`
//! - the context window: override, registry, `/props`, router: `context_window.rs`; stories: `context_window.rs`
//! - which model, when none is named: `models.rs`, `src/cli/setup.rs`; stories: `wire.rs`, `exec.rs`
//! - what is known about models: `assets/models.toml`, `registry.rs`; stories: `registry.rs`
//! - lists of models, `steersman models`, the servers to switch to: `models.rs`, `sources.rs`,
//!   `src/cli/sources.rs`, `src/cli/models.rs`; stories: `models.rs`, `model_switch.rs`, `dialect_switch.rs`
//! - keys that show nowhere: `transport.rs`, `endpoint.rs`; stories: `secrets.rs`

mod anthropic;
mod call_ids;
pub mod chat;
mod connector;
mod context_window;
mod course;
mod endpoint;
mod error_body;
mod gemini;
mod http;
mod incoming;
mod kept_connections;
mod models;
mod proxy;
mod quirks;
pub mod reasoning;
mod refusals;
mod registry;
mod responses;
pub mod retry;
mod scripted;
mod sources;
pub mod sse;
mod transport;
mod unreachable;
mod usage;
mod wire;

use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::error::Cancelled;
use crate::event::Usage;
use crate::message::{Message, Original, ToolCall};

pub use crate::error::ProviderError;
pub use connector::HttpConnector;
pub use context_window::ContextWindowDetector;
pub use course::HttpProvider;
pub use http::Http;
pub use models::{Offered, list_models, offered_models, read_models};
pub use registry::{Card, Registry, Thinking};
pub use scripted::{Played, ScriptedProvider, Step};
pub use sources::{Source, Sources, Vault, Wanted};
pub use transport::{Answering, ApiKey, ChatTransport, Connector, Effort, FixedProvider};
pub use wire::Assemble;

/// Turns one request into one reply.
pub trait ChatProvider: Send + Sync {
    /// Asks the model. Pieces go to `sink` as they arrive; the whole reply is returned at the end.
    ///
    /// Dropping the future drops the request. The sink's `Err` must end it at once.
    ///
    /// # Errors
    /// [`ProviderError`]; what the sink was given before stays true.
    fn complete<'a>(
        &'a self,
        request: ChatRequest<'a>,
        sink: &'a mut Sink<'a>,
    ) -> BoxFuture<'a, Result<Reply, ProviderError>>;
}

/// Takes the pieces of a reply; its `Err` ends the request.
pub type Sink<'a> = dyn FnMut(Piece) -> Result<(), Cancelled> + Send + 'a;

/// Is what a provider reports while it works.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// A part of the reply arrived. Both may be empty (a fragment of a tool call): the poll still counts.
    Chunk {
        /// New reasoning text.
        thinking: String,
        /// New answer text.
        text: String,
    },
    /// The provider waits, then tries again. Never after a chunk with text.
    Retrying {
        /// The attempt that comes, from 2.
        attempt: u32,
        /// How long it waits, milliseconds.
        after_ms: u64,
        /// Why, one sentence.
        reason: String,
    },
}

/// Is one request: the conversation (checked), the tools and how to answer.
#[derive(Debug, Clone, Copy)]
pub struct ChatRequest<'a> {
    /// The model's name; empty means the server's default.
    pub model: &'a str,
    /// The conversation; [`ChatRequest::new`] has checked it.
    messages: &'a [Message],
    /// The tools on offer.
    pub tools: &'a [ToolSchema],
    /// Whether the reply comes in pieces.
    pub streaming: Streaming,
    /// How the model is to answer, where the user says it.
    pub answering: Answering,
}

/// Says whether replies come in pieces.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Streaming {
    /// One answer, one event.
    #[default]
    Off,
    /// Server-sent events, with deltas.
    On,
}

impl<'a> ChatRequest<'a> {
    /// Makes a request out of a conversation that can be sent.
    ///
    /// # Errors
    /// [`ProviderError::InvalidHistory`] when a call has not exactly its result directly behind it, in order (D7).
    pub fn new(
        model: &'a str,
        messages: &'a [Message],
        tools: &'a [ToolSchema],
        streaming: Streaming,
    ) -> Result<Self, ProviderError> {
        validate(messages)?;
        Ok(Self { model, messages, tools, streaming, answering: Answering::default() })
    }

    /// Sets how the model is to answer.
    #[must_use]
    pub fn answering(mut self, answering: Answering) -> Self {
        self.answering = answering;
        self
    }

    /// Returns the conversation.
    pub fn messages(&self) -> &'a [Message] {
        self.messages
    }
}

/// Checks that a conversation can be sent: each assistant tool call has exactly one result directly behind
/// it, in call order, and no result stands anywhere else (D7). Runs on every request, in release too.
///
/// # Errors
/// [`ProviderError::InvalidHistory`] that names the first fault.
pub fn validate(messages: &[Message]) -> Result<(), ProviderError> {
    let mut open: std::collections::VecDeque<&ToolCall> = std::collections::VecDeque::new();
    let fault = |index: usize, what: &str| Err(ProviderError::InvalidHistory(format!("message {index}: {what}")));
    for (index, message) in messages.iter().enumerate() {
        match message {
            Message::Tool { call_id, .. } => match open.pop_front() {
                Some(call) if call.id == *call_id => {}
                Some(call) => return fault(index, &format!("the result of {call_id} stands where {} is due", call.id)),
                None => return fault(index, &format!("the result of {call_id} has no call before it")),
            },
            _ if !open.is_empty() => return fault(index, "a message stands between a call and its result"),
            Message::Assistant(reply) => open.extend(&reply.tool_calls),
            Message::System { .. } | Message::User { .. } => {}
        }
    }
    match open.front() {
        Some(call) => fault(messages.len(), &format!("the call {} has no result", call.id)),
        None => Ok(()),
    }
}

/// Describes one tool to the model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSchema {
    /// The tool's name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Value,
}

/// Is one whole reply. Only a reply that ended properly is returned at all (D15).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    /// The visible text.
    pub content: String,
    /// The reasoning text.
    pub thinking: String,
    /// The calls, in the order the model wrote them; ids are unique within the reply.
    pub tool_calls: Vec<ToolCall>,
    /// What it consumed.
    pub usage: Usage,
    /// What the usage is about.
    pub scope: UsageScope,
    /// Why it ended.
    pub finish: Finish,
    /// What the server says of why it ended so, one line: why a filter cut it.
    pub explanation: Option<String>,
    /// Its parts as the provider wrote them, when some must go back as they came; the assembler fills in dialect and
    /// parts, the course of the request the server and the model.
    pub original: Option<Original>,
}

/// What the usage of a reply is about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum UsageScope {
    /// One request: its prompt is the conversation.
    #[default]
    OneRequest,
    /// Every step of the server's own tools, each of which has read the conversation: a sum, which tells no size.
    SeveralRequests,
}

/// Says why a reply ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Finish {
    /// The model was done, or wants its tools.
    #[default]
    Stop,
    /// The token limit cut it; its calls must not run.
    Length,
    /// A filter of the server cut it, or the model refused; its calls must not run.
    ContentFilter,
    /// The server pauses a long turn: the reply goes back as it is, and the model goes on.
    Paused,
    /// It was longer than what is taken of one reply, and the rest was not read; its calls must not run.
    TooLong,
    /// It ended for a reason that nobody knows, by the server's word; its calls must not run.
    Unknown(String),
}
