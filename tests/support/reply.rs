//! What the scripted server can answer: whole replies of a model, raw streams step by step, and gates to hold them.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;

/// Longest time that a waiting helper waits before it fails the test.
const PATIENCE: Duration = Duration::from_secs(20);

/// Is one scripted reply. Model replies come as a stream or whole, as the request asks.
#[derive(Debug, Clone)]
pub struct Reply {
    pub(super) gate: Option<Gate>,
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Body,
}

#[derive(Debug, Clone)]
pub(super) enum Body {
    Model { thinking: Vec<String>, text: Vec<String>, calls: Vec<(String, String, String)>, usage: Value },
    Fixed(String),
    Steps(Vec<Step>),
}

/// Is one step of a raw stream.
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
        let usage = json!({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120});
        Self::with_body(200, Body::Model { thinking: Vec::new(), text, calls, usage })
    }

    /// Answers with a status and a JSON body.
    #[allow(clippy::needless_pass_by_value)] // Callers write `json!` in place.
    pub fn json(status: u16, body: Value) -> Self {
        Self::body(status, &body.to_string()).header("content-type", "application/json")
    }

    /// Answers with a status and any body.
    pub fn body(status: u16, body: &str) -> Self {
        Self::with_body(status, Body::Fixed(body.to_owned()))
    }

    /// Answers with a raw event stream. Without [`Step::Cut`] the body ends properly.
    pub fn stream(steps: impl IntoIterator<Item = Step>) -> Self {
        let steps = Body::Steps(steps.into_iter().collect());
        Self::with_body(200, steps).header("content-type", "text/event-stream")
    }

    fn with_body(status: u16, body: Body) -> Self {
        Self { gate: None, status, headers: Vec::new(), body }
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
        if let Body::Model { usage, .. } = &mut self.body {
            *usage = json!({"prompt_tokens": prompt, "completion_tokens": completion});
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

pub(super) fn stream_steps(
    thinking: Vec<String>,
    text: Vec<String>,
    calls: &[(String, String, String)],
    usage: &Value,
) -> Vec<Step> {
    let mut steps = vec![Step::delta(json!({"role": "assistant", "content": null}))];
    steps.extend(thinking.into_iter().map(|word| Step::delta(json!({"reasoning_content": word}))));
    steps.extend(text.into_iter().map(|word| Step::delta(json!({"content": word}))));
    for (index, (id, name, arguments)) in calls.iter().enumerate() {
        let middle = (0..=arguments.len() / 2).rev().find(|at| arguments.is_char_boundary(*at)).unwrap_or(0);
        let (first, second) = arguments.split_at(middle);
        let function = json!({"name": name, "arguments": first});
        let call = json!({"index": index, "id": id, "type": "function", "function": function});
        steps.push(Step::delta(json!({"tool_calls": [call]})));
        steps.push(Step::delta(json!({"tool_calls": [{"index": index, "function": {"arguments": second}}]})));
    }
    steps.push(Step::finish(if calls.is_empty() { "stop" } else { "tool_calls" }));
    steps.push(Step::data(json!({"id": "chatcmpl-1", "model": "scripted", "choices": [], "usage": usage})));
    steps.push(Step::done());
    steps
}

pub(super) fn whole(thinking: &str, text: &str, calls: &[(String, String, String)], usage: &Value) -> Value {
    let call = |(id, name, arguments): &(String, String, String)| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    let mut message = json!({"role": "assistant", "content": text});
    if !thinking.is_empty() {
        message["reasoning_content"] = json!(thinking);
    }
    if !calls.is_empty() {
        message["tool_calls"] = calls.iter().map(call).collect();
    }
    let finish = if calls.is_empty() { "stop" } else { "tool_calls" };
    json!({"id": "chatcmpl-1", "object": "chat.completion", "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": usage})
}
