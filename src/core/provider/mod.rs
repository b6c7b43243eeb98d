//! The interface of model servers: the trait, its request, its reply and its errors; the registry of models, and a provider
//! that plays a prepared conversation for tests.
//!
//! A provider knows nothing of the loop; the loop knows nothing of HTTP.
//!
//! # Where things are
//!
//! - the model and the way to its server: `transport.rs`; tests: `tests/provider/answer_format.rs`
//! - the registry of models: `assets/models.toml`, `registry.rs`; tests: `tests/program/registry.rs`
//! - a prepared conversation: `scripted.rs`; tests: `scripted_provider.rs`
//! - a provider made of a closure, as `FnTool` is a tool: `fn_provider.rs`

mod fn_provider;
pub mod registry;
mod scripted;
pub mod transport;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value;

use steersman_base::error::Cancelled;
use steersman_base::event::{TurnFinish, Usage};
use steersman_base::message::{Message, Original, ToolCall};

pub use fn_provider::FnProvider;
pub use registry::{Card, Registry, Thinking};
pub use scripted::{Played, ScriptedProvider, Step};
pub use steersman_base::error::ProviderError;
pub use transport::{Answering, ApiKey, ChatTransport, Connector, Effort, FixedProvider, is_loopback};

/// A model server, which turns one request into one reply.
///
/// Example: "A provider of your own" in the documentation of `steersman::prelude`.
pub trait ChatProvider: Send + Sync {
    /// Sends a request. Pieces go to `sink` as they arrive; the whole reply is returned at the end.
    ///
    /// Dropping the future drops the request. The sink's `Err` must end it at once.
    ///
    /// # Errors
    /// [`ProviderError`]; pieces that went to the sink before stay valid.
    fn complete<'a>(
        &'a self,
        request: ChatRequest<'a>,
        sink: &'a mut Sink<'a>,
    ) -> BoxFuture<'a, Result<Reply, ProviderError>>;
}

impl<P: ChatProvider + ?Sized> ChatProvider for Arc<P> {
    fn complete<'a>(
        &'a self,
        request: ChatRequest<'a>,
        sink: &'a mut Sink<'a>,
    ) -> BoxFuture<'a, Result<Reply, ProviderError>> {
        (**self).complete(request, sink)
    }
}

/// The function that takes the pieces of a reply; its `Err` ends the request.
pub type Sink<'a> = dyn FnMut(Piece) -> Result<(), Cancelled> + Send + 'a;

/// A report of a provider while it works.
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
        /// The number of the next attempt, from 2.
        attempt: u32,
        /// The wait, milliseconds.
        after_ms: u64,
        /// The reason, one sentence.
        reason: String,
    },
}

impl Piece {
    /// Makes a part of the answer's text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Chunk { thinking: String::new(), text: text.into() }
    }
}

/// A request: the conversation (checked), the tools and how to answer.
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
    /// The form of the answer; any text without one.
    pub format: Option<AnswerFormat<'a>>,
}

/// Whether replies come in pieces.
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
    /// [`ProviderError::InvalidHistory`] when a call has not exactly one result directly after it, in order (D7).
    pub fn new(
        model: &'a str,
        messages: &'a [Message],
        tools: &'a [ToolSchema],
        streaming: Streaming,
    ) -> Result<Self, ProviderError> {
        validate(messages)?;
        Ok(Self { model, messages, tools, streaming, answering: Answering::default(), format: None })
    }

    /// Sets how the model is to answer.
    #[must_use]
    pub fn answering(mut self, answering: Answering) -> Self {
        self.answering = answering;
        self
    }

    /// Sets the form of the answer.
    #[must_use]
    pub fn format(mut self, format: Option<AnswerFormat<'a>>) -> Self {
        self.format = format;
        self
    }

    /// Returns the conversation.
    pub fn messages(&self) -> &'a [Message] {
        self.messages
    }
}

/// Checks that a conversation can be sent: each assistant tool call has exactly one result directly after
/// it, in call order, and there are no other results (D7). Runs on every request, in release too.
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

/// The description of one tool for the model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSchema {
    /// The tool's name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Value,
}

/// A whole reply. Only a reply that ended properly is returned (D15).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    /// The visible text.
    pub content: String,
    /// The reasoning text.
    pub thinking: String,
    /// The calls, in the order the model wrote them; ids are unique within the reply.
    pub tool_calls: Vec<ToolCall>,
    /// The tokens that it used.
    pub usage: Usage,
    /// What the usage covers.
    pub scope: UsageScope,
    /// Why it ended.
    pub finish: Finish,
    /// The server's explanation of the end, one line: why a filter cut it.
    pub explanation: Option<String>,
    /// Its parts as the provider wrote them, when some must go back unchanged; the assembler fills in dialect and
    /// parts, the HTTP provider the server and the model.
    pub original: Option<Original>,
}

impl Reply {
    /// Makes a reply of text only.
    pub fn text(content: impl Into<String>) -> Self {
        Self { content: content.into(), ..Self::default() }
    }
}

/// The requests that the usage of a reply covers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum UsageScope {
    /// One request: its prompt is the conversation.
    #[default]
    OneRequest,
    /// Every step of the server's own tools, each of which has read the conversation: a sum, which says nothing
    /// about the size.
    SeveralRequests,
}

/// The reason why a reply ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Finish {
    /// The model was done, or calls its tools.
    #[default]
    Stop,
    /// The token limit cut it; its calls must not run.
    Length,
    /// A filter of the server cut it, or the model refused; its calls must not run.
    ContentFilter,
    /// The server pauses a long turn: the reply goes back unchanged, and the model continues.
    Paused,
    /// It was longer than the limit of one reply, and the rest was not read; its calls must not run.
    TooLong,
    /// It ended for an unknown reason, given in the server's word; its calls must not run.
    Unknown(String),
}

impl Finish {
    /// Returns its word for readers of events.
    pub fn word(&self) -> TurnFinish {
        match self {
            Self::Stop => TurnFinish::Stop,
            Self::Length => TurnFinish::Length,
            Self::ContentFilter => TurnFinish::ContentFilter,
            Self::Paused | Self::TooLong | Self::Unknown(_) => TurnFinish::Unfinished,
        }
    }
}

/// The form in which an answer is wanted: JSON that matches a schema.
///
/// A dialect asks its server for it where it can. Some servers cannot do that while tools are on offer: there the schema
/// goes with the request that wants nothing but the answer, and the tools stay away from that one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnswerFormat<'a> {
    /// The schema that it must match.
    pub schema: &'a Value,
    /// Whether it is due.
    pub stage: AnswerStage,
}

/// Whether an answer is due.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AnswerStage {
    /// The model may call tools before it.
    #[default]
    Open,
    /// Nothing else is wanted.
    Due,
}
