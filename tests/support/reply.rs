//! What the scripted server can answer: whole replies of a model, raw streams step by step, and gates to hold them.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;

use super::family::{Counts, End, Move};

/// Longest time that a waiting helper waits before it fails the test.
const PATIENCE: Duration = Duration::from_secs(20);

/// One scripted reply. Model replies come as a stream or whole, as the request asks.
#[derive(Debug, Clone)]
pub struct Reply {
    pub(super) gate: Option<Gate>,
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Body,
}

#[derive(Debug, Clone)]
pub(super) enum Body {
    Model {
        thinking: Vec<String>,
        text: Vec<String>,
        calls: Vec<(String, String, String)>,
        counts: Counts,
    },
    Moves(Vec<Move>, Counts),
    Fixed(Vec<u8>),
    Steps(Vec<Step>),
    /// Nothing, not even a status.
    HangUp,
}

impl Body {
    /// Returns what a model does, where it is one that answers.
    pub(super) fn as_moves(&self) -> Option<(Vec<Move>, Counts)> {
        match self {
            Self::Model { thinking, text, calls, counts } => {
                let call =
                    |(id, name, args): &(String, String, String)| Move::Call(id.clone(), name.clone(), args.clone());
                let words = thinking.iter().cloned().map(Move::Thinking).chain(text.iter().cloned().map(Move::Text));
                let end = Move::End(if calls.is_empty() { End::Done } else { End::Calls });
                Some((words.chain(calls.iter().map(call)).chain([end]).collect(), *counts))
            }
            Self::Moves(moves, counts) => Some((moves.clone(), *counts)),
            Self::Fixed(_) | Self::Steps(_) | Self::HangUp => None,
        }
    }
}

/// One step of a raw stream.
#[derive(Debug, Clone)]
pub enum Step {
    /// Sends bytes as one HTTP chunk.
    Bytes(Vec<u8>),
    /// Waits for a gate.
    Wait(Gate),
    /// Sends nothing for a while (pace of a slow model).
    Pause(Duration),
    /// Closes the connection in the middle of the body.
    Cut,
}

impl Step {
    /// Sends one event: `data: …` and a blank line.
    pub fn data(value: impl std::fmt::Display) -> Self {
        Self::Bytes(format!("data: {value}\n\n").into_bytes())
    }

    /// Sends one chunk with a delta.
    #[allow(clippy::needless_pass_by_value)] // Callers write `json!` in place.
    pub fn delta(delta: Value) -> Self {
        Self::data(chunk(&delta, &Value::Null))
    }

    /// Sends the chunk with the finish reason.
    pub fn finish(reason: &str) -> Self {
        Self::data(chunk(&json!({}), &json!(reason)))
    }

    /// Sends `data: [DONE]`.
    pub fn done() -> Self {
        Self::data("[DONE]")
    }
}

fn chunk(delta: &Value, finish: &Value) -> Value {
    json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "scripted",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
}

impl Reply {
    /// Answers with a text; streamed word by word.
    pub fn text(text: &str) -> Self {
        let words = text.split_inclusive(' ').map(str::to_owned).collect();
        Self::model(words, Vec::new())
    }

    /// Answers with calls `(id, name, arguments as JSON)`; streamed with the arguments in two fragments.
    pub fn calls(calls: &[(&str, &str, &str)]) -> Self {
        let own = |(id, name, args): &(&str, &str, &str)| ((*id).to_owned(), (*name).to_owned(), (*args).to_owned());
        Self::model(Vec::new(), calls.iter().map(own).collect())
    }

    fn model(text: Vec<String>, calls: Vec<(String, String, String)>) -> Self {
        Self::with_body(200, Body::Model { thinking: Vec::new(), text, calls, counts: Counts::default() })
    }

    /// Answers with a status and a JSON body.
    #[allow(clippy::needless_pass_by_value)] // Callers write `json!` in place.
    pub fn json(status: u16, body: Value) -> Self {
        Self::body(status, &body.to_string()).header("content-type", "application/json")
    }

    /// Answers with a status and any body.
    pub fn body(status: u16, body: &str) -> Self {
        Self::bytes(status, body.as_bytes().to_vec())
    }

    /// Answers with a status and any bytes.
    pub fn bytes(status: u16, body: Vec<u8>) -> Self {
        Self::with_body(status, Body::Fixed(body))
    }

    /// Answers with moves of a model, in the dialect that asks; without [`Move::End`] the reply is never whole.
    pub fn moves(moves: impl IntoIterator<Item = Move>) -> Self {
        Self::with_body(200, Body::Moves(moves.into_iter().collect(), Counts::default()))
    }

    /// Closes the connection without an answer.
    pub fn hang_up() -> Self {
        Self::with_body(200, Body::HangUp)
    }

    /// Answers with a raw event stream. Without [`Step::Cut`] the body ends properly.
    pub fn stream(steps: impl IntoIterator<Item = Step>) -> Self {
        let steps = Body::Steps(steps.into_iter().collect());
        Self::with_body(200, steps).header("content-type", "text/event-stream")
    }

    fn with_body(status: u16, body: Body) -> Self {
        Self { gate: None, status, headers: Vec::new(), body }
    }

    /// Sets the status.
    #[must_use]
    pub fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Waits for a gate before the first byte.
    #[must_use]
    pub fn gated(mut self, gate: &Gate) -> Self {
        self.gate = Some(gate.clone());
        self
    }

    /// Puts text before the calls of a model reply.
    #[must_use]
    pub fn saying(mut self, words: &str) -> Self {
        if let Body::Model { text, .. } = &mut self.body {
            *text = words.split_inclusive(' ').map(str::to_owned).collect();
        }
        self
    }

    /// Puts reasoning before a model reply.
    #[must_use]
    pub fn thinking(mut self, words: &str) -> Self {
        if let Body::Model { thinking, .. } = &mut self.body {
            *thinking = words.split_inclusive(' ').map(str::to_owned).collect();
        }
        self
    }

    /// Sets the usage of a model reply.
    #[must_use]
    pub fn usage(mut self, prompt: u64, completion: u64) -> Self {
        if let Body::Model { counts, .. } | Body::Moves(_, counts) = &mut self.body {
            *counts = Counts(prompt, completion);
        }
        self
    }
}

/// Holds a reply back until the test opens it. Clones are the same gate.
#[derive(Debug, Clone)]
pub struct Gate(Arc<(watch::Sender<bool>, watch::Sender<bool>)>);

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}

impl Gate {
    /// Makes a closed gate.
    pub fn new() -> Self {
        Self(Arc::new((watch::channel(false).0, watch::channel(false).0)))
    }

    /// Opens it for good.
    pub fn open(&self) {
        self.0.1.send_replace(true);
    }

    /// Waits until a reply stands before it.
    pub async fn reached(&self) {
        wait(self.0.0.subscribe(), "a reply at the gate", |reached| *reached).await;
    }

    /// Blocking form of [`Gate::reached`].
    pub fn wait_reached(&self) {
        block_on(self.reached());
    }

    pub(super) async fn pass(&self) {
        self.0.0.send_replace(true);
        let _ = self.0.1.subscribe().wait_for(|open| *open).await;
    }
}

pub(super) async fn wait<T>(mut watched: watch::Receiver<T>, what: &str, enough: impl FnMut(&T) -> bool) {
    let waiting = tokio::time::timeout(PATIENCE, watched.wait_for(enough));
    assert!(waiting.await.is_ok(), "waited in vain for {what}");
}

pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}
