//! The Gemini dialect: what is asked, what comes back, what goes back.

mod replies;
mod requests;
mod schemas;
mod wire;

use serde_json::{Value, json};
use steersman_base::dialect::Dialect;
use steersman_base::message::{Arguments, AssistantMessage, Message, Original, ToolCall};
use steersman_core::provider::{
    Answering, Card, ChatRequest, ChatTransport, Piece, ProviderError, Registry, Reply, Streaming, Thinking, ToolSchema,
};
use steersman_provider::sse::Frame;
use steersman_provider::{Http, HttpProvider};

use crate::support::contents;

const SERVER: &str = "http://127.0.0.1:9";

fn transport(base: &str, model: &str) -> ChatTransport {
    ChatTransport {
        api_base: Some(base.to_owned()),
        model: Some(model.to_owned()),
        provider: Some("gemini".to_owned()),
        ..ChatTransport::default()
    }
}

fn provider(model: &str, thinking: Option<Thinking>) -> HttpProvider {
    let card = |thinking| (model.to_owned(), Card { thinking, ..Card::default() });
    let registry: Registry = thinking.map(card).into_iter().collect();
    HttpProvider::new(Http::default(), &transport(SERVER, model)).unwrap().with_registry(registry.into())
}

/// Writes the body of a request, which is checked.
fn body_with(
    model: &str,
    thinking: Option<Thinking>,
    messages: &[Message],
    tools: &[ToolSchema],
    answering: Answering,
) -> Value {
    let request = ChatRequest::new(model, messages, tools, Streaming::On).unwrap().answering(answering);
    let body: Value = serde_json::from_slice(&provider(model, thinking).body(&request).unwrap()).unwrap();
    assert_eq!(contents::violation(&body), None, "{body:#}");
    body
}

pub fn body(messages: &[Message]) -> Value {
    body_with("m", None, messages, &[], Answering::default())
}

fn made(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: id.into(), name: name.to_owned(), arguments: Arguments::parse(arguments) }
}

fn asked(content: &str, calls: &[ToolCall]) -> AssistantMessage {
    let content = content.to_owned();
    AssistantMessage { content, tool_calls: calls.to_vec(), ..AssistantMessage::default() }
}

/// Puts a reply into the history, as the course and the agent do it.
fn kept(reply: Reply, model: &str) -> Message {
    let original = reply.original.map(|original| Original {
        server: format!("{SERVER}/v1beta"),
        model: model.to_owned(),
        ..original
    });
    let Reply { content, thinking, tool_calls, .. } = reply;
    Message::Assistant(AssistantMessage { content, thinking, tool_calls, interrupted: false, original })
}

type Outcome = (Result<Reply, ProviderError>, Vec<(String, String)>);

/// Feeds chunks and returns the reply and the pieces `(thinking, text)` that brought something.
fn play(chunks: &[Value]) -> Outcome {
    let mut assembler = HttpProvider::assembler(Dialect::Gemini).unwrap();
    let mut pieces = Vec::new();
    for chunk in chunks {
        let data = chunk.to_string();
        match assembler.take_frame(Frame::Event { name: "", id: "", data: &data }) {
            Ok(Some(Piece::Chunk { thinking, text })) if !(thinking.is_empty() && text.is_empty()) => {
                pieces.push((thinking, text));
            }
            Ok(_) => {}
            Err(error) => return (Err(error), pieces),
        }
    }
    (assembler.finish(), pieces)
}

fn reply(chunks: &[Value]) -> Reply {
    let (reply, pieces) = play(chunks);
    let reply = reply.unwrap();
    // What is shown is what is kept.
    assert_eq!(pieces.iter().map(|(_, text)| text.as_str()).collect::<String>(), reply.content);
    assert_eq!(pieces.iter().map(|(thinking, _)| thinking.as_str()).collect::<String>(), reply.thinking);
    reply
}

#[allow(clippy::needless_pass_by_value)] // Callers write `json!` in place.
fn parts(parts: Value) -> Value {
    json!({"candidates": [{"content": {"parts": parts, "role": "model"}, "index": 0}], "modelVersion": "m-1"})
}

fn text(text: &str) -> Value {
    parts(json!([{"text": text}]))
}

fn end(reason: &str) -> Value {
    json!({"candidates": [{"content": {"parts": [{"text": ""}], "role": "model"}, "finishReason": reason, "index": 0}],
        "usageMetadata": {"promptTokenCount": 100, "cachedContentTokenCount": 60, "candidatesTokenCount": 10,
            "thoughtsTokenCount": 20, "totalTokenCount": 130}})
}

fn stop() -> Value {
    end("STOP")
}

fn shown(calls: &[ToolCall]) -> Vec<String> {
    calls.iter().map(|call| format!("{} {} {}", call.id, call.name, call.arguments)).collect()
}
