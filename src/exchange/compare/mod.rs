//! Two sessions side by side: where they part, and what each did from there.
//!
//! They part where the main agents first got another message, gave another answer or made another call. Everything behind that place counts, the
//! sub-agents' work included.
//!
//! # Where things are
//!
//! - both in words, for the command and the screen: `table.rs`; tests: `compare.rs`

mod table;

use serde::Serialize;

use steersman_base::event::{Event, Outcome, add_known};
use steersman_base::message::Arguments;
use steersman_base::summary;
use steersman_session::journal::Record;
use steersman_session::model::{ChangedFile, FileChanges};

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
    let (one, other) = (steps_of(first), steps_of(second));
    let shared = one.iter().zip(&other).take_while(|(one, other)| one.content == other.content).count();
    let behind = |of: &[MainStep<'_>], records: &[Record]| {
        of.get(shared).map_or(records.len(), |step| turn_of(records, step.index))
    };
    let common = one.get(..shared).unwrap_or_default();
    let message = |step: &&MainStep<'_>| matches!(step.content, StepContent::Message(_));
    Comparison {
        shared_messages: common.iter().filter(message).count() as u64,
        shared_calls: common.iter().filter(|step| matches!(step.content, StepContent::Call(..))).count() as u64,
        last_shared: common.iter().rev().find_map(|step| match step.content {
            StepContent::Message(text) => Some(text.to_owned()),
            StepContent::Answer(_) | StepContent::Call(..) => None,
        }),
        sides: [side(first, behind(&one, first)), side(second, behind(&other, second))],
    }
}

/// A message, an answer or a call of the main agent.
struct MainStep<'a> {
    index: usize,
    content: StepContent<'a>,
}

#[derive(PartialEq)]
enum StepContent<'a> {
    Message(&'a str),
    Answer(&'a str),
    Call(&'a str, &'a Arguments),
}

fn steps_of(records: &[Record]) -> Vec<MainStep<'_>> {
    let mut steps = Vec::new();
    for (index, record) in records.iter().enumerate() {
        let Record::Event(envelope) = record else { continue };
        let content = match &envelope.event {
            Event::UserTurn { content, .. } => StepContent::Message(content),
            Event::Assistant { text, .. } => StepContent::Answer(text),
            Event::ToolCall { name, arguments, .. } => StepContent::Call(name, arguments),
            _ => continue,
        };
        if envelope.agent.is_main() {
            steps.push(MainStep { index, content });
        }
    }
    steps
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
                add_known(&mut side.cost_nanos, usage.cost_nanos);
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
    let file = |file: ChangedFile<'_>| {
        let (added, removed) = file.lines();
        ComparedFile { path: file.path.to_owned(), added, removed }
    };
    side.files = changes.files(None, None).into_iter().map(file).collect();
    side
}
