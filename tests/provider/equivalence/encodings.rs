//! Fourteen ways in which a server or a proxy may write the same stream.

use std::fmt::Write as _;

use serde_json::Value;
use steersman_base::dialect::Dialect;

use super::streams::Stream;

/// Writes a stream in another way.
type Encode = fn(&Stream) -> String;

/// The encodings by their names.
pub const ENCODINGS: [(&str, Encode); 14] = [
    ("CRLF", |stream| stream.plain().replace('\n', "\r\n")),
    ("CR", |stream| stream.plain().replace('\n', "\r")),
    ("a byte order mark", |stream| format!("\u{FEFF}{}", stream.plain())),
    ("no space behind the colon", |stream| stream.plain().replace("\ndata: ", "\ndata:").replace("data: ", "data:")),
    ("comments between events", comments_between),
    ("comments within events", comments_within),
    ("names of events", other_names),
    ("data in many lines", |stream| stream.written(Spelling { space: Space::Lines, ..Spelling::default() })),
    ("other fields", other_fields),
    ("no end of the last event", |stream| stream.plain().trim_end().to_owned()),
    ("escapes", |stream| stream.written(Spelling { escaped: true, ..Spelling::default() })),
    ("white space", |stream| stream.written(Spelling { space: Space::Wide, ..Spelling::default() })),
    ("another order of members", |stream| stream.written(Spelling { reversed: true, ..Spelling::default() })),
    ("another end", other_end),
];

/// Says how JSON is spelled.
#[derive(Debug, Clone, Copy, Default)]
pub struct Spelling {
    pub space: Space,
    pub escaped: bool,
    pub reversed: bool,
}

/// Says what stands between the parts of JSON.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Space {
    #[default]
    Nothing,
    Wide,
    Lines,
}

/// What only its server understands: nobody on the way may respell it.
fn is_opaque(name: &str, value: &Value) -> bool {
    let kind = value["type"].as_str().unwrap_or_default();
    matches!(name, "args" | "reasoning_details") || matches!(kind, "redacted_thinking" | "reasoning")
}

/// Writes a value as JSON in a spelling.
pub fn spell(value: &Value, spelling: Spelling) -> String {
    let mut out = String::new();
    write(value, spelling, &mut out);
    out
}

fn write(value: &Value, spelling: Spelling, out: &mut String) {
    let gap = match spelling.space {
        Space::Nothing => "",
        Space::Wide => " \t ",
        Space::Lines => "\n  ",
    };
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            if spelling.reversed {
                members.reverse();
            }
            out.push('{');
            for (at, (name, value)) in members.into_iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                out.push_str(gap);
                text(name, spelling, out);
                out.push(':');
                out.push_str(gap);
                if is_opaque(name, value) {
                    out.push_str(&value.to_string());
                } else {
                    write(value, spelling, out);
                }
            }
            out.push_str(gap);
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                out.push_str(gap);
                if is_opaque("", item) {
                    out.push_str(&item.to_string());
                } else {
                    write(item, spelling, out);
                }
            }
            out.push(']');
        }
        Value::String(words) => text(words, spelling, out),
        other => out.push_str(&other.to_string()),
    }
}

fn text(words: &str, spelling: Spelling, out: &mut String) {
    let plain = Value::from(words).to_string();
    if !spelling.escaped {
        out.push_str(&plain);
        return;
    }
    for c in plain.chars() {
        if c.is_ascii_lowercase() && !c.is_ascii_hexdigit() && c > 'v' || !c.is_ascii() {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else if c == '/' {
            out.push_str("\\/");
        } else {
            out.push(c);
        }
    }
}

fn comments_between(stream: &Stream) -> String {
    let ping = match stream.dialect {
        Dialect::Anthropic => "event: ping\ndata: {\"type\": \"ping\"}\n\n",
        Dialect::OpenAi | Dialect::OpenAiResponses | Dialect::Gemini => "",
    };
    let plain = stream.plain().replace("\n\n", &format!("\n\n: ping - 2026-11-21 09:30:00+00:00\n\n:\n{ping}"));
    format!(": OPENROUTER PROCESSING\n\n{plain}")
}

fn comments_within(stream: &Stream) -> String {
    let lines = stream.written(Spelling { space: Space::Lines, ..Spelling::default() });
    lines.replace("\ndata: ", "\n: still here\n:\ndata: ")
}

/// Leaves the names away, where each event has its type; and names events where no name is needed.
fn other_names(stream: &Stream) -> String {
    let mut out = String::new();
    for line in stream.plain().lines() {
        let named = stream.is_named();
        if named && line.starts_with("event: ") {
            continue;
        }
        if !named && line.starts_with("data: ") {
            out.push_str("event: message\n");
        }
        out.push_str(line);
        out.push('\n');
    }
    out
}

fn other_fields(stream: &Stream) -> String {
    let mut out = String::from("retry: 3000\n\n");
    for (at, event) in stream.plain().split_inclusive("\n\n").enumerate() {
        let _ = write!(out, "id: {at}\n\u{20}data: no field of this name\ntrace: {{\"a\": 1}}\n{event}");
    }
    out
}

/// Adds `[DONE]` where others end with it, or leaves it away.
fn other_end(stream: &Stream) -> String {
    let plain = stream.plain();
    match plain.strip_suffix("data: [DONE]\n\n") {
        Some(without) => without.to_owned(),
        None => plain + "data: [DONE]\n\n",
    }
}
