//! The wire form of Messages: the events of a stream, and a whole message.
//!
//! Read by the assembler only. Each event is parsed once, and text is borrowed where JSON allows it.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::chat::{Number, Text};
use crate::usage;
use steersman_base::event::Usage;
use steersman_core::provider::UsageScope;

/// An event of a stream; its members depend on its kind.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Event<'a> {
    #[serde(rename = "type")]
    pub kind: Text<'a>,
    pub index: Number,
    pub message: Option<Message<'a>>,
    pub content_block: Option<&'a RawValue>,
    pub delta: Option<Delta<'a>>,
    pub usage: Option<WireUsage>,
    pub error: Option<Value>,
}

/// A message: whole, or as it begins in a stream.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Message<'a> {
    pub model: Text<'a>,
    pub content: Option<Vec<&'a RawValue>>,
    pub stop_reason: Text<'a>,
    pub stop_details: Option<&'a RawValue>,
    pub usage: Option<WireUsage>,
    pub error: Option<Value>,
}

/// The server's explanation of a stop reason.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct StopDetails<'a> {
    pub explanation: Text<'a>,
    pub category: Text<'a>,
}

/// The part that an event adds to a block, or to the message.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Delta<'a> {
    #[serde(rename = "type")]
    pub kind: Text<'a>,
    pub text: Text<'a>,
    pub thinking: Text<'a>,
    pub signature: Text<'a>,
    pub partial_json: Text<'a>,
    pub citation: Option<&'a RawValue>,
    pub stop_reason: Text<'a>,
    pub stop_details: Option<&'a RawValue>,
}

/// A block as it begins, or whole.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct BlockStart<'a> {
    #[serde(rename = "type")]
    pub kind: Text<'a>,
    pub text: Text<'a>,
    pub citations: Option<Vec<&'a RawValue>>,
    pub thinking: Text<'a>,
    pub signature: Text<'a>,
    pub id: Text<'a>,
    pub name: Text<'a>,
    pub input: Option<&'a RawValue>,
}

/// The token counts. Cached tokens are not part of `input_tokens`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireUsage {
    input_tokens: Number,
    output_tokens: Number,
    cache_read_input_tokens: Number,
    cache_creation_input_tokens: Number,
    output_tokens_details: Option<OutputDetails>,
    server_tool_use: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct OutputDetails {
    thinking_tokens: Number,
}

impl WireUsage {
    /// Returns whether the usage covers one request or several.
    pub(super) fn scope(&self) -> UsageScope {
        usage::scope(self.server_tool_use.as_ref(), Number::default())
    }

    /// Updates an earlier count. A 0 does not replace a count: some servers count the prompt at the start only and
    /// write 0 at the end.
    pub(super) fn count(&self, usage: &mut Usage) {
        let later = |before: &mut Option<u64>, now: Number| {
            if now.0.is_some_and(|now| now > 0) || before.is_none() {
                *before = now.0;
            }
        };
        later(&mut usage.input, self.input_tokens);
        later(&mut usage.output, self.output_tokens);
        later(&mut usage.cached, self.cache_read_input_tokens);
        later(&mut usage.cache_creation, self.cache_creation_input_tokens);
        if let Some(details) = &self.output_tokens_details {
            later(&mut usage.thinking, details.thinking_tokens);
        }
    }
}
