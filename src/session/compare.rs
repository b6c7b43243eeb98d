//! Two sessions side by side: where they part, and what each did from there.
//!
//! They part where the main agents first heard, said or called something else. Everything behind that place counts, the
//! sub-agents' work included.

use serde::Serialize;

use crate::event::{Event, Outcome};
use crate::session::fold::FileChanges;
use crate::session::journal::Record;
use crate::summary;

/// What two sessions share, and what each did behind that.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Messages of the user that both have from their beginning.
    pub shared_messages: u64,
    /// Calls of the main agent that both have from their beginning.
    pub shared_calls: u64,
    /// The last message that both have (untrusted).
    pub last_shared: Option<String>,
    /// What each did from there, in the order in which they were named.
    pub sides: [ComparedSession; 2],
}

/// What a session did behind the place where another one parts from it.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ComparedSession {
    /// The first message of the user (untrusted).
    pub first_message: Option<String>,
    /// Messages of the user to the main agent.
    pub messages: u64,
    /// Sub-agents that were spawned.
    pub agents: u64,
    /// Tokens of all replies and their prompts.
    pub tokens: u64,
    /// What they cost, billionths of a US dollar; null when no server said it.
    pub cost_nanos: Option<u64>,
    /// The calls of all agents in order, in a few words each (untrusted).
    pub calls: Vec<String>,
    /// Calls that failed.
    pub failed_calls: u64,
    /// The files that tools changed.
    pub files: Vec<ComparedFile>,
    /// How the last turn ended; null when it has not.
    pub outcome: Option<Outcome>,
    /// The last answer of the main agent (untrusted); null when it gave none.
    pub answer: Option<String>,
}

/// A file that tools changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ComparedFile {
    /// Its path (untrusted).
    pub path: String,
    /// Lines that came, all changes together.
    pub added: u64,
    /// Lines that went.
    pub removed: u64,
}

/// Compares two sessions.
pub fn compare(first: &[Record], second: &[Record]) -> Comparison {
    let (one, other) = (heard(first), heard(second));
    let shared = one.iter().zip(&other).take_while(|(one, other)| one.what == other.what).count();
    let behind = |of: &[Heard<'_>], records: &[Record]| {
        of.get(shared).map_or(records.len(), |heard| turn_of(records, heard.place))
    };
    let common = one.get(..shared).unwrap_or_default();
    let message = |heard: &&Heard<'_>| matches!(heard.what, What::Message(_));
    Comparison {
        shared_messages: common.iter().filter(message).count() as u64,
        shared_calls: common.iter().filter(|heard| matches!(heard.what, What::Call(..))).count() as u64,
        last_shared: common.iter().rev().find_map(|heard| match heard.what {
            What::Message(text) => Some(text.to_owned()),
            What::Answer(_) | What::Call(..) => None,
        }),
        sides: [side(first, behind(&one, first)), side(second, behind(&other, second))],
    }
}

/// One thing of the main agent that can be another one in another session.
struct Heard<'a> {
    /// The place of its record.
    place: usize,
    what: What<'a>,
}

#[derive(PartialEq)]
enum What<'a> {
    Message(&'a str),
    Answer(&'a str),
    Call(&'a str, String),
}

fn heard(records: &[Record]) -> Vec<Heard<'_>> {
    let mut heard = Vec::new();
    for (place, record) in records.iter().enumerate() {
        let Record::Event(envelope) = record else { continue };
        let what = match &envelope.event {
            Event::UserTurn { content, .. } => What::Message(content),
            Event::Assistant { text, .. } => What::Answer(text),
            Event::ToolCall { name, arguments, .. } => What::Call(name, summary::call(name, arguments)),
            _ => continue,
        };
        if envelope.agent.is_main() {
            heard.push(Heard { place, what });
        }
    }
    heard
}

/// Returns where the turn begins that begins with a record, or the record's own place: a turn that begins with the other
/// message belongs to it.
fn turn_of(records: &[Record], place: usize) -> usize {
    let is_start = |record: &Record| {
        matches!(record, Record::Event(envelope)
            if envelope.agent.is_main() && matches!(envelope.event, Event::TurnStarted { .. }))
    };
    match place.checked_sub(1).and_then(|before| records.get(before)) {
        Some(before) if is_start(before) => place - 1,
        _ => place,
    }
}

fn side(records: &[Record], from: usize) -> ComparedSession {
    let mut side = ComparedSession::default();
    let mut changes = FileChanges::default();
    for record in records.get(from..).unwrap_or_default() {
        let Record::Event(envelope) = record else { continue };
        changes.apply(envelope);
        let is_main = envelope.agent.is_main();
        match &envelope.event {
            Event::UserTurn { content, .. } if is_main => {
                side.messages += 1;
                side.first_message.get_or_insert_with(|| content.clone());
            }
            Event::AgentSpawned { .. } => side.agents += 1,
            Event::Tokens(usage) => {
                side.tokens = side.tokens.saturating_add(usage.context());
                if let Some(cost) = usage.cost_nanos {
                    side.cost_nanos = Some(side.cost_nanos.unwrap_or(0).saturating_add(cost));
                }
            }
            Event::ToolCall { name, arguments, .. } => {
                side.calls.push(format!("{name} {}", summary::call(name, arguments)));
            }
            Event::ToolResult { is_error: true, .. } => side.failed_calls += 1,
            Event::Assistant { text, .. } if is_main && !text.trim().is_empty() => side.answer = Some(text.clone()),
            Event::TurnEnded { outcome, .. } if is_main => side.outcome = Some(*outcome),
            _ => {}
        }
    }
    for change in changes.standing() {
        let (added, removed) = (u64::from(change.diff.added), u64::from(change.diff.removed));
        match side.files.iter_mut().find(|file| file.path == change.diff.path) {
            Some(file) => (file.added, file.removed) = (file.added + added, file.removed + removed),
            None => side.files.push(ComparedFile { path: change.diff.path.clone(), added, removed }),
        }
    }
    side
}
