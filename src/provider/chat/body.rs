//! The body of a chat-completions request, written straight from the conversation.
//!
//! Texts are borrowed; what a strict server needs differently is changed here and nowhere else.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use crate::message::Message;
use crate::provider::quirks::Quirks;
use crate::provider::wire::Outgoing;
use crate::provider::{ProviderError, Streaming, ToolSchema};

/// Stands between a tool result and a user message where a template does not let them be neighbours.
const NOTED: &str = "(noted)";

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
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    System,
    User,
    Assistant,
    Tool,
}

#[derive(Serialize)]
struct WireMessage<'a> {
    role: Role,
    content: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<WireCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
}

#[derive(Serialize)]
struct WireCall<'a> {
    id: &'a str,
    r#type: &'static str,
    function: WireFunction<'a>,
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
    let Outgoing { request, quirks, .. } = *outgoing;
    let messages: Vec<_> = request.messages().iter().map(|message| wire(message, quirks)).collect();
    let streams = request.streaming == Streaming::On;
    let body = Body {
        model: request.model,
        messages: if quirks.strict_roles { alternating(messages) } else { messages },
        tools: request.tools.iter().map(tool).collect(),
        stream: streams.then_some(true),
        stream_options: (streams && !quirks.no_stream_options).then_some(StreamOptions { include_usage: true }),
    };
    serde_json::to_vec(&body).map_err(|error| ProviderError::InvalidHistory(error.to_string()))
}

fn wire(message: &Message, quirks: Quirks) -> WireMessage<'_> {
    match message {
        Message::System { content } => text(Role::System, content),
        Message::User { content } => text(Role::User, content),
        Message::Tool { call_id, content, .. } => {
            WireMessage { tool_call_id: Some(call_id.as_str()), ..text(Role::Tool, content) }
        }
        Message::Assistant(reply) => {
            let call = |call: &'_ crate::message::ToolCall| call.arguments.to_string();
            let calls = reply.tool_calls.iter().map(|made| WireCall {
                id: made.id.as_str(),
                r#type: "function",
                function: WireFunction { name: &made.name, arguments: call(made) },
            });
            let mut wire = text(Role::Assistant, &reply.content);
            wire.tool_calls = calls.collect();
            // Calls without text: null is what the official clients send; an empty text makes some servers drop the calls.
            if reply.content.is_empty() && !wire.tool_calls.is_empty() {
                wire.content = None;
            }
            wire.reasoning_content = quirks.reasoning_back.then_some(reply.thinking.as_str());
            wire
        }
    }
}

fn text(role: Role, content: &str) -> WireMessage<'_> {
    let content = Some(Cow::Borrowed(content));
    WireMessage { role, content, reasoning_content: None, tool_calls: Vec::new(), tool_call_id: None }
}

fn tool(schema: &ToolSchema) -> WireTool<'_> {
    let function = WireSchema { name: &schema.name, description: &schema.description, parameters: &schema.parameters };
    WireTool { r#type: "function", function }
}

/// Makes user and assistant alternate: neighbours of one role are joined, `(noted)` stands between a result and a
/// user message, and system text after the start becomes a part of the user message beside it. (Beside, not always
/// the next one: a text that an extension put behind the newest user message has no next one.)
fn alternating(messages: Vec<WireMessage<'_>>) -> Vec<WireMessage<'_>> {
    let mut strict: Vec<WireMessage<'_>> = Vec::with_capacity(messages.len());
    for mut message in messages {
        let begun = strict.iter().any(|before| before.role != Role::System);
        if message.role == Role::System && begun {
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
                strict.push(text(Role::Assistant, NOTED));
            }
            strict.push(message);
        }
    }
    strict
}

fn join<'a>(last: &mut WireMessage<'a>, next: WireMessage<'a>) {
    let parts = [last.content.take(), next.content];
    let joined = parts.iter().flatten().map(AsRef::as_ref).filter(|part| !part.is_empty()).collect::<Vec<_>>();
    last.content =
        if joined.is_empty() && !next.tool_calls.is_empty() { None } else { Some(joined.join("\n\n").into()) };
    last.tool_calls = next.tool_calls;
    last.reasoning_content = last.reasoning_content.filter(|text| !text.is_empty()).or(next.reasoning_content);
}
