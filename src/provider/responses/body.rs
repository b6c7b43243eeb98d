//! The body of a Responses request, written straight from the conversation.
//!
//! Texts are borrowed; items that only the server understands go back byte for byte, in their order.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::format::{SCHEMA_NAME, is_strict};
use crate::quirks::{EffortForm, Want};
use crate::wire::{Outgoing, WireArguments, legal_name};
use steersman_base::message::{AssistantMessage, Message, Part, ToolCall};
use steersman_base::text::hex;
pub(super) use steersman_core::provider::registry::Thinking;
use steersman_core::provider::{Effort, ProviderError, Streaming, ToolSchema};

/// The longest id of a call that the dialect accepts, bytes. Other dialects have longer ones.
const CALL_ID_BYTES: usize = 64;
/// The longest name of a function that the dialect accepts, characters.
const NAME_CHARS: usize = 64;

#[derive(Serialize)]
struct Body<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<String>,
    input: Vec<Item<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    include: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<TextSettings<'a>>,
    store: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
}

#[derive(Serialize)]
struct TextSettings<'a> {
    format: TextFormat<'a>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum TextFormat<'a> {
    JsonSchema { name: &'static str, strict: bool, schema: &'a Value },
}

#[derive(Serialize)]
struct Reasoning {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Item<'a> {
    Message {
        role: &'static str,
        content: Content<'a>,
    },
    FunctionCall {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        call_id: Cow<'a, str>,
        name: Cow<'a, str>,
        arguments: String,
    },
    FunctionCallOutput {
        call_id: Cow<'a, str>,
        output: &'a str,
    },
    #[serde(untagged)]
    Opaque(&'a RawValue),
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(&'a str),
    Parts(Vec<ContentPart<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ContentPart<'a> {
    InputText { text: &'a str },
    InputImage { image_url: String },
}

#[derive(Serialize)]
struct WireTool<'a> {
    r#type: &'static str,
    name: Cow<'a, str>,
    description: &'a str,
    parameters: &'a Value,
    /// Always sent: this dialect treats a schema as strict by default.
    strict: bool,
}

/// Writes the body of a request.
pub(super) fn encode(outgoing: &Outgoing<'_>) -> Result<Vec<u8>, ProviderError> {
    let request = outgoing.request;
    let (instructions, rest) = instructions(request.messages());
    let mut input = Vec::with_capacity(rest.len());
    for message in rest {
        add(&mut input, message, outgoing);
    }
    let quirks = outgoing.quirks;
    let encrypted = outgoing.thinking() != Thinking::Never && !quirks.wants(Want::NoEncrypted);
    let tools: Vec<_> = outgoing.tools().iter().map(tool).collect();
    let format = |schema| TextFormat::JsonSchema { name: SCHEMA_NAME, strict: is_strict(schema), schema };
    let body = Body {
        model: request.model,
        instructions,
        input,
        parallel_tool_calls: (!tools.is_empty()).then_some(true),
        tools,
        reasoning: reasoning(outgoing),
        include: if encrypted { vec!["reasoning.encrypted_content"] } else { Vec::new() },
        temperature: request.answering.temperature.filter(|_| !quirks.wants(Want::NoTemperature)),
        max_output_tokens: request.answering.max_tokens,
        text: outgoing.schema().map(|schema| TextSettings { format: format(schema) }),
        store: false,
        stream: (request.streaming == Streaming::On).then_some(true),
    };
    serde_json::to_vec(&body).map_err(|error| ProviderError::InvalidHistory(error.to_string()))
}

/// Splits the instructions (the system texts at the start) from the rest. A conversation of nothing else keeps them as
/// input, which a request must have.
fn instructions(messages: &[Message]) -> (Option<String>, &[Message]) {
    let texts = messages.iter().map_while(|message| match message {
        Message::System { content } => Some(content.as_str()),
        Message::User { .. } | Message::Assistant(_) | Message::Tool { .. } => None,
    });
    let texts: Vec<&str> = texts.collect();
    match messages.get(texts.len()..) {
        Some(rest) if !rest.is_empty() && !texts.is_empty() => (Some(texts.join("\n\n")), rest),
        _ => (None, messages),
    }
}

fn add<'a>(input: &mut Vec<Item<'a>>, message: &'a Message, outgoing: &Outgoing<'a>) {
    match message {
        Message::System { content } => input.push(text_item("system", content)),
        Message::User { content, images, .. } => match outgoing.images(images) {
            ([], None) => input.push(text_item("user", content)),
            (images, note) => {
                let texts = [Some(content.as_str()), note].into_iter().flatten();
                let texts = texts.map(|text| ContentPart::InputText { text });
                let images = images.iter().map(|image| ContentPart::InputImage { image_url: image.data_url() });
                input.push(Item::Message { role: "user", content: Content::Parts(texts.chain(images).collect()) });
            }
        },
        Message::Tool { call_id, content, .. } => {
            input.push(Item::FunctionCallOutput { call_id: wire_id(call_id.as_str()), output: content });
        }
        Message::Assistant(reply) => match outgoing.parts(reply).and_then(|parts| original(reply, parts)) {
            Some(items) => input.extend(items),
            None => translate(input, reply),
        },
    }
}

fn text_item<'a>(role: &'static str, text: &'a str) -> Item<'a> {
    Item::Message { role, content: Content::Text(text) }
}

/// Returns a reply unchanged; `None` when its parts do not hold each call once.
fn original<'a>(reply: &'a AssistantMessage, parts: &'a [Part]) -> Option<Vec<Item<'a>>> {
    let mut open: Vec<usize> = (0..reply.tool_calls.len()).rev().collect();
    let mut items = Vec::with_capacity(parts.len());
    for part in parts {
        items.push(match part {
            Part::Opaque(json) => Item::Opaque(serde_json::from_str(json).ok()?),
            Part::Text { text, .. } => text_item("assistant", text),
            Part::Call { index, mark } => {
                open.pop().filter(|due| due == index)?;
                call(reply.tool_calls.get(*index)?, mark.as_deref())
            }
        });
    }
    open.is_empty().then_some(items)
}

fn translate<'a>(input: &mut Vec<Item<'a>>, reply: &'a AssistantMessage) {
    if !reply.content.is_empty() {
        input.push(text_item("assistant", &reply.content));
    }
    input.extend(reply.tool_calls.iter().map(|made| call(made, None)));
}

fn call<'a>(made: &'a ToolCall, id: Option<&'a str>) -> Item<'a> {
    Item::FunctionCall {
        id,
        call_id: wire_id(made.id.as_str()),
        name: wire_name(&made.name),
        arguments: WireArguments::from(&made.arguments).to_text(),
    }
}

fn tool(schema: &ToolSchema) -> WireTool<'_> {
    let ToolSchema { name, description, parameters } = schema;
    WireTool { r#type: "function", name: wire_name(name), description, parameters, strict: false }
}

/// Shortens an id that another dialect gave, the same way each time.
fn wire_id(id: &str) -> Cow<'_, str> {
    if id.len() <= CALL_ID_BYTES {
        return Cow::Borrowed(id);
    }
    let hash = Sha256::digest(id.as_bytes());
    Cow::Owned(format!("call_{}", hex(hash.get(..16).unwrap_or_default())))
}

/// Returns a name that this dialect allows.
fn wire_name(name: &str) -> Cow<'_, str> {
    legal_name(name, NAME_CHARS, "unknown")
}

/// Returns the reasoning member of a request. An unknown model gets only what the user asked for.
fn reasoning(outgoing: &Outgoing<'_>) -> Option<Reasoning> {
    let quirks = outgoing.quirks;
    let effort = outgoing.request.answering.effort;
    let applies = match outgoing.thinking() {
        Thinking::Never => false,
        Thinking::Unknown => effort.is_some(),
        Thinking::Effort | Thinking::Budget | Thinking::Adaptive => true,
    };
    let summary = effort != Some(Effort::Off) && !quirks.wants(Want::NoSummary);
    let reasoning = Reasoning {
        effort: effort.and_then(|effort| quirks.effort(effort)),
        summary: if summary { Some("auto") } else { None },
    };
    let says = reasoning.effort.is_some() || reasoning.summary.is_some();
    (applies && says && quirks.effort_form != EffortForm::Nowhere).then_some(reasoning)
}
