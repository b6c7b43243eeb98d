//! The Responses dialect: what is asked, what comes back, what goes back.

mod endings;
mod random_streams;
mod replies;
mod requests;
mod wire;

use serde_json::{Value, json};
use steersman_base::dialect::Dialect;
use steersman_base::message::{Arguments, AssistantMessage, Message, Original, ToolCall};
use steersman_core::provider::{
    Answering, Card, ChatRequest, ChatTransport, Piece, ProviderError, Registry, Reply, Streaming, Thinking, ToolSchema,
};
use steersman_provider::sse::Frame;
use steersman_provider::{Http, HttpProvider};

use crate::support::items;

const SERVER: &str = "http://127.0.0.1:9";

fn transport(base: &str) -> ChatTransport {
    ChatTransport {
        api_base: Some(base.to_owned()),
        model: Some("m".to_owned()),
        provider: Some("openai-responses".to_owned()),
        ..ChatTransport::default()
    }
}

fn provider(thinking: Thinking) -> HttpProvider {
    provider_at(SERVER, thinking)
}

fn provider_at(base: &str, thinking: Thinking) -> HttpProvider {
    let card = Card { thinking, ..Card::default() };
    let registry: Registry = [("m".to_owned(), card)].into_iter().collect();
    HttpProvider::new(Http::default(), &transport(base)).unwrap().with_registry(registry.into())
}

/// Writes the body of a request, which is checked.
fn body_with(provider: &HttpProvider, messages: &[Message], tools: &[ToolSchema], answering: Answering) -> Value {
    let request = ChatRequest::new("m", messages, tools, Streaming::On).unwrap().answering(answering);
    let body: Value = serde_json::from_slice(&provider.body(&request).unwrap()).unwrap();
    assert_eq!(items::violation(&body), None, "{body:#}");
    body
}

pub fn body(messages: &[Message]) -> Value {
    body_with(&provider(Thinking::Unknown), messages, &[], Answering::default())
}

fn made(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: id.into(), name: name.to_owned(), arguments: Arguments::parse(arguments) }
}

/// Puts a reply into the history, as the course and the agent do it.
fn kept(reply: Reply, model: &str) -> Message {
    let original =
        reply.original.map(|original| Original { server: format!("{SERVER}/v1"), model: model.to_owned(), ..original });
    let Reply { content, thinking, tool_calls, .. } = reply;
    Message::Assistant(AssistantMessage { content, thinking, tool_calls, interrupted: false, original })
}

type Outcome = (Result<Reply, ProviderError>, Vec<(String, String)>);

/// Feeds events and returns the reply and the pieces `(thinking, text)` that brought something.
fn play(events: &[Value]) -> Outcome {
    let mut assembler = HttpProvider::assembler(Dialect::OpenAiResponses).unwrap();
    let mut pieces = Vec::new();
    for event in events {
        let data = event.to_string();
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

fn reply(events: &[Value]) -> Reply {
    let (reply, pieces) = play(events);
    let reply = reply.unwrap();
    // What is shown is what is kept.
    assert_eq!(pieces.iter().map(|(_, text)| text.as_str()).collect::<String>(), reply.content);
    assert_eq!(pieces.iter().map(|(thinking, _)| thinking.as_str()).collect::<String>(), reply.thinking);
    reply
}

fn completed(output: &Value) -> Value {
    json!({"type": "response.completed", "response": {"id": "resp_1", "model": "m-1", "status": "completed", "output": output,
        "usage": {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 60}, "output_tokens": 30,
            "output_tokens_details": {"reasoning_tokens": 20}, "total_tokens": 130}}})
}

fn end() -> Value {
    completed(&json!([]))
}

fn added(index: u64, item: &Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": index, "item": item})
}

fn done(index: u64, item: &Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": index, "item": item})
}

fn message(id: &str, text: &str) -> Value {
    let part = json!({"type": "output_text", "text": text, "annotations": []});
    json!({"type": "message", "id": id, "role": "assistant", "status": "completed", "content": [part]})
}

fn function_call(id: &str, call_id: &str, name: &str, arguments: &str) -> Value {
    json!({"type": "function_call", "id": id, "call_id": call_id, "name": name, "arguments": arguments, "status": "completed"})
}

fn reasoning(id: &str, summary: &str) -> Value {
    json!({"type": "reasoning", "id": id, "summary": [{"type": "summary_text", "text": summary}], "encrypted_content": format!("gAAA-{id}")})
}

/// Returns the events of a message with one text, without the end of the reply.
fn text(text: &str) -> Vec<Value> {
    vec![
        json!({"type": "response.created", "response": {"id": "r", "model": "m-1", "status": "in_progress", "output": []}}),
        json!({"type": "response.in_progress", "response": {"id": "r", "status": "in_progress"}}),
        added(
            0,
            &json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "in_progress", "content": []}),
        ),
        json!({"type": "response.content_part.added", "output_index": 0, "item_id": "msg_1", "content_index": 0, "part": {"type": "output_text", "text": ""}}),
        text_delta(0, "msg_1", text),
        json!({"type": "response.output_text.done", "output_index": 0, "item_id": "msg_1", "content_index": 0, "text": text}),
        json!({"type": "response.content_part.done", "output_index": 0, "item_id": "msg_1", "content_index": 0, "part": {"type": "output_text", "text": text}}),
        done(0, &message("msg_1", text)),
    ]
}

fn text_delta(index: u64, id: &str, delta: &str) -> Value {
    json!({"type": "response.output_text.delta", "output_index": index, "item_id": id, "content_index": 0, "delta": delta})
}

fn arguments_delta(index: u64, id: &str, delta: &str) -> Value {
    json!({"type": "response.function_call_arguments.delta", "output_index": index, "item_id": id, "delta": delta})
}

fn thought_delta(index: u64, id: &str, part: u64, delta: &str) -> Value {
    json!({"type": "response.reasoning_summary_text.delta", "output_index": index, "item_id": id, "summary_index": part, "delta": delta})
}

fn shown(calls: &[ToolCall]) -> Vec<String> {
    calls.iter().map(|call| format!("{} {} {}", call.id, call.name, call.arguments)).collect()
}
