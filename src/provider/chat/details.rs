//! `reasoning_details`: the thoughts of a reply as a gateway (`OpenRouter` and its like) wrote them, kept to be sent back.
//!
//! Fed by the assembler. A stream brings a text in fragments, which are joined again, as the whole answer would have
//! them; everything else is kept byte for byte.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::message::Part;
use crate::provider::chat::chunk::{Number, Text};

/// The members in which a fragment brings more of the same text.
const TEXTS: [&str; 2] = ["text", "summary"];

/// Collects the details of one reply.
#[derive(Debug, Default)]
pub(super) struct Details {
    list: Vec<Detail>,
    /// Whether they come in one body: then each is one for itself.
    apart: bool,
    bytes: usize,
}

#[derive(Debug)]
enum Detail {
    /// As it came.
    Raw(String),
    /// Joined from fragments.
    Joined(Map<String, Value>),
}

/// Is what is looked at in a fragment.
#[derive(Debug, Default, Deserialize)]
struct Looked<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow, default)]
    text: Text<'a>,
    #[serde(borrow, default)]
    summary: Text<'a>,
    #[serde(borrow, default)]
    signature: Text<'a>,
    #[serde(default)]
    index: Number,
}

impl Looked<'_> {
    fn is_text(&self) -> bool {
        matches!(&*self.kind.0, "reasoning.text" | "reasoning.summary")
    }
}

impl Details {
    /// Makes a collection for details that come in one body.
    pub fn apart() -> Self {
        Self { apart: true, ..Self::default() }
    }

    /// Takes the next one. Returns the text that it brings.
    pub fn take(&mut self, raw: &RawValue) -> String {
        let Ok(looked) = serde_json::from_str::<Looked<'_>>(raw.get()) else { return String::new() };
        let text = [&*looked.text.0, &*looked.summary.0].concat();
        if self.goes_on(&looked, raw) {
            self.bytes += text.len() + looked.signature.0.len();
        } else {
            self.bytes += raw.get().len();
            self.list.push(Detail::Raw(raw.get().to_owned()));
        }
        text
    }

    /// Counts what is kept of them, bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns them as parts.
    pub fn parts(self) -> impl Iterator<Item = Part> {
        self.list.into_iter().map(|detail| {
            Part::Opaque(match detail {
                Detail::Raw(raw) => raw,
                Detail::Joined(map) => Value::Object(map).to_string(),
            })
        })
    }

    /// Joins a fragment to the last detail, if it is more of the same.
    fn goes_on(&mut self, next: &Looked<'_>, raw: &RawValue) -> bool {
        let Some(last) = self.list.last_mut().filter(|_| next.is_text() && !self.apart) else { return false };
        if let Detail::Raw(before) = last {
            let Ok(begun) = serde_json::from_str::<Looked<'_>>(before) else { return false };
            if !same(&begun, next) {
                return false;
            }
            let Ok(map) = serde_json::from_str(before) else { return false };
            *last = Detail::Joined(map);
        } else if let Detail::Joined(map) = last {
            let word = |name: &str| map.get(name).and_then(Value::as_str).unwrap_or_default();
            let begun = Looked {
                kind: Text(word("type").into()),
                signature: Text(word("signature").into()),
                index: Number(map.get("index").and_then(Value::as_u64)),
                ..Looked::default()
            };
            if !same(&begun, next) {
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

/// Tells whether a fragment goes on with what has begun. A signature ends a text.
fn same(begun: &Looked<'_>, next: &Looked<'_>) -> bool {
    begun.kind.0 == next.kind.0 && begun.index.0 == next.index.0 && begun.signature.0.is_empty()
}
