//! `reasoning_details`: the thinking of a reply as a gateway (such as `OpenRouter`) wrote it, kept to be sent back.
//!
//! Used by the assembler. A stream sends a text in fragments, which are joined, as the whole answer would have them;
//! everything else is kept byte for byte.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::chat::chunk::{Number, Text};
use steersman_base::message::Part;

/// The members in which a fragment continues a text.
const TEXTS: [&str; 2] = ["text", "summary"];

/// The details of one reply.
#[derive(Debug, Default)]
pub(super) struct Details {
    list: Vec<Detail>,
    /// Whether they come in one body: then none continues another.
    apart: bool,
    bytes: usize,
}

#[derive(Debug)]
enum Detail {
    Raw(String),
    Joined(Map<String, Value>),
}

/// The members of a fragment that decide whether it continues the last one.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct FragmentHead<'a> {
    #[serde(rename = "type")]
    kind: Text<'a>,
    text: Text<'a>,
    summary: Text<'a>,
    signature: Text<'a>,
    index: Number,
}

impl FragmentHead<'_> {
    fn is_text(&self) -> bool {
        matches!(&*self.kind.0, "reasoning.text" | "reasoning.summary")
    }
}

impl Details {
    /// Makes an empty list for details that come in one body.
    pub(super) fn apart() -> Self {
        Self { apart: true, ..Self::default() }
    }

    /// Takes the next detail. Returns its text.
    pub(super) fn add(&mut self, raw: &RawValue) -> String {
        let Ok(fragment) = serde_json::from_str::<FragmentHead<'_>>(raw.get()) else { return String::new() };
        let text = [&*fragment.text.0, &*fragment.summary.0].concat();
        if self.join(&fragment, raw) {
            self.bytes += text.len() + fragment.signature.0.len();
        } else {
            self.bytes += raw.get().len();
            self.list.push(Detail::Raw(raw.get().to_owned()));
        }
        text
    }

    /// Returns the bytes that are kept.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn parts(self) -> impl Iterator<Item = Part> {
        self.list.into_iter().map(|detail| {
            Part::Opaque(match detail {
                Detail::Raw(raw) => raw,
                Detail::Joined(map) => Value::Object(map).to_string(),
            })
        })
    }

    /// Joins a fragment to the last detail, if it continues that.
    fn join(&mut self, next: &FragmentHead<'_>, raw: &RawValue) -> bool {
        let Some(last) = self.list.last_mut().filter(|_| next.is_text() && !self.apart) else { return false };
        if let Detail::Raw(before) = last {
            let Ok(begun) = serde_json::from_str::<FragmentHead<'_>>(before) else { return false };
            if !continues(&begun, next) {
                return false;
            }
            let Ok(map) = serde_json::from_str(before) else { return false };
            *last = Detail::Joined(map);
        } else if let Detail::Joined(map) = last {
            let word = |name: &str| map.get(name).and_then(Value::as_str).unwrap_or_default();
            let begun = FragmentHead {
                kind: Text(word("type").into()),
                signature: Text(word("signature").into()),
                index: Number(map.get("index").and_then(Value::as_u64)),
                ..FragmentHead::default()
            };
            if !continues(&begun, next) {
                return false;
            }
        }
        let (Detail::Joined(map), Ok(Value::Object(more))) = (last, serde_json::from_str(raw.get())) else {
            return false;
        };
        for (name, value) in more {
            match (map.get_mut(&name), value) {
                (Some(Value::String(text)), Value::String(more)) if TEXTS.contains(&name.as_str()) => {
                    text.push_str(&more);
                }
                (Some(_), Value::Null) => {}
                (_, value) => {
                    map.insert(name, value);
                }
            }
        }
        true
    }
}

/// Returns whether a fragment continues a detail. A signature ends a text.
fn continues(begun: &FragmentHead<'_>, next: &FragmentHead<'_>) -> bool {
    begun.kind.0 == next.kind.0 && begun.index.0 == next.index.0 && begun.signature.0.is_empty()
}
