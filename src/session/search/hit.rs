//! A line of a journal in which a word was found, read as what it tells: whose text it is, from when, and the words.
//!
//! Only texts count: a match in a name of the format is none, and a text that stands in the line only by its number was
//! found where it is written out.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

use super::SearchQuery;
use crate::journal::{SessionId, written_out};
use steersman_base::id::AgentId;

/// Characters of a text that are shown before a match, and behind it.
const BEFORE: usize = 40;
const BEHIND: usize = 100;
/// Members of a record that are no texts of anybody, or hold one again as its provider wrote it.
const NO_TEXT: [&str; 32] = [
    "after",
    "agent",
    "answer",
    "at",
    "by",
    "call",
    "call_id",
    "child",
    "decision",
    "delivery",
    "digest",
    "during",
    "event",
    "fault",
    "finish",
    "from",
    "hook",
    "id",
    "injection",
    "kind",
    "media_type",
    "model",
    "original",
    "outcome",
    "provider",
    "role",
    "scope",
    "sender",
    "seq",
    "status",
    "tools",
    "type",
];
/// Events that nobody wrote anything in: the set-up of the run.
const NO_TEXTS: [&str; 4] = ["session_started", "guards", "pending", "model_switched"];

/// A text in which the words were found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hit {
    /// The session.
    pub session: SessionId,
    /// The agent whose text it is; empty for the main agent.
    pub agent: AgentId,
    /// When it came; null for what has no time, as in the conversation.
    pub at: Option<Timestamp>,
    /// The number of the event, or of the next one behind.
    pub seq: Option<u64>,
    /// The type of the event, or the kind of the record.
    pub kind: String,
    /// The text around the first match (untrusted).
    pub excerpt: String,
    #[serde(skip)]
    pub(super) is_event: bool,
    #[serde(skip)]
    pub(super) text_hash: u64,
}

/// Returns what a line tells; of several texts in it the first that holds all words.
pub(super) fn find_in_line(session: &SessionId, line: &[u8], words: &SearchQuery) -> Option<Hit> {
    let record: Value = serde_json::from_slice(line).ok()?;
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut found = None;
    let kind = text(record.get("kind"));
    let is_conversation = kind == "history" || kind == "agent_history";
    let is_event = kind == "event";
    let (agent, at, seq, kind, value) = match kind.as_str() {
        "event" => {
            let event = record.get("event")?;
            // What waits was accepted, and is told again when it is delivered.
            if NO_TEXTS.contains(&text(event.get("type")).as_str()) {
                return None;
            }
            let at = text(record.get("at")).parse().ok();
            (text(record.get("agent")), at, record.get("seq").and_then(Value::as_u64), text(event.get("type")), event)
        }
        "accepted" => {
            let entry = record.get("entry")?;
            (text(record.get("to")), text(entry.get("at")).parse().ok(), None, kind, entry)
        }
        "history" => (String::new(), None, None, kind, record.get("messages")?),
        "agent_history" => (text(record.get("agent")), None, None, kind, record.get("messages")?),
        _ => return None,
    };
    each_text(value, &mut |text, is_system| {
        // A system prompt holds every usual word, in every session.
        if found.is_none() && !(is_conversation && is_system) {
            found = words.place_in(text).map(|place| {
                let mut hasher = DefaultHasher::new();
                text.hash(&mut hasher);
                (excerpt(text, place.start()), hasher.finish())
            });
        }
    });
    let (excerpt, text_hash) = found?;
    Some(Hit { session: session.clone(), agent: AgentId::new(agent), at, seq, kind, excerpt, is_event, text_hash })
}

/// Returns the number of the event that a line tells of.
pub(super) fn seq_of(line: &[u8]) -> Option<u64> {
    let record: Value = serde_json::from_slice(line).ok()?;
    record.get("seq").and_then(Value::as_u64)
}

/// The member that holds what a model wrote for a tool: its members have any names.
const ARGUMENTS: &str = "arguments";

/// Visits the texts of a value that are written out there; says of each whether it is a system message's.
fn each_text(value: &Value, visit: &mut impl FnMut(&str, bool)) {
    fn walk(value: &Value, (is_system, is_free): (bool, bool), visit: &mut impl FnMut(&str, bool)) {
        match value {
            Value::String(text) => {
                if let Some(text) = written_out(text) {
                    visit(text, is_system);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| walk(item, (is_system, is_free), visit)),
            Value::Object(members) => {
                // The words of the user stand in it without what the model was told of them.
                if !is_free && let Some(words) = content_of(members) {
                    return walk(words, (is_system, false), visit);
                }
                let is_system = is_system || !is_free && members.get("role").is_some_and(|role| role == "system");
                let texts = members.iter().filter(|(name, _)| is_free || !NO_TEXT.contains(&name.as_str()));
                texts.for_each(|(name, member)| walk(member, (is_system, is_free || name == ARGUMENTS), visit));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    walk(value, (false, false), visit);
}

/// Returns the words of a message that was wrapped for the model.
fn content_of(message: &Map<String, Value>) -> Option<&Value> {
    message.get("about")?.get("words").filter(|words| words.is_string())
}

fn excerpt(text: &str, place: usize) -> String {
    let (before, behind) = text.split_at_checked(place).unwrap_or(("", text));
    let from = before.char_indices().rev().nth(BEFORE).map(|(at, _)| at);
    let to = behind.char_indices().nth(BEHIND).map(|(at, _)| at);
    let head = if from.is_some() { "…" } else { "" };
    let tail = if to.is_some() { "…" } else { "" };
    let before = before.get(from.unwrap_or(0)..).unwrap_or_default();
    let behind = behind.get(..to.unwrap_or(behind.len())).unwrap_or_default();
    format!("{head}{before}{behind}{tail}")
}
