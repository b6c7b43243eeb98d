//! Anthropic messages as the server writes them.

use serde_json::{Value, json};

use super::{Counts, End, Move, halves, named};
use crate::reply::Step;

/// Writes the blocks of one stream; neighbouring texts are one block.
struct Writer {
    steps: Vec<Step>,
    index: usize,
    open: Option<&'static str>,
}

pub(super) fn stream(moves: &[Move], Counts(input, output): Counts) -> Vec<Step> {
    let mut writer = Writer { steps: Vec::new(), index: 0, open: None };
    let usage = json!({"input_tokens": input, "output_tokens": 1});
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage});
    writer.event(&json!({"type": "message_start", "message": message}));
    for each in moves {
        match each {
            Move::Thinking(text) => {
                writer.begin("thinking", &json!({"type": "thinking", "thinking": "", "signature": ""}));
                writer.delta(&json!({"type": "thinking_delta", "thinking": text}));
            }
            Move::Text(text) => {
                writer.begin("text", &json!({"type": "text", "text": ""}));
                writer.delta(&json!({"type": "text_delta", "text": text}));
            }
            Move::Call(id, name, arguments) => {
                let (first, second) = halves(arguments);
                writer.call(id, name, &["", first, second]);
                writer.close();
            }
            Move::HalfCall(id, name, arguments) => writer.call(id, name, &[arguments]),
            Move::End(end) => {
                writer.close();
                let delta = json!({"stop_reason": word(*end), "stop_sequence": null});
                let usage = json!({"output_tokens": output});
                writer.event(&json!({"type": "message_delta", "delta": delta, "usage": usage}));
                writer.event(&json!({"type": "message_stop"}));
            }
            Move::Wire(step) => writer.steps.push(step.clone()),
        }
    }
    writer.steps
}

impl Writer {
    fn event(&mut self, data: &Value) {
        self.steps.push(named(data["type"].as_str().unwrap(), data));
    }

    fn begin(&mut self, kind: &'static str, block: &Value) {
        if self.open == Some(kind) && kind != "tool_use" {
            return;
        }
        self.close();
        self.open = Some(kind);
        let index = self.index;
        self.event(&json!({"type": "content_block_start", "index": index, "content_block": block}));
    }

    fn delta(&mut self, delta: &Value) {
        let index = self.index;
        self.event(&json!({"type": "content_block_delta", "index": index, "delta": delta}));
    }

    fn call(&mut self, id: &str, name: &str, pieces: &[&str]) {
        self.begin("tool_use", &json!({"type": "tool_use", "id": id, "name": name, "input": {}}));
        for piece in pieces {
            self.delta(&json!({"type": "input_json_delta", "partial_json": piece}));
        }
    }

    fn close(&mut self) {
        if self.open == Some("thinking") {
            self.delta(&json!({"type": "signature_delta", "signature": "c2lnbmF0dXJl"}));
        }
        if self.open.take().is_some() {
            let index = self.index;
            self.event(&json!({"type": "content_block_stop", "index": index}));
            self.index += 1;
        }
    }
}

fn word(end: End) -> &'static str {
    match end {
        End::Done => "end_turn",
        End::Calls => "tool_use",
        End::Length => "max_tokens",
        End::Filter => "refusal",
    }
}

pub(super) fn whole(moves: &[Move], Counts(input, output): Counts) -> Value {
    let mut blocks: Vec<Value> = Vec::new();
    let mut stop = "end_turn";
    for each in moves {
        match each {
            Move::Thinking(text) => {
                blocks.push(json!({"type": "thinking", "thinking": text, "signature": "c2lnbmF0dXJl"}));
            }
            Move::Text(text) => match blocks.last_mut().filter(|block| block["type"] == "text") {
                Some(block) => block["text"] = json!(format!("{}{text}", block["text"].as_str().unwrap())),
                None => blocks.push(json!({"type": "text", "text": text})),
            },
            Move::Call(id, name, arguments) | Move::HalfCall(id, name, arguments) => {
                let input: Value = serde_json::from_str(arguments).unwrap_or(json!({}));
                blocks.push(json!({"type": "tool_use", "id": id, "name": name, "input": input}));
            }
            Move::End(end) => stop = word(*end),
            Move::Wire(_) => {}
        }
    }
    json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": blocks,
        "stop_reason": stop, "stop_sequence": null, "usage": {"input_tokens": input, "output_tokens": output}})
}
