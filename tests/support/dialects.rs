//! A server of each dialect that calls a tool and answers.

use serde_json::{Value, json};

use crate::messages;
use crate::server::{Reply, Server, Step};

const PATH: &str = r#"{"path":"notes.txt"}"#;

pub fn chat() -> Server {
    let call =
        json!([{ "index": 0, "id": "call_1", "type": "function", "function": { "name": "read", "arguments": PATH } }]);
    Server::start([
        Reply::stream([
            Step::delta(json!({ "role": "assistant", "reasoning_content": "thought-of-chat" })),
            Step::delta(json!({ "tool_calls": call })),
            Step::finish("tool_calls"),
            Step::done(),
        ]),
        Reply::text("Chat says nine."),
    ])
}

pub fn anthropic() -> Server {
    let whole = |blocks: Vec<Vec<Value>>, reason: &str| {
        let events =
            std::iter::once(messages::start()).chain(blocks.into_iter().flatten()).chain(messages::end(reason));
        Reply::stream(events.map(messages::event))
    };
    Server::start([
        whole(
            vec![
                messages::thinking(0, "thought-of-anthropic", ("sig-", "anthropic")),
                messages::call(1, "toolu_1", "read", PATH),
            ],
            "tool_use",
        ),
        whole(vec![messages::text(0, "Anthropic says nine.")], "end_turn"),
        whole(vec![messages::text(0, "Anthropic is back.")], "end_turn"),
    ])
}

pub fn responses() -> Server {
    let stream = |events: Vec<Value>| {
        Reply::stream(events.into_iter().map(|event| {
            let kind = event["type"].as_str().unwrap_or_default().to_owned();
            Step::Bytes(format!("event: {kind}\ndata: {event}\n\n").into_bytes())
        }))
    };
    let done =
        |index: u64, item: Value| json!({ "type": "response.output_item.done", "output_index": index, "item": item });
    let end = || {
        json!({ "type": "response.completed", "response": { "status": "completed", "output": [],
            "usage": { "input_tokens": 3, "output_tokens": 2 } } })
    };
    let thought = json!({ "type": "reasoning", "id": "rs_1", "encrypted_content": "sealed-by-responses",
        "summary": [{ "type": "summary_text", "text": "thought-of-responses" }] });
    let call = json!({ "type": "function_call", "id": "fc_1", "call_id": "call_r", "name": "read", "arguments": PATH, "status": "completed" });
    let said = "Responses says nine.";
    let message = json!({ "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
        "content": [{ "type": "output_text", "text": said, "annotations": [] }] });
    let delta = json!({ "type": "response.output_text.delta", "output_index": 0, "item_id": "msg_1", "content_index": 0, "delta": said });
    Server::start([stream(vec![done(0, thought), done(1, call), end()]), stream(vec![delta, done(0, message), end()])])
}

pub fn gemini() -> Server {
    let chunk = |parts: Value, finish: Value| {
        let content = json!({ "role": "model", "parts": parts });
        Step::Bytes(
            format!(
                "data: {}\r\n\r\n",
                json!({ "candidates": [{ "content": content, "finishReason": finish, "index": 0 }] })
            )
            .into_bytes(),
        )
    };
    let call = json!([
        { "text": "thought-of-gemini", "thought": true },
        { "functionCall": { "name": "read", "args": { "path": "notes.txt" } }, "thoughtSignature": "sealed-by-gemini" },
    ]);
    Server::start([
        Reply::stream([chunk(call, json!("STOP"))]),
        Reply::stream([chunk(json!([{ "text": "Gemini says nine." }]), json!("STOP"))]),
    ])
}
