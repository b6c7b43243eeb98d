//! Chat completions as servers write them.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::{Counts, End, Move, halves};
use crate::reply::Step;
use crate::server::Request;

pub(super) fn stream(moves: &[Move], counts: Counts) -> Vec<Step> {
    let mut steps = vec![Step::delta(json!({"role": "assistant", "content": null}))];
    let mut index = 0;
    for each in moves {
        match each {
            Move::Thinking(text) => steps.push(Step::delta(json!({"reasoning_content": text}))),
            Move::Text(text) => steps.push(Step::delta(json!({"content": text}))),
            Move::Call(id, name, arguments) => {
                let (first, second) = halves(arguments);
                steps.push(call(index, id, name, first));
                let more = json!({"index": index, "function": {"arguments": second}});
                steps.push(Step::delta(json!({"tool_calls": [more]})));
                index += 1;
            }
            Move::HalfCall(id, name, arguments) => {
                steps.push(call(index, id, name, arguments));
                index += 1;
            }
            Move::End(end) => {
                steps.push(Step::finish(word(*end)));
                let usage = usage(counts);
                steps.push(Step::data(json!({"id": "chatcmpl-1", "model": "scripted", "choices": [], "usage": usage})));
                steps.push(Step::done());
            }
            Move::Wire(step) => steps.push(step.clone()),
        }
    }
    steps
}

fn call(index: usize, id: &str, name: &str, arguments: &str) -> Step {
    let function = json!({"name": name, "arguments": arguments});
    Step::delta(json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]}))
}

fn word(end: End) -> &'static str {
    match end {
        End::Done => "stop",
        End::Calls => "tool_calls",
        End::Length => "length",
        End::Filter => "content_filter",
    }
}

fn usage(Counts(prompt, completion): Counts) -> Value {
    json!({"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt.saturating_add(completion)})
}

pub(super) fn whole(moves: &[Move], counts: Counts) -> Value {
    let (mut text, mut thinking, mut calls, mut finish) = (String::new(), String::new(), Vec::new(), "stop");
    for each in moves {
        match each {
            Move::Thinking(words) => thinking.push_str(words),
            Move::Text(words) => text.push_str(words),
            Move::Call(id, name, arguments) | Move::HalfCall(id, name, arguments) => {
                calls.push(json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}));
            }
            Move::End(end) => finish = word(*end),
            Move::Wire(_) => {}
        }
    }
    let mut message = json!({"role": "assistant", "content": text});
    if !thinking.is_empty() {
        message["reasoning_content"] = json!(thinking);
    }
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    json!({"id": "chatcmpl-1", "object": "chat.completion", "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": usage(counts)})
}

/// Each call has its result directly behind it, in order.
pub(super) fn violation(request: &Request) -> Option<String> {
    let mut open: VecDeque<String> = VecDeque::new();
    for (index, message) in request.messages().iter().enumerate() {
        let role = message["role"].as_str().unwrap_or("?");
        if role == "tool" {
            let answered = message["tool_call_id"].as_str().unwrap_or("?");
            match open.pop_front() {
                Some(due) if due == answered => continue,
                due => return Some(format!("message {index} answers {answered}, due was {due:?}")),
            }
        }
        if let Some(due) = open.front() {
            return Some(format!("message {index} ({role}) stands before the result of {due}"));
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let id = call["id"].as_str().unwrap_or_default().to_owned();
            let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
            // Several servers parse them, and refuse what is no object.
            let parsed = serde_json::from_str::<serde_json::Map<String, Value>>(arguments);
            if id.is_empty() || open.contains(&id) || parsed.is_err() {
                return Some(format!("message {index} has a bad call: {call}"));
            }
            open.push_back(id);
        }
    }
    open.front().map(|due| format!("the call {due} has no result"))
}
