//! `OpenAI`'s responses as the server writes them.

use serde_json::{Value, json};

use super::{Counts, End, Move, halves, named};
use crate::reply::Step;

/// Writes the items of one stream; neighbouring texts are one item.
struct Writer {
    steps: Vec<Step>,
    number: usize,
    items: Vec<Value>,
    open: Option<Open>,
}

struct Open {
    kind: &'static str,
    text: String,
}

pub(super) fn stream(moves: &[Move], counts: Counts) -> Vec<Step> {
    let mut writer = Writer { steps: Vec::new(), number: 0, items: Vec::new(), open: None };
    writer.event("response.created", json!({"response": response("in_progress", &[], None, None)}));
    writer.event("response.in_progress", json!({"response": response("in_progress", &[], None, None)}));
    for each in moves {
        match each {
            Move::Thinking(text) => {
                writer.begin("reasoning");
                let at = writer.items.len();
                let delta =
                    json!({"item_id": format!("rs_{at}"), "output_index": at, "summary_index": 0, "delta": text});
                writer.event("response.reasoning_summary_text.delta", delta);
                writer.grow(text);
            }
            Move::Text(text) => {
                writer.begin("message");
                let at = writer.items.len();
                let delta =
                    json!({"item_id": format!("msg_{at}"), "output_index": at, "content_index": 0, "delta": text});
                writer.event("response.output_text.delta", delta);
                writer.grow(text);
            }
            Move::Call(id, name, arguments) => {
                let (first, second) = halves(arguments);
                writer.call(id, name, &[first, second]);
                let at = writer.items.len();
                let item = call(at, id, name, arguments, "completed");
                let done = json!({"item_id": format!("fc_{at}"), "output_index": at, "arguments": arguments});
                writer.event("response.function_call_arguments.done", done);
                writer.event("response.output_item.done", json!({"output_index": at, "item": item}));
                writer.items.push(item);
            }
            Move::HalfCall(id, name, arguments) => writer.call(id, name, &[arguments]),
            Move::End(end) => {
                writer.close();
                let (name, status, why) = match end {
                    End::Done | End::Calls => ("response.completed", "completed", None),
                    End::Length => ("response.incomplete", "incomplete", Some("max_output_tokens")),
                    End::Filter => ("response.incomplete", "incomplete", Some("content_filter")),
                };
                let whole = response(status, &writer.items, why, Some(counts));
                writer.event(name, json!({"response": whole}));
            }
            Move::Wire(step) => writer.steps.push(step.clone()),
        }
    }
    writer.steps
}

impl Writer {
    fn event(&mut self, name: &str, mut data: Value) {
        data["type"] = json!(name);
        data["sequence_number"] = json!(self.number);
        self.number += 1;
        self.steps.push(named(name, &data));
    }

    fn begin(&mut self, kind: &'static str) {
        if self.open.as_ref().is_some_and(|open| open.kind == kind) {
            return;
        }
        self.close();
        let at = self.items.len();
        self.open = Some(Open { kind, text: String::new() });
        self.event(
            "response.output_item.added",
            json!({"output_index": at, "item": item(at, kind, "", "in_progress")}),
        );
        if kind == "message" {
            let part = json!({"type": "output_text", "text": "", "annotations": []});
            let added = json!({"item_id": format!("msg_{at}"), "output_index": at, "content_index": 0, "part": part});
            self.event("response.content_part.added", added);
        }
    }

    fn grow(&mut self, text: &str) {
        if let Some(open) = &mut self.open {
            open.text.push_str(text);
        }
    }

    fn call(&mut self, id: &str, name: &str, pieces: &[&str]) {
        self.close();
        let at = self.items.len();
        let item = call(at, id, name, "", "in_progress");
        self.event("response.output_item.added", json!({"output_index": at, "item": item}));
        for piece in pieces {
            let delta = json!({"item_id": format!("fc_{at}"), "output_index": at, "delta": piece});
            self.event("response.function_call_arguments.delta", delta);
        }
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let at = self.items.len();
        if open.kind == "message" {
            let id = format!("msg_{at}");
            let done = json!({"item_id": id, "output_index": at, "content_index": 0, "text": open.text});
            self.event("response.output_text.done", done);
        }
        let item = item(at, open.kind, &open.text, "completed");
        self.event("response.output_item.done", json!({"output_index": at, "item": item}));
        self.items.push(item);
    }
}

fn item(at: usize, kind: &str, text: &str, status: &str) -> Value {
    if kind == "reasoning" {
        let summary = if text.is_empty() { json!([]) } else { json!([{"type": "summary_text", "text": text}]) };
        return json!({"id": format!("rs_{at}"), "type": "reasoning", "summary": summary, "encrypted_content": "c2VjcmV0"});
    }
    let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
    let content = if text.is_empty() { json!([]) } else { content };
    json!({"id": format!("msg_{at}"), "type": "message", "status": status, "role": "assistant", "content": content})
}

fn call(at: usize, id: &str, name: &str, arguments: &str, status: &str) -> Value {
    json!({"id": format!("fc_{at}"), "type": "function_call", "status": status, "call_id": id, "name": name,
        "arguments": arguments})
}

fn response(status: &str, output: &[Value], why: Option<&str>, counts: Option<Counts>) -> Value {
    let usage = counts.map(|Counts(input, output)| {
        json!({"input_tokens": input, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": output,
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": input.saturating_add(output)})
    });
    json!({"id": "resp_1", "object": "response", "created_at": 1, "model": "scripted", "status": status, "error": null,
        "incomplete_details": why.map(|reason| json!({"reason": reason})), "output": output, "usage": usage})
}

pub(super) fn whole(moves: &[Move], counts: Counts) -> Value {
    let steps = stream(moves, counts);
    let last = steps.iter().rev().find_map(|step| {
        let Step::Bytes(bytes) = step else { return None };
        let text = String::from_utf8_lossy(bytes).into_owned();
        let (_, data) = text.split_once("data: ")?;
        Some(serde_json::from_str::<Value>(data.trim()).ok()?["response"].clone())
    });
    last.unwrap_or_default()
}
