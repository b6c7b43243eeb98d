//! The Messages dialect: requests that its servers take, replies in all that they send, and both over HTTP.

mod cache;
mod over_http;
mod replies;
mod requests;
mod signed;

use std::sync::Arc;

use serde_json::Value;
use steersman_base::dialect::Dialect;
use steersman_base::message::{Arguments, AssistantMessage, Message, ToolCall};
use steersman_core::provider::{
    Answering, Card, ChatRequest, ChatTransport, Piece, ProviderError, Registry, Reply, Streaming, ToolSchema,
};
use steersman_provider::sse::Frame;
use steersman_provider::{Http, HttpProvider};

use crate::support::messages::violation;

const SERVER: &str = "https://api.anthropic.com/v1";

fn transport(base: Option<&str>) -> ChatTransport {
    let provider = Some("anthropic".to_owned());
    ChatTransport { provider, api_base: base.map(str::to_owned), ..ChatTransport::default() }
}

fn provider(card: Option<Card>) -> HttpProvider {
    let registry: Registry = card.into_iter().map(|card| ("m".to_owned(), card)).collect();
    HttpProvider::new(Http::default(), &transport(None)).unwrap().with_registry(Arc::new(registry))
}

/// Writes the body of a request; checks it as the server would.
pub fn body(messages: &[Message]) -> Value {
    body_with(messages, &[], Answering::default(), None)
}

fn body_with(messages: &[Message], tools: &[ToolSchema], answering: Answering, card: Option<Card>) -> Value {
    let body: Value = serde_json::from_str(&bytes(messages, tools, answering, card)).unwrap();
    assert_eq!(violation(&body), None, "{body:#}");
    body
}

fn bytes(messages: &[Message], tools: &[ToolSchema], answering: Answering, card: Option<Card>) -> String {
    let request = ChatRequest::new("m", messages, tools, Streaming::On).unwrap().answering(answering);
    String::from_utf8(provider(card).body(&request).unwrap()).unwrap()
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: id.into(), name: name.to_owned(), arguments: Arguments::parse(arguments) }
}

fn says(content: &str, tool_calls: Vec<ToolCall>) -> Message {
    Message::Assistant(AssistantMessage { content: content.to_owned(), tool_calls, ..AssistantMessage::default() })
}

/// Puts a reply into a history, as the agent does.
fn kept(reply: Reply, server: &str, model: &str) -> Message {
    let original = reply.original.map(|original| steersman_base::message::Original {
        server: server.to_owned(),
        model: model.to_owned(),
        ..original
    });
    let Reply { content, thinking, tool_calls, .. } = reply;
    Message::Assistant(AssistantMessage { content, thinking, tool_calls, interrupted: false, original })
}

type Outcome = (Result<Reply, ProviderError>, Vec<(String, String)>);

fn feed(frames: &[Frame<'_>]) -> Outcome {
    let mut assembler = HttpProvider::assembler(Dialect::Anthropic).unwrap();
    let mut pieces = Vec::new();
    for frame in frames {
        match assembler.take_frame(*frame) {
            Ok(Some(Piece::Chunk { thinking, text })) => pieces.push((thinking, text)),
            Ok(_) => {}
            Err(error) => return (Err(error), pieces),
        }
    }
    (assembler.finish(), pieces)
}

fn events(events: impl IntoIterator<Item = Value>) -> Outcome {
    let events: Vec<(String, String)> = events
        .into_iter()
        .map(|event| (event["type"].as_str().unwrap_or_default().to_owned(), event.to_string()))
        .collect();
    let frames: Vec<Frame<'_>> = events.iter().map(|(name, data)| Frame::Event { name, id: "", data }).collect();
    feed(&frames)
}

fn shown(reply: &Reply) -> Vec<String> {
    reply.tool_calls.iter().map(|call| format!("{} {} {}", call.id, call.name, call.arguments)).collect()
}
