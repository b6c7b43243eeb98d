//! Long sessions for benchmarks: rounds of an agent, each with a call, its result and an answer.

use std::path::Path;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use steersman_base::event::{Delivery, Envelope, Event, Pending, Usage};
use steersman_base::id::AgentId;
use steersman_base::message::{Arguments, AssistantMessage, Message, ToolCall};
use steersman_core::listener::{HistoryChange, Listener as _};
use steersman_session::host::Keeper as _;
use steersman_session::journal::{Header, Journal, SCHEMA, SessionFile, SessionFiles, SessionId};

use super::prose::prose;

/// The last words that are said in a long session.
pub const LAST_WORDS: &str = "These are the last words.";
/// A text that waits in it.
pub const WAITING: &str = "this text still waits";

/// Returns the event of this number: rounds of ten, of which six are pieces of an answer.
pub fn event(number: u64) -> Envelope {
    let call = || format!("call {}", number / 10).as_str().into();
    let event = match number % 10 {
        _ if number == 1 => Event::TurnStarted { turn: 1 },
        1 => Event::ToolCall {
            id: call(),
            name: "read".to_owned(),
            arguments: Arguments::parse(r#"{"path":"src/lib.rs","limit":20}"#),
        },
        2 => {
            let content = prose(number, 10, 5);
            Event::ToolResult { id: call(), content, is_error: false, elapsed_ms: 12 }
        }
        9 => Event::Assistant { text: prose(number, 2, 12), interrupted: false },
        _ => Event::AssistantDelta { text: "a few words ".to_owned() },
    };
    let at = Timestamp::from_millisecond(1_790_000_000_000 + i64::try_from(number).unwrap()).unwrap();
    Envelope { seq: number, at, agent: AgentId::main(), parent: None, event }
}

/// Returns the event of this number among those that are recorded: no pieces.
pub fn recorded(number: u64) -> Envelope {
    let place = [1, 2, 9][usize::try_from(number % 3).unwrap()];
    Envelope { seq: number, ..event(if number == 1 { 1 } else { number / 3 * 10 + place }) }
}

/// Hands the journal a session as they are lived: so many events of a main agent and of this many sub-agents, half of them
/// the main agent's, with the conversation of each. The texts of a conversation are named, not written again.
pub fn live(journal: &Journal, events: u64, agents: u64) {
    let main = AgentId::main();
    let mut seq = 0;
    let mut say = |agent: &AgentId, event: Event| {
        seq += 1;
        let at = Timestamp::from_millisecond(1_790_000_000_000 + i64::try_from(seq).unwrap()).unwrap();
        let parent = (!agent.is_main()).then(AgentId::main);
        journal.on_event(&Envelope { seq, at, agent: agent.clone(), parent, event });
        if seq.is_multiple_of(50_000) {
            journal.keep();
        }
        seq
    };
    say(&main, Event::TurnStarted { turn: 1 });
    let names: Vec<AgentId> = (0..agents).map(|number| AgentId::new(format!("file_miner {number}"))).collect();
    for name in &names {
        let spawned = Event::AgentSpawned {
            child: name.clone(),
            persona: "file_miner".to_owned(),
            task: format!("Look at the part of {name} and say what it is for."),
            call: None,
            model: Some("qwen3-35b".to_owned()),
            max_steps: Some(30),
            tools: vec!["read".to_owned(), "grep".to_owned()],
        };
        say(&main, spawned);
        journal.on_history(name, HistoryChange::Appended(&Message::user(prose(1, 1, 12))));
        say(name, Event::TurnStarted { turn: 1 });
    }
    for round in 1_u64.. {
        let number = usize::try_from(round / 2).unwrap();
        let agent = if round % 2 == 0 { &main } else { names.get(number % names.len().max(1)).unwrap_or(&main) };
        let arguments = Arguments::parse(r#"{"path":"src/lib.rs","limit":20}"#);
        let call = ToolCall { id: format!("call {round}").as_str().into(), name: "read".to_owned(), arguments };
        let (id, name, arguments) = (call.id.clone(), call.name.clone(), call.arguments.clone());
        let text = prose(round, 2, 12);
        say(agent, Event::Assistant { text: text.clone(), interrupted: false });
        let usage = Usage { input: Some(900), output: Some(100), cost_nanos: Some(1_000_000), ..Usage::default() };
        say(agent, Event::Tokens(usage));
        let reply = AssistantMessage { content: text, tool_calls: vec![call.clone()], ..AssistantMessage::default() };
        journal.on_history(agent, HistoryChange::Appended(&Message::Assistant(reply)));
        say(agent, Event::ToolCall { id: id.clone(), name, arguments });
        let content = prose(round, 10, 5);
        let result = Message::tool(&call, content.clone());
        if say(agent, Event::ToolResult { id, content, is_error: false, elapsed_ms: 12 }) >= events {
            return;
        }
        journal.on_history(agent, HistoryChange::Appended(&result));
    }
}

/// Begins the journal of a new session in a directory; returns it with its name.
pub fn begin(state: &Path, directory: &Path) -> (Journal, SessionId) {
    let started = Timestamp::now();
    let header = Header {
        schema: SCHEMA,
        program: "steersman".to_owned(),
        session: SessionId::new(started).unwrap(),
        started,
        directory: directory.display().to_string(),
        branch: None,
        model: None,
        parent: None,
        imported: None,
    };
    let session = header.session.clone();
    let opening = SessionFiles::within(state).creating(&header, &TimeZone::UTC);
    (Journal::begin(header, opening), session)
}

/// How long the events of a session took.
pub struct Written {
    pub file: SessionFile,
    /// Until the journal had them.
    pub handed: Duration,
    /// Until they were on the disk.
    pub saved: Duration,
}

/// Writes a session of so many events.
pub fn write(state: &Path, directory: &Path, events: u64, event: fn(u64) -> Envelope) -> Written {
    written(state, directory, events, |journal| {
        for number in 1..=events {
            journal.on_event(&event(number));
            // A run does not make a million at once: its writer keeps up.
            if number.is_multiple_of(50_000) {
                journal.keep();
            }
        }
    })
}

/// Writes a session of so many events, as [`live`] does.
pub fn write_lived(state: &Path, directory: &Path, events: u64, agents: u64) -> Written {
    written(state, directory, events, |journal| live(journal, events, agents))
}

fn written(state: &Path, directory: &Path, events: u64, tell: impl FnOnce(&Journal)) -> Written {
    let (journal, session) = begin(state, directory);
    let began = Instant::now();
    tell(&journal);
    let handed = began.elapsed();
    let last = Event::Assistant { text: LAST_WORDS.to_owned(), interrupted: false };
    journal.on_event(&Envelope { seq: events + 1, event: last, ..event(events) });
    let entry = Pending::new("m1".into(), (WAITING, Delivery::FollowUp), Timestamp::now());
    journal.accepted(&AgentId::main(), entry);
    // The thread takes its time for so many at once; an end waits for it only so long.
    let waiting = Instant::now();
    while journal.close().is_some() {
        assert!(waiting.elapsed() < Duration::from_mins(5), "the journal does not end");
    }
    let saved = began.elapsed();
    Written { file: SessionFiles::within(state).find(session.as_str()).unwrap(), handed, saved }
}
