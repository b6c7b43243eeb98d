//! The body of a Messages request.
//!
//! Parts that stay the same between requests come first, the conversation last: the bytes up to a cache mark are
//! also the beginning of the next request.

use serde::Serialize;
use serde_json::Value;

use crate::anthropic::thinking::{ThinkingMembers, ThinkingSwitch};
use crate::anthropic::turns::{Block, CacheControl, Conversation, Turn};
use crate::quirks::Want;
use crate::wire::Outgoing;
use steersman_base::limits;
use steersman_core::provider::{ProviderError, Streaming, ToolSchema};

#[derive(Serialize)]
struct Body<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    model: &'a str,
    max_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<ThinkingSwitch>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Block<'a>>,
    messages: Vec<Turn<'a>>,
}

#[derive(Serialize)]
struct OutputConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<OutputFormat<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum OutputFormat<'a> {
    JsonSchema { schema: &'a Value },
}

#[derive(Serialize)]
struct WireTool<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    input_schema: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

/// Writes the body of a request.
pub(super) fn encode(outgoing: &Outgoing<'_>) -> Result<Vec<u8>, ProviderError> {
    let request = outgoing.request;
    let conversation = Conversation::new(outgoing);
    let limit = outgoing.card.and_then(|card| card.output_limit);
    let max_tokens = request.answering.max_tokens.or(limit).unwrap_or(limits::MESSAGES_TOKENS);
    let thinking_members = ThinkingMembers::new(outgoing, max_tokens, &conversation);
    let effort = thinking_members.effort;
    let format = outgoing.schema().map(|schema| OutputFormat::JsonSchema { schema });
    let body = Body {
        model: request.model,
        max_tokens,
        // A model that thinks accepts no other temperature than its default.
        temperature: request
            .answering
            .temperature
            .filter(|_| !thinking_members.thinks() && !outgoing.quirks.wants(Want::NoTemperature)),
        thinking: thinking_members.thinking,
        output_config: (effort.is_some() || format.is_some()).then_some(OutputConfig { effort, format }),
        stream: (request.streaming == Streaming::On).then_some(true),
        tools: tools(outgoing.tools()),
        system: conversation.system,
        messages: conversation.turns,
    };
    serde_json::to_vec(&body).map_err(|error| ProviderError::InvalidHistory(error.to_string()))
}

fn tools(schemas: &[ToolSchema]) -> Vec<WireTool<'_>> {
    let mut tools: Vec<_> = schemas.iter().map(tool).collect();
    if let Some(last) = tools.last_mut() {
        last.cache_control = Some(CacheControl::Ephemeral);
    }
    tools
}

fn tool(ToolSchema { name, description, parameters }: &ToolSchema) -> WireTool<'_> {
    WireTool { name, description, input_schema: parameters, cache_control: None }
}
