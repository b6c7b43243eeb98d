//! The body of a chat-completions request, written straight from the conversation.
//!
//! Texts are borrowed; changes for strict servers are made here and nowhere else.

use std::borrow::Cow;

use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::chat::effort::EffortMembers;
use crate::chat::ids;
use crate::format::{SCHEMA_NAME, is_strict};
use crate::quirks::{Quirks, TokenLimit, Want};
use crate::wire::{Outgoing, WireArguments};
use steersman_base::image::Image;
use steersman_base::message::{AssistantMessage, Message, Part};
use steersman_core::provider::{ProviderError, Streaming, ToolSchema};

/// The message between a tool result and a user message, for templates that do not allow one after the other.
const NOTED_REPLY: &str = "(noted)";

/// The placeholder that Google defines for the signature of a call that another model made.
const UNSIGNED_CALL: &str = r#"{"google":{"thought_signature":"skip_thought_signature_validator"}}"#;

#[derive(Serialize)]
struct Body<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    model: &'a str,
    messages: Vec<WireMessage<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
    #[serde(flatten)]
    effort: EffortMembers,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ResponseFormat<'a> {
    JsonSchema { json_schema: NamedSchema<'a> },
}

#[derive(Serialize)]
struct NamedSchema<'a> {
    name: &'static str,
    strict: bool,
    schema: &'a Value,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    System,
    Developer,
    User,
    Assistant,
    Tool,
}

#[derive(Serialize)]
struct WireMessage<'a> {
    role: Role,
    content: Option<Content<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reasoning_details: Vec<&'a RawValue>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<WireCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<Cow<'a, str>>,
}

/// What a message says: a text, and beside it images.
struct Content<'a> {
    text: Cow<'a, str>,
    images: Vec<&'a Image>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ContentPart<'a> {
    Text { text: &'a str },
    ImageUrl { image_url: ImageUrl },
}

#[derive(Serialize)]
struct ImageUrl {
    url: String,
}

impl Serialize for Content<'_> {
    /// Writes a text alone as a text: many servers take nothing else.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.images.is_empty() {
            return self.text.serialize(serializer);
        }
        let images =
            self.images.iter().map(|image| ContentPart::ImageUrl { image_url: ImageUrl { url: image.data_url() } });
        serializer.collect_seq(std::iter::once(ContentPart::Text { text: &self.text }).chain(images))
    }
}

#[derive(Serialize)]
struct WireCall<'a> {
    id: Cow<'a, str>,
    r#type: &'static str,
    function: WireFunction<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_content: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct WireFunction<'a> {
    name: &'a str,
    arguments: String,
}

#[derive(Serialize)]
struct WireTool<'a> {
    r#type: &'static str,
    function: WireSchema<'a>,
}

#[derive(Serialize)]
struct WireSchema<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

/// Writes the body of a request.
pub(super) fn encode(outgoing: &Outgoing<'_>) -> Result<Vec<u8>, ProviderError> {
    let Outgoing { request, quirks, card, .. } = *outgoing;
    let messages: Vec<_> = request.messages().iter().map(|message| wire(message, outgoing)).collect();
    let streams = request.streaming == Streaming::On;
    let answering = request.answering;
    let limited = |limit: TokenLimit| answering.max_tokens.filter(|_| quirks.limit == limit);
    let body = Body {
        model: request.model,
        messages: if quirks.wants(Want::StrictRoles) { alternating(messages) } else { messages },
        tools: outgoing.tools().iter().map(tool).collect(),
        stream: streams.then_some(true),
        stream_options: (streams && !quirks.wants(Want::NoStreamOptions))
            .then_some(StreamOptions { include_usage: true }),
        max_tokens: limited(TokenLimit::MaxTokens),
        max_completion_tokens: limited(TokenLimit::MaxCompletionTokens),
        temperature: answering.temperature.filter(|_| !quirks.wants(Want::NoTemperature)),
        response_format: outgoing.schema().map(|schema| ResponseFormat::JsonSchema {
            json_schema: NamedSchema { name: SCHEMA_NAME, strict: is_strict(schema), schema },
        }),
        effort: EffortMembers::new(answering, quirks, card),
    };
    serde_json::to_vec(&body).map_err(|error| ProviderError::InvalidHistory(error.to_string()))
}

fn wire<'a>(message: &'a Message, outgoing: &Outgoing<'a>) -> WireMessage<'a> {
    match message {
        Message::System { content } => {
            let developer = outgoing.quirks.wants(Want::Developer);
            text(if developer { Role::Developer } else { Role::System }, content)
        }
        Message::User { content, images, .. } => {
            let (images, note) = outgoing.images(images);
            let text = note.map_or(Cow::Borrowed(content.as_str()), |note| format!("{content}\n\n{note}").into());
            WireMessage {
                content: Some(Content { text, images: images.iter().collect() }),
                ..self::text(Role::User, "")
            }
        }
        Message::Tool { call_id, content, .. } => {
            WireMessage { tool_call_id: Some(id(call_id.as_str(), outgoing.quirks)), ..text(Role::Tool, content) }
        }
        Message::Assistant(reply) => assistant(reply, outgoing),
    }
}

