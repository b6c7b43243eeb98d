//! Gemini's `generateContent` as the server writes it.

use serde_json::{Value, json};

use super::{Counts, End, Move};
use crate::reply::Step;

pub(super) fn stream(moves: &[Move], counts: Counts) -> Vec<Step> {
    let step = |each: &Move| match each {
        Move::Wire(step) => step.clone(),
        Move::End(end) => Step::data(chunk(&[json!({"text": ""})], Some(*end), counts)),
        // Calls come whole here; of a half one nothing is seen.
        Move::HalfCall(..) => Step::data(chunk(&[], None, counts)),
        other => Step::data(chunk(&[part(other)], None, counts)),
    };
    moves.iter().map(step).collect()
}

fn part(each: &Move) -> Value {
    match each {
        Move::Thinking(text) => json!({"text": text, "thought": true}),
        Move::Text(text) => json!({"text": text}),
        Move::Call(_, name, arguments) | Move::HalfCall(_, name, arguments) => {
            let args: Value = serde_json::from_str(arguments).unwrap_or(json!({}));
            json!({"functionCall": {"name": name, "args": args}})
        }
        Move::End(_) | Move::Wire(_) => json!({"text": ""}),
    }
}

fn chunk(parts: &[Value], end: Option<End>, Counts(prompt, completion): Counts) -> Value {
    let mut candidate = json!({"content": {"parts": parts, "role": "model"}, "index": 0});
    if let Some(end) = end {
        candidate["finishReason"] = json!(word(end));
    }
    let total = prompt.saturating_add(completion);
    json!({"candidates": [candidate], "modelVersion": "scripted", "responseId": "r1", "usageMetadata":
        {"promptTokenCount": prompt, "candidatesTokenCount": completion, "totalTokenCount": total}})
}

fn word(end: End) -> &'static str {
    match end {
        End::Done | End::Calls => "STOP",
        End::Length => "MAX_TOKENS",
        End::Filter => "SAFETY",
    }
}

pub(super) fn whole(moves: &[Move], counts: Counts) -> Value {
    let parts: Vec<Value> =
        moves.iter().filter(|each| !matches!(each, Move::End(_) | Move::Wire(_))).map(part).collect();
    let mut ends = moves.iter().filter_map(|each| if let Move::End(end) = each { Some(*end) } else { None });
    chunk(&parts, ends.next_back().or(Some(End::Done)), counts)
}
