//! One model request: ask, pass the pieces on as deltas, take the reply in.
//!
//! Before each piece the cancel flag is checked, so a piece that arrives after the stop is never shown. Text received
//! before a cancel or a cut enters the history, marked interrupted; half calls and half thinking are dropped (D8).

use crate::agent::Agent;
use crate::error::{Cancelled, RunError};
use crate::event::{Event, Usage};
use crate::message::AssistantMessage;
use crate::provider::{ChatRequest, Piece, ProviderError, Reply, Streaming};
use crate::text::is_blank;

impl Agent {
    /// Asks the model once. On an error the text received so far is in the history.
    pub(super) async fn ask(&mut self) -> Result<Reply, RunError> {
        let mut partial = String::new();
        match self.request(&mut partial).await {
            Ok(reply) => Ok(reply),
            Err(error) => {
                self.keep_partial(partial);
                Err(match error {
                    ProviderError::Cancelled(cancelled) => cancelled.into(),
                    other => other.into(),
                })
            }
        }
    }

    async fn request(&self, partial: &mut String) -> Result<Reply, ProviderError> {
        if let Some(cancellable) = &self.cancellable {
            cancellable.check()?;
        }
        let schemas = self.toolbox.schemas();
        let model = self.transport.model_name();
        let request = ChatRequest::new(model, self.history.messages(), &schemas, self.streaming)?;
        let mut sink = |piece: Piece| -> Result<(), Cancelled> {
            if let Some(cancellable) = &self.cancellable {
                cancellable.check()?;
            }
            match piece {
                Piece::Chunk { thinking, text } => {
                    if !thinking.is_empty() {
                        self.listeners.emit(Event::ThinkingDelta { text: thinking });
                    }
                    if !text.is_empty() {
                        partial.push_str(&text);
                        self.listeners.emit(Event::AssistantDelta { text });
                    }
                }
                Piece::Retrying { attempt, after_ms, reason } => {
                    self.listeners.emit(Event::Retrying { attempt, after_ms, reason });
                }
            }
            Ok(())
        };
        let reply = self.provider.complete(request, &mut sink);
        match &self.cancellable {
            // The request is dropped with its future: the connection closes at once (D6).
            Some(cancellable) => tokio::select! {
                biased;
                () = cancellable.cancelled() => Err(Cancelled.into()),
                reply = reply => reply,
            },
            None => reply.await,
        }
    }

    /// Puts a whole reply into the history and emits what it says.
    pub(super) fn accept(&mut self, reply: Reply) {
        let Reply { content, thinking, tool_calls, usage, finish: _ } = reply;
        self.say(&content, &thinking, usage);
        self.history.push_assistant(AssistantMessage { content, thinking, tool_calls, interrupted: false });
    }

    /// Emits what a reply without text and without calls says: it has cost its tokens, but does not enter the history.
    pub(super) fn pass_over(&self, reply: Reply) {
        self.say("", &reply.thinking, reply.usage);
    }

    fn say(&self, content: &str, thinking: &str, usage: Usage) {
        if !thinking.is_empty() {
            self.listeners.emit(Event::Thinking { text: thinking.to_owned() });
        }
        if !content.is_empty() {
            self.listeners.emit(Event::Assistant { text: content.to_owned(), interrupted: false });
        }
        self.listeners.emit(Event::Tokens(usage));
    }

    fn keep_partial(&mut self, partial: String) {
        if self.streaming == Streaming::Off || is_blank(&partial) {
            return;
        }
        self.listeners.emit(Event::Assistant { text: partial.clone(), interrupted: true });
        self.history.push_assistant(AssistantMessage {
            content: partial,
            interrupted: true,
            ..AssistantMessage::default()
        });
    }
}
