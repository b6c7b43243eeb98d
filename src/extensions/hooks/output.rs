//! What a hook printed: the JSON objects in it, between the lines that its shell or its tools print too.
//!
//! Pure, and in time linear to the output but for damaged JSON. An object counts when it has a member that means something
//! here. Text that looks like a decision and is no JSON is told apart from text without one.

use serde_json::{Map, Value};
use steersman_base::text::halves::without_halves;

/// The members of one object.
pub(super) type Members = Map<String, Value>;

/// Members that make an object an answer, beside a decision.
const MEMBERS: [&str; 6] =
    ["continue", "systemMessage", "suppressOutput", "hookSpecificOutput", "updatedInput", "additionalContext"];

/// What was printed.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Printed {
    /// One object and nothing else.
    Whole(Members),
    /// Objects that count, among other output.
    Among {
        /// In their order.
        objects: Vec<Members>,
        /// Whether the last one begins a line and ends the output.
        ends: bool,
        /// Whether text behind the last one looks like a decision.
        torn: bool,
    },
    /// No object that counts, and why it is no JSON where it begins like that.
    Text {
        /// Why it cannot be read.
        fault: Option<String>,
        /// Whether it looks like a decision.
        torn: bool,
    },
}

/// Reads an output.
pub(super) fn printed(output: &str) -> Printed {
    // A tool that writes UTF-16 leaves a zero behind each letter.
    let output = output.replace('\0', "");
    let output = without_halves(&output);
    let output = output.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}').trim_end();
    let (mut objects, mut ends, mut fault) = (Vec::new(), false, None);
    // What stands outside of the objects, behind the last one that counts.
    let mut beside = String::new();
    let mut rest = output;
    while let Some(start) = rest.find('{') {
        let (before, from) = rest.split_at(start);
        beside.push_str(before);
        let mut values = serde_json::Deserializer::from_str(from).into_iter::<Value>();
        match values.next() {
            Some(Ok(Value::Object(members))) => {
                let (object, after) = from.split_at(values.byte_offset());
                if object.len() == output.len() {
                    return Printed::Whole(members);
                }
                if counts(&members) {
                    let line = before.rsplit('\n').next().unwrap_or_default();
                    ends = line.trim().is_empty() && after.is_empty();
                    objects.push(members);
                    beside.clear();
                }
                rest = after;
            }
            Some(Ok(_)) | None => return Printed::Text { fault, torn: false },
            Some(Err(error)) => {
                if from.len() == output.len() {
                    fault = Some(format!("its output cannot be read: {error}"));
                }
                let (brace, after) = from.split_at('{'.len_utf8());
                beside.push_str(brace);
                rest = after;
            }
        }
    }
    beside.push_str(rest);
    let torn = looks_like_decision(&beside);
    if objects.is_empty() { Printed::Text { fault, torn } } else { Printed::Among { objects, ends, torn } }
}

/// Returns whether an object means something here.
fn counts(members: &Members) -> bool {
    MEMBERS.iter().any(|name| members.contains_key(*name)) || has_decision(members)
}

/// Returns whether there is anything by which a call would not run as it is, wherever it stands and however it is written.
pub(super) fn has_decision(members: &Members) -> bool {
    members.iter().any(|(name, value)| match (plain(name).as_str(), value) {
        (_, Value::Null) => false,
        ("decision" | "permissiondecision", _) => true,
        ("continue", value) => !value.is_boolean(),
        ("updatedinput", value) => !value.is_object(),
        (_, value) => in_value(value),
    })
}

fn in_value(value: &Value) -> bool {
    match value {
        Value::Object(members) => has_decision(members),
        Value::Array(values) => values.iter().any(in_value),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Returns a name without its case and its separators.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// Returns whether a text has a member, quoted or behind a brace, by which a call would not run as it is.
fn looks_like_decision(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    ["decision", "updatedinput", "updated_input", "continue"].iter().any(|word| {
        lower.match_indices(word).any(|(at, word)| {
            let (before, from) = lower.split_at(at);
            let is_member = if word == "decision" {
                let name = before.trim_end_matches(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '-'));
                name.ends_with(['"', '\'', '`']) || name.contains('{')
            } else {
                before.trim_end().ends_with(['"', '\'', '`', '{', ','])
            };
            let after = from.get(word.len()..).unwrap_or_default();
            let after = after.trim_start_matches(|c: char| c.is_whitespace() || "\\\"'`".contains(c));
            let value = after.strip_prefix(':').map(str::trim_start);
            is_member && value.is_some_and(|value| word != "continue" || !value.starts_with("true"))
        })
    })
}