fn assistant<'a>(reply: &'a AssistantMessage, outgoing: &Outgoing<'a>) -> WireMessage<'a> {
    let quirks = outgoing.quirks;
    let parts = outgoing.parts(reply).unwrap_or_default();
    let mark = |at: usize| {
        let own = parts.iter().find_map(|part| match part {
            Part::Call { index, mark } if *index == at => mark.as_deref(),
            Part::Call { .. } | Part::Opaque(_) | Part::Text { .. } => None,
        });
        own.or_else(|| (at == 0 && quirks.wants(Want::SignedCalls)).then_some(UNSIGNED_CALL))
    };
    let calls = reply.tool_calls.iter().enumerate().map(|(at, call)| WireCall {
        id: id(call.id.as_str(), quirks),
        r#type: "function",
        function: WireFunction { name: &call.name, arguments: WireArguments::from(&call.arguments).to_text() },
        extra_content: mark(at).and_then(raw),
    });
    let details = parts.iter().filter(|_| !quirks.wants(Want::NoDetails)).filter_map(|part| match part {
        Part::Opaque(json) => raw(json),
        Part::Call { .. } | Part::Text { .. } => None,
    });
    let mut wire = text(Role::Assistant, &reply.content);
    wire.tool_calls = calls.collect();
    // Calls without text: null is what the official clients send; an empty text makes some servers drop the calls.
    if reply.content.is_empty() && !wire.tool_calls.is_empty() {
        wire.content = None;
    }
    wire.reasoning_content = quirks.wants(Want::ReasoningBack).then_some(reply.thinking.as_str());
    wire.reasoning_details = details.collect();
    wire
}

fn id(id: &str, quirks: Quirks) -> Cow<'_, str> {
    if quirks.wants(Want::ShortIds) { ids::short(id) } else { Cow::Borrowed(id) }
}

/// Parses JSON that is sent unchanged.
fn raw(json: &str) -> Option<&RawValue> {
    serde_json::from_str(json).ok()
}

fn text(role: Role, content: &str) -> WireMessage<'_> {
    let content = Some(Content { text: Cow::Borrowed(content), images: Vec::new() });
    WireMessage {
        role,
        content,
        reasoning_content: None,
        reasoning_details: Vec::new(),
        tool_calls: Vec::new(),
        tool_call_id: None,
    }
}

fn tool(schema: &ToolSchema) -> WireTool<'_> {
    let function = WireSchema { name: &schema.name, description: &schema.description, parameters: &schema.parameters };
    WireTool { r#type: "function", function }
}

/// Makes user and assistant alternate: adjacent messages of one role are joined, `(noted)` is put between a result
/// and a user message, and system text after the start becomes a part of the adjacent user message, which is the
/// one before it when an extension appended the text to the newest message.
fn alternating(messages: Vec<WireMessage<'_>>) -> Vec<WireMessage<'_>> {
    let mut strict: Vec<WireMessage<'_>> = Vec::with_capacity(messages.len());
    for mut message in messages {
        let is_system = |role: Role| matches!(role, Role::System | Role::Developer);
        let begun = strict.iter().any(|before| !is_system(before.role));
        if is_system(message.role) && begun {
            message.role = Role::User;
        }
        let Some(last) = strict.last_mut() else {
            strict.push(message);
            continue;
        };
        if last.role == message.role && message.role != Role::Tool && last.tool_calls.is_empty() {
            join(last, message);
        } else {
            if last.role == Role::Tool && message.role == Role::User {
                strict.push(text(Role::Assistant, NOTED_REPLY));
            }
            strict.push(message);
        }
    }
    strict
}

fn join<'a>(last: &mut WireMessage<'a>, next: WireMessage<'a>) {
    let parts = [last.content.take(), next.content];
    let joined = parts.iter().flatten().map(|part| &*part.text).filter(|part| !part.is_empty()).collect::<Vec<_>>();
    let text = joined.join("\n\n").into();
    let is_empty = joined.is_empty();
    let images: Vec<_> = parts.into_iter().flatten().flat_map(|part| part.images).collect();
    last.content = if is_empty && images.is_empty() && !next.tool_calls.is_empty() {
        None
    } else {
        Some(Content { text, images })
    };
    last.tool_calls = next.tool_calls;
    last.reasoning_details.extend(next.reasoning_details);
    last.reasoning_content = last.reasoning_content.filter(|text| !text.is_empty()).or(next.reasoning_content);
}
