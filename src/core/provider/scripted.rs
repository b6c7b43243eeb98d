//! A provider that plays a prepared conversation, for tests of the layers above the wire.
//!
//! Each request takes the next [`Played`] reply and is recorded, so that a test can look at what was sent. Clones play
//! the same conversation.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::Notify;

use crate::provider::{ChatProvider, ChatRequest, Finish, Piece, ProviderError, Reply, Sink, Streaming, ToolSchema};
use steersman_base::message::{Arguments, Message, Original, ToolCall};
use steersman_base::sync::lock;

/// A provider that plays prepared replies in order and records the requests. Clones are the same provider.
///
/// Example: "A prepared conversation" in the documentation of `steersman::prelude`.
#[derive(Clone, Default)]
pub struct ScriptedProvider {
    script: Arc<Mutex<VecDeque<Played>>>,
    requests: Arc<Mutex<Vec<RecordedRequest>>>,
}

/// A request as it was sent.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RecordedRequest {
    /// The model's name.
    pub model: String,
    /// The whole conversation.
    pub messages: Vec<Message>,
    /// The tools on offer.
    pub tools: Vec<ToolSchema>,
    /// Whether pieces were requested.
    pub streaming: Streaming,
}

/// A prepared reply: steps played in order, then the reply or the error.
#[derive(Default)]
pub struct Played {
    steps: Vec<Step>,
    reply: Reply,
    error: Option<ProviderError>,
}

/// A step of a played reply.
#[derive(Clone)]
pub enum Step {
    /// A piece goes to the sink.
    Piece(Piece),
    /// The test is notified that this point is reached.
    Reached(Arc<Notify>),
    /// The provider waits until the test lets it continue.
    Wait(Arc<Notify>),
}

impl Played {
    /// Plays a text, as one delta.
    pub fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        let mut played = Self::default();
        if !text.is_empty() {
            played.steps.push(Step::Piece(Piece::Chunk { thinking: String::new(), text: text.clone() }));
        }
        played.reply.content = text;
        played
    }

    /// Plays one tool call without text; its arguments are JSON. Further ones are added with [`Played::and_call`].
    pub fn call(name: &str, arguments: &str) -> Self {
        Self::default().and_call(name, arguments)
    }

    /// Adds a tool call to the reply, with the next free id.
    #[must_use]
    pub fn and_call(self, name: &str, arguments: &str) -> Self {
        let id = format!("call_{}", self.reply.tool_calls.len() + 1);
        self.with_calls(&[(&id, name, arguments)])
    }

    /// Plays tool calls `(id, name, arguments as JSON)` without text.
    pub fn calls(calls: &[(&str, &str, &str)]) -> Self {
        Self::default().with_calls(calls)
    }

    /// Plays an error.
    pub fn error(error: ProviderError) -> Self {
        Self { error: Some(error), ..Self::default() }
    }

    /// Adds tool calls to the reply.
    #[must_use]
    pub fn with_calls(mut self, calls: &[(&str, &str, &str)]) -> Self {
        self.reply.tool_calls.extend(calls.iter().map(|(id, name, arguments)| ToolCall {
            id: (*id).into(),
            name: (*name).to_owned(),
            arguments: Arguments::parse(arguments),
        }));
        self
    }

    /// Adds reasoning text, as one delta before what follows.
    #[must_use]
    pub fn with_thinking(mut self, thinking: &str) -> Self {
        let piece = Piece::Chunk { thinking: thinking.to_owned(), text: String::new() };
        self.steps.insert(0, Step::Piece(piece));
        thinking.clone_into(&mut self.reply.thinking);
        self
    }

    /// Appends a step.
    #[must_use]
    pub fn then(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Sets the usage of the reply.
    #[must_use]
    pub fn with_usage(mut self, usage: steersman_base::event::Usage) -> Self {
        self.reply.usage = usage;
        self
    }

    /// Sets why the reply ended.
    #[must_use]
    pub fn with_finish(mut self, finish: Finish) -> Self {
        self.reply.finish = finish;
        self
    }

    /// Sets the parts that must go back unchanged.
    #[must_use]
    pub fn with_original(mut self, original: Original) -> Self {
        self.reply.original = Some(original);
        self
    }

    /// Ends in an error after the steps were played.
    #[must_use]
    pub fn failing(mut self, error: ProviderError) -> Self {
        self.error = Some(error);
        self
    }
}

impl ScriptedProvider {
    /// Prepares the replies, in order.
    pub fn new(script: impl IntoIterator<Item = Played>) -> Self {
        Self { script: Arc::new(Mutex::new(script.into_iter().collect())), requests: Arc::default() }
    }

    /// Appends a reply to the prepared ones.
    pub fn push(&self, played: Played) {
        lock(&self.script).push_back(played);
    }

    /// Returns the requests made so far.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        lock(&self.requests).clone()
    }
}

impl ChatProvider for ScriptedProvider {
    fn complete<'a>(
        &'a self,
        request: ChatRequest<'a>,
        sink: &'a mut Sink<'a>,
    ) -> BoxFuture<'a, Result<Reply, ProviderError>> {
        lock(&self.requests).push(RecordedRequest {
            model: request.model.to_owned(),
            messages: request.messages().to_vec(),
            tools: request.tools.to_vec(),
            streaming: request.streaming,
        });
        let played = lock(&self.script).pop_front();
        async move {
            let Some(played) = played else {
                return Err(ProviderError::Server("the script has no further reply".to_owned()));
            };
            for step in played.steps {
                match step {
                    Step::Piece(piece) => {
                        let preview = matches!(piece, Piece::Chunk { .. });
                        if !preview || request.streaming == Streaming::On {
                            sink(piece)?;
                        }
                    }
                    Step::Reached(notify) => notify.notify_one(),
                    Step::Wait(notify) => notify.notified().await,
                }
            }
            match played.error {
                Some(error) => Err(error),
                None => Ok(played.reply),
            }
        }
        .boxed()
    }
}
