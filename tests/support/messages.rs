//! What Anthropic's servers refuse, so that a test refuses it first; and the events of their streams.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::server::Step;

/// Returns the first fault of a request in the Messages dialect.
pub fn violation(body: &Value) -> Option<String> {
    let fault = |what: String| Some(what);
    if body["max_tokens"].as_u64().is_none_or(|tokens| tokens == 0) {
        return fault("max_tokens is missing".to_owned());
    }
    if let Some(budget) = body["thinking"]["budget_tokens"].as_u64()
        && (budget < 1024 || budget >= body["max_tokens"].as_u64().unwrap_or_default())
    {
        return fault(format!("a budget of {budget} tokens for thinking"));
    }
    let thinks = matches!(body["thinking"]["type"].as_str(), Some("enabled" | "adaptive"));
    if thinks && !body["temperature"].is_null() {
        return fault("a temperature where the model thinks".to_owned());
    }
    let marks = body.to_string().matches("\"cache_control\"").count();
    if marks > 4 {
        return fault(format!("{marks} cache marks"));
    }
    let blank = |block: &Value| block["type"] == "text" && block["text"].as_str().unwrap_or_default().trim().is_empty();
    if body["system"].as_array().into_iter().flatten().any(blank) {
        return fault("a blank system block".to_owned());
    }
    let (mut open, mut ids): (Vec<String>, HashSet<String>) = (Vec::new(), HashSet::new());
    for (at, turn) in body["messages"].as_array()?.iter().enumerate() {
        let role = if at % 2 == 0 { "user" } else { "assistant" };
        let blocks = turn["content"].as_array().cloned().unwrap_or_default();
        let of_kind = |kind: &str| -> Vec<&Value> { blocks.iter().filter(|block| block["type"] == kind).collect() };
        if turn["role"] != role || blocks.is_empty() {
            return fault(format!("turn {at} is {turn}, {role} is due"));
        }
        if let Some(block) = blocks.iter().find(|block| blank(block)) {
            return fault(format!("turn {at} has a blank text: {block}"));
        }
        let results: Vec<&str> = blocks
            .iter()
            .map_while(|block| (block["type"] == "tool_result").then(|| block["tool_use_id"].as_str())?)
            .collect();
        if results != open || of_kind("tool_result").len() != results.len() {
            return fault(format!("turn {at} answers {results:?} at its beginning, due was {open:?}"));
        }
        if of_kind("tool_result").iter().any(|block| block["is_error"] == true && block["content"].is_null()) {
            return fault(format!("turn {at} has an error without words"));
        }
        let last = blocks.last().map(|block| block["type"].as_str().unwrap_or_default());
        if role == "assistant" && matches!(last, Some("thinking" | "redacted_thinking")) {
            return fault(format!("turn {at} ends with thinking"));
        }
        open.clear();
        for call in of_kind("tool_use") {
            let id = call["id"].as_str().unwrap_or_default().to_owned();
            let legal = |text: &str| {
                !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
            };
            let name = call["name"].as_str().unwrap_or_default();
            if !legal(&id) || !legal(name) || !call["input"].is_object() || !ids.insert(id.clone()) {
                return fault(format!("turn {at} has a bad call: {call}"));
            }
            open.push(id);
        }
    }
    (!open.is_empty()).then(|| format!("the calls {open:?} have no results"))
}

/// Makes one event of a stream, named as the real server names it.
#[allow(clippy::needless_pass_by_value)] // Callers write `json!` in place.
pub fn event(data: Value) -> Step {
    let name = data["type"].as_str().unwrap_or_default().to_owned();
    Step::Bytes(format!("event: {name}\ndata: {data}\n\n").into_bytes())
}

/// The first event.
pub fn start() -> Value {
    json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant",
        "model": "claude-1", "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": 25, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 7, "output_tokens": 1}}})
}

/// Begins a block.
#[allow(clippy::needless_pass_by_value)]
pub fn block(index: u64, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

/// Adds to a block.
#[allow(clippy::needless_pass_by_value)]
pub fn delta(index: u64, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

/// Ends a block.
pub fn stop(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

/// Ends the message with a reason.
pub fn end(reason: &str) -> [Value; 2] {
    [
        json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": {"output_tokens": 15}}),
        json!({"type": "message_stop"}),
    ]
}

/// A whole text block, word by word.
pub fn text(index: u64, text: &str) -> Vec<Value> {
    let words = text.split_inclusive(' ').map(|word| delta(index, json!({"type": "text_delta", "text": word})));
    let first = block(index, json!({"type": "text", "text": ""}));
    std::iter::once(first).chain(words).chain([stop(index)]).collect()
}

/// A whole thinking block with its signature in two pieces.
pub fn thinking(index: u64, text: &str, signature: (&str, &str)) -> Vec<Value> {
    vec![
        block(index, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(index, json!({"type": "thinking_delta", "thinking": text})),
        delta(index, json!({"type": "signature_delta", "signature": signature.0})),
        delta(index, json!({"type": "signature_delta", "signature": signature.1})),
        stop(index),
    ]
}

/// A whole call: an empty first piece, then the arguments in two.
pub fn call(index: u64, id: &str, name: &str, arguments: &str) -> Vec<Value> {
    let middle = (0..=arguments.len() / 2).rev().find(|at| arguments.is_char_boundary(*at)).unwrap_or(0);
    let (first, second) = arguments.split_at(middle);
    let piece = |json: &str| delta(index, json!({"type": "input_json_delta", "partial_json": json}));
    let begin = block(index, json!({"type": "tool_use", "id": id, "name": name, "input": {}}));
    vec![begin, piece(""), piece(first), piece(second), stop(index)]
}
