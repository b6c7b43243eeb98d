//! Twelve streams as real servers write them, over the four dialects.

use serde_json::{Value, json};
use steersman_base::dialect::Dialect;

use super::encodings::{Spelling, spell};
use crate::support::messages::{block, call, end, start, stop, text, thinking};

/// A stream and what it says.
pub struct Stream {
    pub dialect: Dialect,
    pub events: Vec<Value>,
    /// The summary of its reply.
    pub expected: String,
}

impl Stream {
    /// Writes it as its server does.
    pub fn plain(&self) -> String {
        self.written(Spelling::default())
    }

    /// Writes it with its JSON in a spelling.
    pub fn written(&self, spelling: Spelling) -> String {
        let event = |event: &Value| {
            let name = match event["type"].as_str() {
                Some(kind) if self.is_named() => format!("event: {kind}\n"),
                _ => String::new(),
            };
            let data = spell(event, spelling).replace('\n', "\ndata: ");
            format!("{name}data: {data}\n\n")
        };
        let end = if self.dialect == Dialect::OpenAi { "data: [DONE]\n\n" } else { "" };
        self.events.iter().map(event).collect::<String>() + end
    }

    /// Tells whether its events have names.
    pub fn is_named(&self) -> bool {
        matches!(self.dialect, Dialect::Anthropic | Dialect::OpenAiResponses)
    }

    fn new(dialect: Dialect, events: Vec<Value>, expected: impl Into<String>) -> Self {
        Self { dialect, events, expected: expected.into() }
    }
}

const MANY_SCRIPTS: &str = "Zażółć gęślą jaźń, ✨ 👩‍👩‍👧‍👦 देवनागरी 日本語 \u{2028}עברית\u{85} \"q\" \\ /\t\r\n\u{1}end";

fn chunk(delta: &Value, finish: &Value) -> Value {
    json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m-1",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], "usage": null})
}

fn chat(deltas: impl IntoIterator<Item = Value>, finish: &str, usage: &Value) -> Vec<Value> {
    let mut events = vec![chunk(&json!({"role": "assistant", "content": null}), &Value::Null)];
    events.extend(deltas.into_iter().map(|delta| chunk(&delta, &Value::Null)));
    events.push(chunk(&json!({}), &json!(finish)));
    events.push(
        json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "m-1", "choices": [], "usage": usage}),
    );
    events
}

/// Cuts a text into short pieces, each a few characters long.
fn pieces(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(9).map(|piece| piece.iter().collect()).collect()
}

pub fn chat_text_of_many_scripts() -> Stream {
    let deltas = pieces(MANY_SCRIPTS).into_iter().map(|piece| json!({"content": piece}));
    let usage = json!({"prompt_tokens": 12, "completion_tokens": 34, "total_tokens": 46});
    let expected = format!(" | {MANY_SCRIPTS} |  | Stop | 12 ? ? 34 ? | 0");
    Stream::new(Dialect::OpenAi, chat(deltas, "stop", &usage), expected)
}

pub fn chat_reasoning_then_text() -> Stream {
    let mut deltas: Vec<Value> =
        pieces("First ä look.").into_iter().map(|piece| json!({"reasoning_content": piece})).collect();
    deltas.extend(pieces("Then — speak.").into_iter().map(|piece| json!({"content": piece})));
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 34,
        "prompt_tokens_details": {"cached_tokens": 60}, "completion_tokens_details": {"reasoning_tokens": 9}});
    let expected = "First ä look. | Then — speak. |  | Stop | 40 60 ? 34 9 | 0";
    Stream::new(Dialect::OpenAi, chat(deltas, "stop", &usage), expected)
}

pub fn chat_parallel_calls() -> Stream {
    let begin = |index: u64, id: &str, name: &str| json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}]});
    let more = |index: u64, json: &str| json!({"tool_calls": [{"index": index, "function": {"arguments": json}}]});
    let deltas = [
        json!({"content": "Both."}),
        begin(0, "call_a", "read"),
        more(0, "{\"path\": "),
        more(0, "\"ä/日\"}"),
        begin(1, "call_b", "list"),
        more(1, "{}"),
    ];
    let usage = json!({"prompt_tokens": 1, "completion_tokens": 2});
    let expected = r#" | Both. | call_a read {"path":"ä/日"}, call_b list {} | Stop | 1 ? ? 2 ? | 0"#;
    Stream::new(Dialect::OpenAi, chat(deltas, "tool_calls", &usage), expected)
}

