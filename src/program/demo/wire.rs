//! The wire of chat completions, as the embedded model reads and writes it: the request body and the chunks of a reply.
//!
//! Reading is strict: an unknown role or a tool call without its result is a fault of the client and is named
//! ([`ChatBody::read`]), so that this server rejects what strict servers reject.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::program::demo::MODEL;
use crate::program::demo::plan::{PlannedCall, PlannedReply};

/// The body of a chat completion request; fields that are not named here do not matter to the planner.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct ChatBody {
    pub messages: Vec<WireMessage>,
    pub tools: Option<Vec<ToolOffer>>,
    /// Whether the reply comes in chunks.
    pub stream: Option<bool>,
    /// The length of the body, bytes.
    #[serde(skip)]
    pub bytes: usize,
}

/// A message of the conversation.
#[derive(Debug, Clone, Deserialize)]
pub struct WireMessage {
    pub role: Role,
    pub content: Option<Content>,
    pub tool_calls: Option<Vec<WireCall>>,
    /// The call that a tool message answers.
    pub tool_call_id: Option<String>,
}

/// Who speaks. Anything else is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    #[serde(alias = "developer")]
    System,
    /// The person, or the agent that gave a task.
    User,
    Assistant,
    Tool,
}

/// The content of a message: text, or parts of which the text counts.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum Content {
    Text(String),
    /// Parts; those without text are passed over.
    Parts(Vec<Part>),
}

/// A part of a content.
#[derive(Debug, Clone, Deserialize)]
pub struct Part {
    pub text: Option<String>,
}

/// A tool call as it stands in an assistant message.
#[derive(Debug, Clone, Deserialize)]
pub struct WireCall {
    pub id: String,
    pub function: WireFunction,
}

/// The called function.
#[derive(Debug, Clone, Deserialize)]
pub struct WireFunction {
    pub name: String,
    pub arguments: Option<String>,
}

/// A tool on offer.
#[derive(Debug, Clone, Deserialize)]
pub struct ToolOffer {
    pub function: OfferedFunction,
}

/// The description of a function for the model.
#[derive(Debug, Clone, Deserialize)]
pub struct OfferedFunction {
    pub name: String,
    /// JSON Schema of the arguments.
    #[serde(default)]
    pub parameters: Value,
}

impl WireMessage {
    /// Returns the words; empty when there are none.
    pub fn text(&self) -> String {
        match &self.content {
            None => String::new(),
            Some(Content::Text(text)) => text.clone(),
            Some(Content::Parts(parts)) => parts.iter().filter_map(|part| part.text.as_deref()).collect(),
        }
    }

    /// Returns the calls; empty when there are none.
    pub fn calls(&self) -> &[WireCall] {
        self.tool_calls.as_deref().unwrap_or(&[])
    }
}

impl WireFunction {
    /// Returns the arguments as an object; empty when they are none.
    pub fn object(&self) -> Map<String, Value> {
        match self.arguments.as_deref().map(serde_json::from_str) {
            Some(Ok(Value::Object(map))) => map,
            _ => Map::new(),
        }
    }
}

impl ChatBody {
    /// Reads a request body and checks that the conversation is one.
    ///
    /// # Errors
    /// A sentence that names the first fault.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let body: Self = serde_json::from_slice(bytes).map_err(|fault| format!("the body is not valid: {fault}"))?;
        body.check()?;
        Ok(Self { bytes: bytes.len(), ..body })
    }

    /// Returns the tools; empty when there are none.
    pub fn offers(&self) -> &[ToolOffer] {
        self.tools.as_deref().unwrap_or(&[])
    }

    fn check(&self) -> Result<(), String> {
        if self.messages.is_empty() {
            return Err("messages must not be empty".to_owned());
        }
        let mut open: Vec<&str> = Vec::new();
        for (index, message) in self.messages.iter().enumerate() {
            match (message.role, open.first()) {
                (Role::Tool, _) => {
                    let id = message.tool_call_id.as_deref().unwrap_or_default();
                    let at = open.iter().position(|due| *due == id);
                    open.remove(
                        at.ok_or_else(|| format!("messages[{index}]: no call {id:?} is open before this result"))?,
                    );
                }
                (_, Some(due)) => {
                    return Err(format!("messages[{index}]: the call {due:?} has no result before this message"));
                }
                (Role::Assistant, None) => open.extend(message.calls().iter().map(|call| call.id.as_str())),
                (Role::System | Role::User, None) => {}
            }
        }
        open.first().map_or(Ok(()), |due| Err(format!("the call {due:?} has no result")))
    }
}

/// Estimates the token counts of a reply: four bytes are a token.
pub(super) fn usage(body: &ChatBody, reply: &PlannedReply) -> Value {
    let calls: usize = reply.calls.iter().map(|call| call.name.len() + call.arguments.len()).sum();
    let prompt = body.bytes.div_ceil(4);
    let reasoning = reply.thinking.len().div_ceil(4);
    let completion = reasoning + (reply.text.len() + calls).div_ceil(4);
    json!({
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    })
}

/// Returns why a reply ends: for its calls, or because it is done.
pub(super) fn finish_reason(reply: &PlannedReply) -> &'static str {
    if reply.calls.is_empty() { "stop" } else { "tool_calls" }
}

/// Writes a whole reply as one completion.
pub(super) fn completion(body: &ChatBody, reply: &PlannedReply) -> Value {
    let mut message = json!({"role": "assistant", "content": reply.text});
    if !reply.thinking.is_empty() {
        message["reasoning_content"] = json!(reply.thinking);
    }
    if !reply.calls.is_empty() {
        let call = |call: &PlannedCall| json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}});
        message["tool_calls"] = reply.calls.iter().map(call).collect();
    }
    let choice = json!({"index": 0, "message": message, "finish_reason": finish_reason(reply)});
    let mut whole = answer("chat.completion", &json!([choice]));
    whole["usage"] = usage(body, reply);
    whole
}

/// Writes one chunk of a streamed reply.
pub(super) fn chunk(delta: &Value, finish: Option<&str>) -> Value {
    answer("chat.completion.chunk", &json!([{"index": 0, "delta": delta, "finish_reason": finish}]))
}

/// Writes the last chunk of a streamed reply, which carries the token counts and no choice.
pub(super) fn usage_chunk(usage: &Value) -> Value {
    let mut chunk = answer("chat.completion.chunk", &json!([]));
    chunk["usage"] = usage.clone();
    chunk
}

/// Writes the body of an error answer.
pub(super) fn error(message: &str, kind: &str, code: Option<&str>) -> Value {
    json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
}

fn answer(object: &str, choices: &Value) -> Value {
    json!({"id": "chatcmpl-embedded", "object": object, "created": 0, "model": MODEL, "choices": choices})
}
