//! One model request: send it, emit the pieces as deltas, put the reply into the history.
//!
//! Before each piece the cancel flag is checked, so a piece that arrives after the stop is never shown. Text received
//! before a cancel or a cut enters the history, marked interrupted; half calls and half thinking are dropped (D8).
//! A message that is to be delivered now cuts the request, also before its first token and between two attempts.

use std::{future, mem};

use tracing::Instrument;
use tracing::field::Empty;

use crate::Agent;
use crate::long_wait::LongWait;
use steersman_base::error::{Cancelled, RunError};
use steersman_base::event::{Event, Pending, Usage};
use steersman_base::id::MessageId;
use steersman_base::limits;
use steersman_base::message::{AssistantMessage, Message};
use steersman_base::text::is_blank;
use steersman_core::control::{Cancellable, Interloper};
use steersman_core::listener::ListenerList;
use steersman_core::provider::{ChatRequest, Finish, Piece, ProviderError, Reply, Streaming};

/// The outcome of a request.
pub(super) enum RequestOutcome {
    /// The whole reply.
    Reply(Box<Reply>),
    /// Messages that cut the request; they are not in the history yet, the text received so far is.
    Interrupted(Vec<Pending>),
}

impl Agent {
    /// Sends one request. On an error or a cut the text received so far is in the history.
    pub(super) async fn request_reply(&mut self) -> Result<RequestOutcome, RunError> {
        // Behind a reply that its server goes on with, nothing may stand.
        if !matches!(self.history.messages().last(), Some(Message::Assistant(_))) {
            self.say_schema();
            self.deliver_rules();
            self.deliver_plan_changes();
        }
        let span =
            tracing::info_span!("request", model = %self.tree.transport.model_name(), input = Empty, output = Empty);
        let asked = self.request().instrument(span.clone()).await;
        if let Ok(RequestOutcome::Reply(reply)) = &asked {
            span.record("input", reply.usage.prompt());
            span.record("output", reply.usage.output.unwrap_or(0));
        }
        match asked {
            Ok(RequestOutcome::Reply(_)) => self.partial.clear(),
            Ok(RequestOutcome::Interrupted(_)) | Err(_) => self.keep_partial(),
        }
        asked.map_err(|error| match error {
            ProviderError::Cancelled(cancelled) => cancelled.into(),
            other => other.into(),
        })
    }

    async fn request(&mut self) -> Result<RequestOutcome, ProviderError> {
        if let Some(cancellable) = &self.handles.cancellable {
            cancellable.check()?;
        }
        let waiting = self.take_now();
        if !waiting.is_empty() {
            return Ok(RequestOutcome::Interrupted(waiting));
        }
        if let Some(interloper) = &self.handles.interloper {
            interloper.began_request();
        }
        self.emit_size();
        let schemas = self.toolbox.schemas();
        let model = self.tree.transport.model_name();
        let request = ChatRequest::new(model, self.history.messages(), schemas, self.tree.streaming)?;
        let schema = self.output_schema.clone();
        let format = schema.as_deref().map(|schema| schema.format(self.answer_stage));
        let request = request.answering(self.tree.transport.answering).format(format);
        let mut room = limits::ANSWER_BYTES;
        let mut is_cut = false;
        let mut sink = |piece: Piece| -> Result<(), Cancelled> {
            if let Some(cancellable) = &self.handles.cancellable {
                cancellable.check()?;
            }
            match piece {
                Piece::Chunk { mut thinking, mut text } => {
                    is_cut |= clip(&mut thinking, &mut room) | clip(&mut text, &mut room);
                    if !thinking.is_empty() || !text.is_empty() {
                        emit_seen(&mut self.unseen, self.steps, &self.listeners);
                    }
                    if !thinking.is_empty() {
                        self.listeners.emit(Event::ThinkingDelta { text: thinking });
                    }
                    if !text.is_empty() {
                        self.partial.push_str(&text);
                        self.listeners.emit(Event::AssistantDelta { text });
                    }
                }
                Piece::Retrying { attempt, after_ms, reason } => {
                    self.listeners.emit(Event::Retrying { attempt, after_ms, reason });
                }
            }
            // The rest is not read: the request ends here.
            if is_cut { Err(Cancelled) } else { Ok(()) }
        };
        let wait = LongWait { approvals: &self.tree.approvals, listeners: &self.listeners };
        let reply = self.listeners.pace(wait.complete(self.provider.as_ref(), request, &mut sink));
        let cancellable = self.handles.cancellable.as_ref();
        // The request is dropped with its future: the connection closes at once (D6). The cancel comes first: whoever
        // stops the turn gets the waiting texts back.
        let reply = tokio::select! {
            biased;
            () = stopped(cancellable) => return Err(Cancelled.into()),
            messages = interruption(self.handles.interloper.as_deref(), cancellable) => return Ok(RequestOutcome::Interrupted(messages)),
            reply = reply => reply,
        };
        let reply = match reply {
            Err(ProviderError::Cancelled(_)) if is_cut && !cancellable.is_some_and(Cancellable::is_cancelled) => {
                Reply { content: mem::take(&mut self.partial), finish: Finish::TooLong, ..Reply::default() }
            }
            reply => bounded(reply?),
        };
        Ok(RequestOutcome::Reply(Box::new(reply)))
    }