pub fn chat_cut_by_its_limit() -> Stream {
    let deltas = [
        json!({"content": "Writing"}),
        json!({"tool_calls": [{"index": 0, "id": "c", "type": "function", "function": {"name": "write", "arguments": "{\"text\": \"ha"}}]}),
    ];
    let expected = r#" | Writing | c write {"text": "ha | Length | 5 ? ? 40 ? | 0"#;
    Stream::new(
        Dialect::OpenAi,
        chat(deltas, "length", &json!({"prompt_tokens": 5, "completion_tokens": 40})),
        expected,
    )
}

fn messages(blocks: impl IntoIterator<Item = Value>, reason: &str) -> Vec<Value> {
    std::iter::once(start()).chain(blocks).chain(end(reason)).collect()
}

pub fn messages_text() -> Stream {
    let expected = format!(" | {MANY_SCRIPTS} |  | Stop | 25 100 7 15 ? | 0");
    Stream::new(Dialect::Anthropic, messages(text(0, MANY_SCRIPTS), "end_turn"), expected)
}

pub fn messages_signed_thinking_and_a_call() -> Stream {
    let mut blocks = thinking(0, "Let me see — ünder it.", ("EqQBCg/+", "IYAA=="));
    blocks.extend([block(1, json!({"type": "redacted_thinking", "data": "EmwKAhgB/+=", "ü": [1, {"b": 2}]})), stop(1)]);
    blocks.extend(text(2, "Looking."));
    blocks.extend(call(3, "toolu_1", "read", r#"{"path": "ä", "lines": 3}"#));
    let expected =
        r#"Let me see — ünder it. | Looking. | toolu_1 read {"path":"ä","lines":3} | Stop | 25 100 7 15 ? | 4"#;
    Stream::new(Dialect::Anthropic, messages(blocks, "tool_use"), expected)
}

pub fn messages_parallel_calls_and_text_between() -> Stream {
    let mut blocks = call(0, "toolu_1", "list", "");
    blocks.extend(text(1, "And 日本"));
    blocks.extend(call(2, "toolu_2", "read", r#"{"path": "b"}"#));
    let expected = r#" | And 日本 | toolu_1 list {}, toolu_2 read {"path":"b"} | Stop | 25 100 7 15 ? | 0"#;
    Stream::new(Dialect::Anthropic, messages(blocks, "tool_use"), expected)
}

pub fn messages_long_text() -> Stream {
    let long = "The quick brown fox jumps over the lazy dog; größer, schöner, weiter. ".repeat(12);
    let words: Vec<Value> = long
        .split_inclusive(". ")
        .map(|words| crate::support::messages::delta(0, json!({"type": "text_delta", "text": words})))
        .collect();
    let blocks = std::iter::once(block(0, json!({"type": "text", "text": ""}))).chain(words).chain([stop(0)]);
    let expected = format!(" | {long} |  | Length | 25 100 7 15 ? | 0");
    Stream::new(Dialect::Anthropic, messages(blocks, "max_tokens"), expected)
}

fn responses(items: impl IntoIterator<Item = Value>, output: Value) -> Vec<Value> {
    let head =
        |status: &str| json!({"id": "resp_1", "object": "response", "status": status, "model": "m-1", "output": []});
    let mut whole = head("completed");
    whole["output"] = output;
    whole["usage"] = json!({"input_tokens": 50, "input_tokens_details": {"cached_tokens": 20}, "output_tokens": 30,
        "output_tokens_details": {"reasoning_tokens": 10}, "total_tokens": 80});
    let mut events = vec![json!({"type": "response.created", "response": head("in_progress")})];
    events.extend(items);
    events.push(json!({"type": "response.completed", "response": whole}));
    for (at, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = json!(at);
    }
    events
}

fn response_text(index: u64, words: &str) -> (Vec<Value>, Value) {
    let item = |status: &str, content: Value| json!({"id": "msg_1", "type": "message", "status": status, "role": "assistant", "content": content});
    let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
    let whole = item("completed", json!([part(words)]));
    let at = |kind: &str, name: &str, value: Value| {
        let mut event = json!({"type": kind, "item_id": "msg_1", "output_index": index, "content_index": 0});
        event[name] = value;
        event
    };
    let mut events = vec![
        json!({"type": "response.output_item.added", "output_index": index, "item": item("in_progress", json!([]))}),
        at("response.content_part.added", "part", part("")),
    ];
    events.extend(pieces(words).into_iter().map(|piece| at("response.output_text.delta", "delta", json!(piece))));
    events.extend([
        at("response.output_text.done", "text", json!(words)),
        at("response.content_part.done", "part", part(words)),
        json!({"type": "response.output_item.done", "output_index": index, "item": whole}),
    ]);
    (events, whole)
}

pub fn responses_text() -> Stream {
    let (events, item) = response_text(0, MANY_SCRIPTS);
    let expected = format!(" | {MANY_SCRIPTS} |  | Stop | 30 20 ? 30 10 | 0");
    Stream::new(Dialect::OpenAiResponses, responses(events, json!([item])), expected)
}

pub fn responses_reasoning_and_a_call() -> Stream {
    let reasoning = json!({"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm — ja."}],
        "encrypted_content": "gAAAAABo/+=="});
    let call = |status: &str, arguments: &str| {
        json!({"id": "fc_1", "type": "function_call", "status": status,
        "call_id": "call_1", "name": "read", "arguments": arguments})
    };
    let arguments = "{\"path\": \"ä\"}";
    let delta = |json: &str| json!({"type": "response.function_call_arguments.delta", "item_id": "fc_1", "output_index": 1, "delta": json});
    let summary = |kind: &str, name: &str, value: &str| {
        let mut event = json!({"type": kind, "item_id": "rs_1", "output_index": 0, "summary_index": 0});
        event[name] = json!(value);
        event
    };
    let events = [
        json!({"type": "response.output_item.added", "output_index": 0, "item": {"id": "rs_1", "type": "reasoning", "summary": []}}),
        summary("response.reasoning_summary_text.delta", "delta", "Hm — "),
        summary("response.reasoning_summary_text.delta", "delta", "ja."),
        summary("response.reasoning_summary_text.done", "text", "Hm — ja."),
        json!({"type": "response.output_item.done", "output_index": 0, "item": reasoning}),
        json!({"type": "response.output_item.added", "output_index": 1, "item": call("in_progress", "")}),
        delta("{\"path\""),
        delta(": \"ä\"}"),
        json!({"type": "response.function_call_arguments.done", "item_id": "fc_1", "output_index": 1, "arguments": arguments}),
        json!({"type": "response.output_item.done", "output_index": 1, "item": call("completed", arguments)}),
    ];
    let output = json!([reasoning, call("completed", arguments)]);
    let expected = r#"Hm — ja. |  | call_1 read {"path":"ä"} | Stop | 30 20 ? 30 10 | 2"#;
    Stream::new(Dialect::OpenAiResponses, responses(events, output), expected)
}

fn gemini(parts: impl IntoIterator<Item = Value>) -> Vec<Value> {
    let mut events: Vec<Value> = parts
        .into_iter()
        .map(|part| {
            json!({"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}],
            "usageMetadata": {"promptTokenCount": 40, "totalTokenCount": 40}, "modelVersion": "m-1", "responseId": "r"})
        })
        .collect();
    events.push(json!({"candidates": [{"content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 40, "cachedContentTokenCount": 10, "candidatesTokenCount": 8,
            "thoughtsTokenCount": 5, "totalTokenCount": 53}, "modelVersion": "m-1", "responseId": "r"}));
    events
}

pub fn gemini_text() -> Stream {
    let parts = pieces(MANY_SCRIPTS).into_iter().map(|piece| json!({"text": piece}));
    let expected = format!(" | {MANY_SCRIPTS} |  | Stop | 30 10 ? 13 5 | 0");
    Stream::new(Dialect::Gemini, gemini(parts), expected)
}

pub fn gemini_thoughts_and_signed_calls() -> Stream {
    let parts = [
        json!({"text": "Hm — ", "thought": true}),
        json!({"text": "ja.", "thought": true}),
        json!({"text": "Both."}),
        json!({"functionCall": {"id": "g1", "name": "read", "args": {"path": "ä", "lines": 3}}, "thoughtSignature": "CpIC/+=="}),
        json!({"functionCall": {"id": "g2", "name": "list", "args": {}}}),
    ];
    let expected = r#"Hm — ja. | Both. | g1 read {"path":"ä","lines":3}, g2 list {} | Stop | 30 10 ? 13 5 | 3"#;
    Stream::new(Dialect::Gemini, gemini(parts), expected)
}
