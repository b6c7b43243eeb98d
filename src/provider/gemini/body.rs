//! The body of a Gemini request, written straight from the conversation.
//!
//! User and model alternate: adjacent messages of one role are one content, and injected messages follow the results of
//! their batch. A part with a signature goes back unchanged.

use std::borrow::Cow;
use std::collections::VecDeque;

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::gemini::chunk::PartMark;
use crate::gemini::schema::{DeclaredParameters, declare};
use crate::gemini::thinking::{self, ThinkingConfig, ThinkingControl};
use crate::quirks::Want;
use crate::wire::{Outgoing, WireArguments};
use steersman_base::image::ImageType;
use steersman_base::message::{AssistantMessage, Message, Part, ToolCall};
use steersman_core::provider::{ProviderError, ToolSchema};

/// The first turn of a conversation that a model opens: it must be the user's.
const OPENING: &str = "(the conversation goes on)";
/// The placeholder that Google accepts as the signature of a call that another model made.
const FOREIGN: &str = "skip_thought_signature_validator";
/// The beginning of the result of a failed call.
const FAILED: &str = "Error: ";
/// The longest name of a function that the dialect accepts, characters.
const NAME_CHARS: usize = 64;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Instruction<'a>>,
    contents: Vec<Content<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tools<'a>>,
    #[serde(skip_serializing_if = "GenerationConfig::is_empty")]
    generation_config: GenerationConfig<'a>,
}

#[derive(Serialize)]
struct Instruction<'a> {
    parts: Vec<WirePart<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    User,
    Model,
}

#[derive(Serialize)]
struct Content<'a> {
    role: Role,
    parts: Vec<WirePart<'a>>,
}

#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum WirePart<'a> {
    Text {
        text: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        thought_signature: Cow<'a, str>,
    },
    Call {
        function_call: FunctionCall<'a>,
        #[serde(skip_serializing_if = "str::is_empty")]
        thought_signature: Cow<'a, str>,
    },
    Result {
        function_response: FunctionResponse<'a>,
    },
    Image {
        inline_data: InlineData<'a>,
    },
    Opaque(&'a RawValue),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InlineData<'a> {
    mime_type: ImageType,
    data: &'a str,
}

#[derive(Serialize)]
struct FunctionCall<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    id: Cow<'a, str>,
    name: Cow<'a, str>,
    args: WireArguments<'a>,
}

#[derive(Serialize)]
struct FunctionResponse<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    id: Cow<'a, str>,
    name: Cow<'a, str>,
    response: FunctionOutcome<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum FunctionOutcome<'a> {
    Output(&'a str),
    Error(&'a str),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools<'a> {
    function_declarations: Vec<Declaration<'a>>,
}

#[derive(Serialize)]
struct Declaration<'a> {
    name: Cow<'a, str>,
    description: &'a str,
    #[serde(flatten)]
    parameters: Option<DeclaredParameters<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GenerationConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<ThinkingConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_json_schema: Option<&'a Value>,
}

impl GenerationConfig<'_> {
    fn is_empty(&self) -> bool {
        self.temperature.is_none()
            && self.max_output_tokens.is_none()
            && self.thinking_config.is_none()
            && self.response_json_schema.is_none()
    }
}

/// Writes the body of a request.
pub(super) fn encode(outgoing: &Outgoing<'_>) -> Result<Vec<u8>, ProviderError> {
    let request = outgoing.request;
    let messages = request.messages();
    let leading = messages.iter().take_while(|message| matches!(message, Message::System { .. })).count();
    // A request needs contents: a conversation of system texts alone is sent as a user's.
    let leading = if leading == messages.len() { 0 } else { leading };
    let (instruction, rest) = messages.split_at_checked(leading).unwrap_or((&[], messages));
    let mut contents = ContentsBuilder { list: Vec::new(), open: VecDeque::new(), outgoing };
    for message in rest {
        contents.add(message);
    }
    let instruction: Vec<_> = instruction
        .iter()
        .filter_map(|message| match message {
            Message::System { content } => Some(text(content)),
            Message::User { .. } | Message::Assistant(_) | Message::Tool { .. } => None,
        })
        .collect();
    let schema = outgoing.schema();
    let declarations: Vec<_> = outgoing.tools().iter().map(declaration).collect();
    let tools = if declarations.is_empty() { Vec::new() } else { vec![Tools { function_declarations: declarations }] };
    let body = Body {
        system_instruction: (!instruction.is_empty()).then_some(Instruction { parts: instruction }),
        contents: contents.list,
        tools,
        generation_config: GenerationConfig {
            temperature: request.answering.temperature.filter(|_| !outgoing.quirks.wants(Want::NoTemperature)),
            max_output_tokens: request.answering.max_tokens,
            thinking_config: thinking::config(outgoing),
            response_mime_type: schema.map(|_| "application/json"),
            response_json_schema: schema,
        },
    };
    serde_json::to_vec(&body).map_err(|error| ProviderError::InvalidHistory(error.to_string()))
}