    /// Puts a whole reply into the history and emits its texts.
    pub(super) fn accept(&mut self, reply: Reply) {
        let Reply { content, thinking, tool_calls, usage, scope, original, finish: _, explanation: _ } = reply;
        emit_seen(&mut self.unseen, self.steps, &self.listeners);
        self.emit_reply(&content, &thinking, usage.clone());
        self.history.push_assistant(AssistantMessage { content, thinking, tool_calls, interrupted: false, original });
        self.notify_history();
        self.record_usage(&usage, scope, 1);
    }

    /// Emits the thinking and the usage of an empty reply, which does not enter the history.
    pub(super) fn skip_empty(&mut self, reply: Reply) {
        if !reply.thinking.is_empty() {
            emit_seen(&mut self.unseen, self.steps, &self.listeners);
        }
        self.emit_reply("", &reply.thinking, reply.usage.clone());
        // Its output is not kept.
        self.record_usage(&Usage { output: Some(0), ..reply.usage }, reply.scope, 0);
    }

    /// Drops a reply that is requested again: charges its usage, and marks the shown text as cut.
    pub(super) fn give_up(&mut self, reply: Reply) {
        let Reply { content, usage, .. } = reply;
        if self.tree.streaming == Streaming::On && !is_blank(&content) {
            self.listeners.emit(Event::Assistant { text: content.clone(), interrupted: true });
        }
        self.spend(usage, (self.history.messages(), self.toolbox.schemas()), &content);
    }

    fn emit_reply(&self, content: &str, thinking: &str, usage: Usage) {
        if !thinking.is_empty() {
            self.listeners.emit(Event::Thinking { text: thinking.to_owned() });
        }
        if !content.is_empty() {
            self.listeners.emit(Event::Assistant { text: content.to_owned(), interrupted: false });
        }
        self.spend(usage, (self.history.messages(), self.toolbox.schemas()), content);
    }

    /// Puts the text of an unfinished reply into the history; does nothing without text.
    pub(super) fn keep_partial(&mut self) {
        let partial = mem::take(&mut self.partial);
        if self.tree.streaming == Streaming::Off || is_blank(&partial) {
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

/// Cuts a text to the bytes that are left and subtracts its length; returns true when it was cut.
fn clip(text: &mut String, room: &mut usize) -> bool {
    let end = text.floor_char_boundary(*room);
    let is_cut = end < text.len();
    text.truncate(end);
    *room = if is_cut { 0 } else { *room - end };
    is_cut
}

/// Cuts a reply that did not come in pieces.
fn bounded(mut reply: Reply) -> Reply {
    let mut room = limits::ANSWER_BYTES;
    if clip(&mut reply.content, &mut room) | clip(&mut reply.thinking, &mut room) {
        reply.finish = Finish::TooLong;
        // The original holds the same texts, uncut.
        reply.original = None;
    }
    reply
}

/// Emits, once for each injected message, that the model has seen it (the last state of its receipt).
fn emit_seen(unseen: &mut Vec<MessageId>, step: u32, listeners: &ListenerList) {
    if !unseen.is_empty() {
        listeners.emit(Event::Seen { injections: std::mem::take(unseen), step });
    }
}

/// Waits for a cancel; for ever without a flag.
pub(super) async fn stopped(cancellable: Option<&Cancellable>) {
    match cancellable {
        Some(cancellable) => cancellable.cancelled().await,
        None => future::pending().await,
    }
}

/// Waits for messages that are to be delivered now and takes them; waits for ever without a queue.
async fn interruption(interloper: Option<&Interloper>, cancellable: Option<&Cancellable>) -> Vec<Pending> {
    match interloper {
        Some(interloper) => interloper.interruption(cancellable).await,
        None => future::pending().await,
    }
}
