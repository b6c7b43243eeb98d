//! The wire form of Responses, read as leniently as real servers need.
//!
//! Read by the assembler only. An item is kept as raw JSON until its kind is known, so that it can go back byte for
//! byte; an unreadable item is no error.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::chat::{Dollars, Number, Text};
use crate::error_body::ErrorBody;
use crate::usage::{self, TokenCounts};
use steersman_base::event::Usage;
use steersman_core::provider::{ProviderError, UsageScope};

/// An event of a stream.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Event<'a> {
    #[serde(rename = "type")]
    pub kind: Text<'a>,
    pub item_id: Text<'a>,
    pub output_index: Number,
    pub content_index: Number,
    pub summary_index: Number,
    pub delta: Text<'a>,
    /// The whole text, in a `.done` event.
    pub text: Text<'a>,
    pub refusal: Text<'a>,
    pub arguments: Text<'a>,
    pub part: Option<&'a RawValue>,
    pub item: Option<&'a RawValue>,
    pub response: Option<&'a RawValue>,
    pub error: Option<&'a RawValue>,
}

/// A response: the state of the whole reply.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Response<'a> {
    pub model: Text<'a>,
    pub status: Text<'a>,
    pub output: Option<Vec<&'a RawValue>>,
    pub error: Option<&'a RawValue>,
    pub incomplete_details: Option<IncompleteDetails<'a>>,
    pub usage: Option<WireUsage>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct IncompleteDetails<'a> {
    pub reason: Text<'a>,
}

/// An item of the output.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Item<'a> {
    #[serde(rename = "type")]
    pub kind: Text<'a>,
    pub id: Text<'a>,
    pub call_id: Text<'a>,
    pub name: Text<'a>,
    pub arguments: Text<'a>,
    pub content: Option<Vec<ItemPart<'a>>>,
    pub summary: Option<Vec<ItemPart<'a>>>,
    pub encrypted_content: Text<'a>,
    pub phase: Text<'a>,
}

impl<'a> Item<'a> {
    /// Reads an item; `None` without a kind.
    pub(super) fn parse(raw: &'a RawValue) -> Option<Self> {
        // Serde would also read a list as an item, member by member.
        let json = Some(raw.get()).filter(|json| json.starts_with('{'))?;
        serde_json::from_str(json).ok().filter(|item: &Self| !item.kind.0.is_empty())
    }
}

/// A part of a message or of thinking.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct ItemPart<'a> {
    pub text: Text<'a>,
    pub refusal: Text<'a>,
}

/// The token counts.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireUsage {
    input_tokens: Number,
    output_tokens: Number,
    input_tokens_details: Option<InputDetails>,
    output_tokens_details: Option<OutputDetails>,
    total_tokens: Number,
    /// `OpenRouter`: US dollars.
    cost: Dollars,
    /// xAI.
    cost_in_usd_ticks: Number,
    /// xAI.
    num_server_side_tools_used: Number,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct InputDetails {
    cached_tokens: Number,
    cache_write_tokens: Number,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct OutputDetails {
    reasoning_tokens: Number,
}

impl WireUsage {
    /// Converts to parts that do not overlap.
    pub(super) fn usage(&self) -> Usage {
        let details = self.input_tokens_details.as_ref();
        let counts = TokenCounts {
            prompt: self.input_tokens,
            answer: self.output_tokens,
            cached: details.map(|details| details.cached_tokens).unwrap_or_default(),
            written: details.map(|details| details.cache_write_tokens).unwrap_or_default(),
            thinking: self.output_tokens_details.as_ref().map(|details| details.reasoning_tokens).unwrap_or_default(),
            total: self.total_tokens,
        };
        Usage { cost_nanos: usage::cost_nanos(self.cost, self.cost_in_usd_ticks), ..counts.usage() }
    }

    /// Returns whether the usage covers one request or several.
    pub(super) fn scope(&self) -> UsageScope {
        usage::scope(None, self.num_server_side_tools_used)
    }
}

/// Makes the error from an `error` event, a failed response, or its `error` member alone.
pub(super) fn reported(json: &str) -> ProviderError {
    let value: Value = serde_json::from_str(json).unwrap_or_default();
    // The `type` of the event itself is not part of the error.
    let body = match value.get("error").filter(|error| !error.is_null()) {
        Some(error) => ErrorBody::from_value(error),
        None => ErrorBody::parse(json),
    };
    body.reported()
}