struct ContentsBuilder<'a, 'o> {
    list: Vec<Content<'a>>,
    /// The ids that Gemini gave to the calls without a result, empty where it gave none.
    open: VecDeque<Cow<'a, str>>,
    outgoing: &'o Outgoing<'a>,
}

impl<'a> ContentsBuilder<'a, '_> {
    fn add(&mut self, message: &'a Message) {
        match message {
            Message::System { content } => self.push(Role::User, text(content)),
            Message::User { content, images, .. } => {
                let (images, note) = self.outgoing.images(images);
                // As the dialect's makers advise: the text behind what it is about.
                for image in images {
                    let inline_data = InlineData { mime_type: image.media_type, data: image.base64() };
                    self.push(Role::User, WirePart::Image { inline_data });
                }
                self.push(Role::User, text(content));
                if let Some(note) = note {
                    self.push(Role::User, text(note));
                }
            }
            Message::Tool { name, content, .. } => {
                let id = self.open.pop_front().unwrap_or_default();
                let response = match content.strip_prefix(FAILED) {
                    Some(words) => FunctionOutcome::Error(words),
                    None => FunctionOutcome::Output(content),
                };
                let function_response = FunctionResponse { id, name: wire_name(name), response };
                self.push(Role::User, WirePart::Result { function_response });
            }
            Message::Assistant(reply) => {
                let original = self.outgoing.parts(reply).and_then(|parts| original(reply, parts));
                for part in original.unwrap_or_else(|| translate(reply, self.outgoing)) {
                    if let WirePart::Call { function_call, .. } = &part {
                        self.open.push_back(function_call.id.clone());
                    }
                    self.push(Role::Model, part);
                }
            }
        }
    }

    fn push(&mut self, role: Role, part: WirePart<'a>) {
        if self.list.is_empty() && role == Role::Model {
            self.list.push(Content { role: Role::User, parts: vec![text(OPENING)] });
        }
        match self.list.last_mut().filter(|last| last.role == role) {
            Some(last) => last.parts.push(part),
            None => self.list.push(Content { role, parts: vec![part] }),
        }
    }
}

/// Returns a reply unchanged; `None` when its parts do not hold each call once.
fn original<'a>(reply: &'a AssistantMessage, parts: &'a [Part]) -> Option<Vec<WirePart<'a>>> {
    let mut due = reply.tool_calls.iter().enumerate();
    let mut wire = Vec::with_capacity(parts.len());
    for part in parts {
        wire.push(match part {
            Part::Opaque(json) => WirePart::Opaque(serde_json::from_str(json).ok()?),
            Part::Text { text, mark } => {
                WirePart::Text { text, thought_signature: PartMark::parse(mark.as_deref()).thought_signature }
            }
            Part::Call { index, mark } => {
                let (_, made) = due.next().filter(|(at, _)| at == index)?;
                call(made, PartMark::parse(mark.as_deref()))
            }
        });
    }
    due.next().is_none().then_some(wire)
}

/// Writes a reply of another model. Newer models require a signature on the first call of each turn.
fn translate<'a>(reply: &'a AssistantMessage, outgoing: &Outgoing<'_>) -> Vec<WirePart<'a>> {
    let wants = thinking::control(outgoing) == ThinkingControl::Level || outgoing.quirks.wants(Want::SignedCalls);
    let calls = reply.tool_calls.iter().enumerate().map(|(at, made)| {
        let thought_signature = Cow::Borrowed(if at == 0 && wants { FOREIGN } else { "" });
        call(made, PartMark { thought_signature, ..PartMark::default() })
    });
    let said = (!reply.content.is_empty()).then(|| text(&reply.content));
    said.into_iter().chain(calls).collect()
}

fn call<'a>(made: &'a ToolCall, mark: PartMark<'a>) -> WirePart<'a> {
    let function_call =
        FunctionCall { id: mark.id, name: wire_name(&made.name), args: WireArguments::from(&made.arguments) };
    WirePart::Call { function_call, thought_signature: mark.thought_signature }
}

fn text(text: &str) -> WirePart<'_> {
    WirePart::Text { text, thought_signature: Cow::Borrowed("") }
}

fn declaration(schema: &ToolSchema) -> Declaration<'_> {
    let ToolSchema { name, description, parameters } = schema;
    Declaration { name: wire_name(name), description, parameters: declare(parameters) }
}

/// Replaces characters that names must not have: a model may have called a tool that does not exist, by any name.
fn wire_name(name: &str) -> Cow<'_, str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if begins && name.len() <= NAME_CHARS && name.chars().all(fits) {
        return Cow::Borrowed(name);
    }
    let replaced = name.chars().map(|c| if fits(c) { c } else { '_' });
    let start = if begins { None } else { Some('_') };
    Cow::Owned(start.into_iter().chain(replaced).take(NAME_CHARS).collect())
}
