//! What a server says when it refuses, in every shape that was seen, as its own words.
//!
//! Used by the providers. The words are cut to one line of bounded length; they are not sanitised yet.

use serde_json::Value;

use crate::limits;

/// What is said for a server that says nothing.
pub(super) const SILENT: &str = "no further words";

/// Marks of a refusal that no waiting cures: money or quota is used up, or the prompt is too long.
const HOPELESS: [&str; 13] = [
    "insufficient_quota",
    "enforced_spend_limit_reached",
    "billing_hard_limit_reached",
    "billing_not_active",
    "exceeded_current_quota",
    "insufficient_balance",
    "credit balance is too low",
    "exceed_context_size",
    "exceeds the available context size",
    "context_length_exceeded",
    "maximum context length",
    "prompt is too long",
    "input is too long",
];

/// Is what a server said about a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ErrorBody {
    /// Its words, one line.
    pub words: String,
    /// The status that the body itself names (an error within a stream of status 200).
    pub status: Option<u16>,
    /// Whether waiting cannot help.
    pub hopeless: bool,
}

impl ErrorBody {
    /// Reads the body of an error answer.
    pub fn read(body: &str) -> Self {
        let parsed = serde_json::from_str::<Value>(body);
        let lower = body.to_ascii_lowercase();
        let hopeless = HOPELESS.iter().any(|mark| lower.contains(mark));
        match parsed {
            Ok(value) => Self { hopeless, ..Self::of(&value) },
            Err(_) => Self { words: plain(body), status: None, hopeless },
        }
    }

    /// Reads an error object, or what holds one.
    pub fn of(value: &Value) -> Self {
        let status = [value, value.get("error").unwrap_or(&Value::Null)].into_iter().find_map(|holder| {
            let code = holder.get("code").or_else(|| holder.get("status"))?;
            let number = code.as_u64().or_else(|| code.as_str()?.parse().ok())?;
            u16::try_from(number).ok().filter(|status| (400..600).contains(status))
        });
        let text = value.to_string().to_ascii_lowercase();
        let hopeless = HOPELESS.iter().any(|mark| text.contains(mark));
        let words = words(value).unwrap_or_else(|| value.to_string());
        Self { words: one_line(&words), status, hopeless }
    }
}

/// Finds the words in an error object: `{"error":{"message"}}`, `{"error":"…"}`, `{"message"}`, `{"detail"}`, lists of these.
fn words(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Array(items) => {
            let each: Vec<String> = items.iter().filter_map(words).collect();
            (!each.is_empty()).then(|| each.join("; "))
        }
        Value::Object(object) => {
            let found = ["error", "message", "msg", "detail", "errors", "error_description", "title", "type"]
                .into_iter()
                .find_map(|name| words(object.get(name)?))?;
            let found = match object.get("loc").and_then(Value::as_array).map(|path| place(path)) {
                Some(place) if !place.is_empty() => format!("{place}: {found}"),
                _ => found,
            };
            // OpenRouter: "Provider returned error", and what the provider said beside it.
            match object.get("metadata").and_then(|metadata| metadata.get("raw")).and_then(Value::as_str) {
                Some(raw) => Some(format!("{found}: {}", ErrorBody::read(raw).words)),
                None => Some(found),
            }
        }
        _ => None,
    }
}

/// Names the member of the request that a fault is in, as `FastAPI` does beside its words: `tools.0.name`.
fn place(path: &[Value]) -> String {
    let name = |step: &Value| step.as_str().map_or_else(|| step.to_string(), str::to_owned);
    path.iter().map(name).skip_while(|step| step == "body").collect::<Vec<_>>().join(".")
}

/// Says in one sentence what a body that is no JSON holds.
pub(super) fn plain(body: &str) -> String {
    let trimmed = body.trim_start_matches('\u{FEFF}').trim();
    if trimmed.is_empty() {
        return SILENT.to_owned();
    }
    if !trimmed.starts_with('<') {
        return one_line(trimmed);
    }
    let lower = trimmed.to_ascii_lowercase();
    let title = lower.find("<title>").and_then(|start| {
        let start = start + "<title>".len();
        let length = lower.get(start..)?.find("</title>")?;
        trimmed.get(start..start + length)
    });
    match title.map(one_line).filter(|title| !title.is_empty()) {
        Some(title) => format!("a web page, \"{title}\""),
        None => "a web page".to_owned(),
    }
}

fn one_line(text: &str) -> String {
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((cut, _)) = line.char_indices().nth(limits::ERROR_CHARS) {
        line.truncate(cut);
        line.push('…');
    }
    line
}
