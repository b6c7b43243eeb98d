//! The listeners that write: plain text, JSON lines, token lines; the decorator for slow sinks; how a list derives.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map, Value};
use steersman_base::event::{Envelope, Event, Outcome, Usage};
use steersman_base::id::{AgentId, CallId};
use steersman_base::message::Arguments;
use steersman_core::listener::{
    Clock, InMemoryEventList, JsonLines, Listener, ListenerList, RateLimited, Terminal, TokenLog,
};

/// A writer whose text can be read, and that knows how far it was flushed.
#[derive(Clone, Default)]
pub struct Sink(Arc<Mutex<(Vec<u8>, usize)>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut inner = self.0.lock().unwrap();
        inner.1 = inner.0.len();
        Ok(())
    }
}

impl Sink {
    /// What a reader at the other end of a pipe has by now.
    pub fn flushed(&self) -> String {
        let inner = self.0.lock().unwrap();
        assert_eq!(inner.0.len(), inner.1, "something was written and not flushed");
        String::from_utf8(inner.0.clone()).unwrap()
    }
}

/// A pipe whose reader went away.
pub struct Broken;

impl Write for Broken {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Err(io::ErrorKind::BrokenPipe.into())
    }
}

pub fn list(listener: impl Listener + 'static) -> ListenerList {
    ListenerList::new(&[Arc::new(listener)])
}

pub fn terminal() -> (ListenerList, Sink) {
    let sink = Sink::default();
    (list(Terminal::new(sink.clone())), sink)
}

pub fn delta(text: &str) -> Event {
    Event::AssistantDelta { text: text.into() }
}

pub fn thinking_delta(text: &str) -> Event {
    Event::ThinkingDelta { text: text.into() }
}

pub fn assistant(text: &str) -> Event {
    Event::Assistant { text: text.into(), interrupted: false }
}

pub fn user(text: &str, mid_loop: bool) -> Event {
    Event::UserTurn {
        content: text.into(),
        mid_loop,
        injection: None,
        step: 0,
        after: None,
        sender: None,
        kind: steersman_base::steering::TextKind::Add,
        met: None,
        images: Vec::new(),
    }
}

pub fn call(id: &str, name: &str, arguments: &str) -> Event {
    Event::ToolCall { id: id.into(), name: name.into(), arguments: Arguments::parse(arguments) }
}

pub fn result(id: &str, content: &str, elapsed_ms: u64) -> Event {
    Event::ToolResult { id: id.into(), content: content.into(), is_error: content.starts_with("Error: "), elapsed_ms }
}

pub fn round() -> Event {
    Event::RoundStarted { turn: 1, round: 1 }
}

pub fn ended(outcome: Outcome, message: Option<&str>) -> Event {
    Event::TurnEnded { turn: 1, outcome, message: message.map(str::to_owned) }
}

pub fn spawned(child: &str, call: Option<&str>) -> Event {
    Event::AgentSpawned {
        child: child.into(),
        persona: "file_miner".into(),
        task: "look into src\nand count".into(),
        call: call.map(CallId::new),
        model: None,
        max_steps: Some(30),
        tools: vec![],
    }
}

pub fn play(list: &ListenerList, events: impl IntoIterator<Item = Event>) {
    for event in events {
        list.emit(event);
    }
}

// --- JsonLines

#[test]
fn json_lines_are_flushed_one_by_one_and_read_back_equal() {
    let (sink, record) = (Sink::default(), Arc::new(InMemoryEventList::new()));
    let list = ListenerList::new(&[Arc::new(JsonLines::new(sink.clone())), record.clone()]);
    let child = list.for_sub_agent(&"researcher 0".into());
    let events = [(&list, user("one\ntwo", false)), (&child, delta("x")), (&list, Event::Reset {})];
    for (lines, (agent, event)) in events.into_iter().enumerate() {
        agent.emit(event);
        assert_eq!(sink.flushed().lines().count(), lines + 1);
    }
    let read: Vec<Envelope> = sink.flushed().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // The wire form has microseconds.
    let written: Vec<Envelope> = record
        .envelopes()
        .iter()
        .map(|envelope| serde_json::from_str(&serde_json::to_string(envelope).unwrap()).unwrap())
        .collect();
    assert_eq!(read, written);
    assert_eq!(read.iter().map(|envelope| envelope.seq).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!((read[1].agent.as_str(), read[1].parent.clone()), ("researcher 0", Some(AgentId::main())));
}

#[test]
fn json_lines_hide_nothing_from_whoever_looks_at_them_and_change_no_value() {
    let sink = Sink::default();
    let text = "é\u{9b}31m\u{202e}\u{7f}\u{2028}\u{e0041}\u{1b}";
    list(JsonLines::new(sink.clone())).emit(assistant(text));
    let line = sink.flushed();
    assert!(line.contains(r#""text":"é\u009b31m\u202e\u007f"#), "{line}");
    assert!(line.contains(r"\udb40\udc41\u001b"), "{line}");
    let read: Envelope = serde_json::from_str(&line).unwrap();
    assert_eq!(read.event, assistant(text));
}

// --- TokenLog

fn tokens(input: u64, output: u64, cached: u64, cache_creation: u64) -> Event {
    let (input, output) = (Some(input), Some(output));
    let (cached, cache_creation) = (Some(cached), Some(cache_creation));
    Event::Tokens(Usage { input, output, cached, cache_creation, ..Usage::default() })
}

#[test]
fn token_lines_tell_the_context_with_and_without_a_cap() {
    let sink = Sink::default();
    let list = list(TokenLog::new(sink.clone()));
    play(
        &list,
        [
            tokens(10_000, 200, 1_500, 500),
            Event::ContextCap { tokens: Some(32_000) },
            tokens(10_000, 200, 1_500, 500),
            Event::Tokens(Usage { output: Some(5), ..Usage::default() }),
            Event::Tokens(Usage::default()),
            Event::ContextCap { tokens: Some(131_072) },
            tokens(900, 50, 0, 0),
            Event::ContextCap { tokens: None },
            tokens(900, 50, 0, 0),
        ],
    );
    assert_eq!(
        sink.flushed(),
        "\
tokens in=10.0k out=200 cached=1.5k ctx=12.2k
tokens in=10.0k out=200 cached=1.5k ctx=12.2k/32.0k
tokens in=0 out=5 cached=0 ctx=5/32.0k
tokens in=0 out=0 cached=0 ctx=0/32.0k
tokens in=900 out=50 cached=0 ctx=950/131k
tokens in=900 out=50 cached=0 ctx=950
"
    );
}

#[test]
fn the_token_lines_of_a_sub_agent_start_from_zero_and_carry_its_id() {
    let sink = Sink::default();
    let list = list(TokenLog::new(sink.clone()));
    play(&list, [Event::ContextCap { tokens: Some(32_000) }, tokens(12_000, 0, 0, 0)]);
    let child = list.for_sub_agent(&"researcher 0".into());
    play(&child, [tokens(10, 1, 0, 0), Event::ContextCap { tokens: Some(8_000) }, tokens(20, 1, 0, 0)]);
    list.emit(tokens(13_000, 0, 0, 0));
    assert_eq!(
        sink.flushed(),
        "\
tokens in=12.0k out=0 cached=0 ctx=12.0k/32.0k
tokens [researcher 0] in=10 out=1 cached=0 ctx=11
tokens [researcher 0] in=20 out=1 cached=0 ctx=21/8.0k
tokens in=13.0k out=0 cached=0 ctx=13.0k/32.0k
"
    );
}

// --- RateLimited

/// A clock that the test turns, in milliseconds.
fn clock() -> (Clock, Arc<AtomicU64>) {
    let millis = Arc::new(AtomicU64::new(0));
    let hand = Arc::clone(&millis);
    (Arc::new(move || Duration::from_millis(millis.load(Ordering::SeqCst))), hand)
}

fn limited() -> (ListenerList, Arc<InMemoryEventList>, Arc<AtomicU64>) {
    let (clock, hand) = clock();
    let record = Arc::new(InMemoryEventList::new());
    let listener = RateLimited::with_clock(record.clone(), Duration::from_millis(100), clock);
    (list(listener), record, hand)
}

#[test]
fn deltas_leave_at_most_once_per_interval_and_merged() {
    let (list, record, hand) = limited();
    for (at, text) in [(0, "a"), (10, "b"), (50, "c"), (99, "d"), (100, "e"), (150, "f"), (250, "g")] {
        hand.store(at, Ordering::SeqCst);
        list.emit(delta(text));
    }
    assert_eq!(record.events(), [delta("a"), delta("bcde"), delta("fg")]);
    let seqs: Vec<u64> = record.envelopes().iter().map(|envelope| envelope.seq).collect();
    assert_eq!(seqs, [1, 5, 7], "a merged delta has the last number");
}

#[test]
fn deltas_of_two_kinds_keep_their_order() {
    let (list, record, hand) = limited();
    let progress = |id: &str, text: &str| Event::ToolProgress { id: id.into(), text: text.into() };
    play(&list, [delta("first")]);
    play(&list, [thinking_delta("a"), thinking_delta("b"), delta("c"), thinking_delta("d"), thinking_delta("e")]);
    play(&list, [progress("c1", "f"), progress("c1", "g"), progress("c2", "h")]);
    assert_eq!(record.events().len(), 1);
    hand.store(100, Ordering::SeqCst);
    list.emit(progress("c2", "i"));
    assert_eq!(
        record.events()[1..],
        [thinking_delta("ab"), delta("c"), thinking_delta("de"), progress("c1", "fg"), progress("c2", "hi"),]
    );
}

#[test]
fn any_other_event_lets_out_what_waits_first_and_is_not_held_back() {
    let (list, record, _) = limited();
    play(&list, [delta("a"), delta("b"), delta("c"), assistant("abc"), Event::Reset {}, delta("d")]);
    assert_eq!(record.events(), [delta("a"), delta("bc"), assistant("abc"), Event::Reset {}]);
}

#[test]
fn what_waits_at_the_end_is_not_dropped() {
    let (list, record, _) = limited();
    play(&list, [delta("a"), delta("b")]);
    drop(list);
    assert_eq!(record.events(), [delta("a"), delta("b")]);
}

#[test]
fn a_limited_listener_wraps_the_inner_ones_child() {
    let (clock, _) = clock();
    let sink = Sink::default();
    let limited = RateLimited::with_clock(Arc::new(Terminal::new(sink.clone())), Duration::from_millis(100), clock);
    assert_eq!(limited.label(), "RateLimited(Terminal)");
    let child = limited.for_sub_agent(&"a 0".into()).unwrap();
    assert_eq!(child.label(), "RateLimited(Terminal)");
    let list = list(limited);
    list.for_sub_agent(&"a 0".into()).emit(call("c1", "read", "{}"));
    assert_eq!(sink.flushed(), "·   [a 0] read\n");
}

#[test]
fn a_limited_recorder_is_shared_by_the_tree_and_keeps_one_order() {
    let (list, record, _) = limited();
    let child = list.for_sub_agent(&"a 0".into());
    assert!(Arc::ptr_eq(&list.listeners()[0], &child.listeners()[0]));
    list.emit(delta("a"));
    child.emit(delta("b"));
    list.emit(delta("c"));
    child.emit(Event::Reset {});
    let seqs: Vec<u64> = record.envelopes().iter().map(|envelope| envelope.seq).collect();
    assert_eq!(seqs, [1, 2, 3, 4], "deltas of two agents do not merge");
}

// --- the list

#[test]
fn a_child_gets_a_new_list_with_each_listener_asked() {
    let recorder: Arc<dyn Listener> = Arc::new(InMemoryEventList::new());
    let json: Arc<dyn Listener> = Arc::new(JsonLines::new(io::sink()));
    let terminal: Arc<dyn Listener> = Arc::new(Terminal::new(io::sink()));
    let log: Arc<dyn Listener> = Arc::new(TokenLog::new(io::sink()));
    let parent = ListenerList::new(&[recorder, json, terminal, log]);
    let child = parent.for_sub_agent(&"researcher 0".into());
    let same: Vec<bool> =
        parent.listeners().iter().zip(child.listeners()).map(|(one, other)| Arc::ptr_eq(one, other)).collect();
    assert_eq!(same, [true, true, false, false]);
    assert_eq!(parent.to_string(), "[InMemoryEventList, JsonLines, Terminal, TokenLog]");
    assert_eq!(child.to_string(), parent.to_string());
    assert_eq!((parent.agent().as_str(), child.agent().as_str()), ("", "researcher 0"));
}

#[test]
fn a_panicking_listener_is_left_out_and_the_others_still_hear() {
    struct Panics;
    impl Listener for Panics {
        fn on_event(&self, _: &Envelope) {
            panic!("a listener fails");
        }

        fn label(&self) -> String {
            "Panics".to_owned()
        }
    }
    let record = Arc::new(InMemoryEventList::new());
    let list = ListenerList::new(&[Arc::new(Panics), record.clone()]);
    play(&list, [Event::Reset {}, Event::Reset {}]);
    assert_eq!(record.events(), [Event::Reset {}, Event::Reset {}]);
}

#[test]
fn one_order_runs_through_the_whole_tree() {
    let record = Arc::new(InMemoryEventList::new());
    let listener: Arc<dyn Listener> = record.clone();
    let list = ListenerList::new(&[listener]);
    let child = list.for_sub_agent(&"a 0".into());
    let grandchild = child.for_sub_agent(&"a 0_synthesizer".into());
    for agent in [&list, &child, &grandchild, &list] {
        agent.emit(Event::Reset {});
    }
    let seen: Vec<(u64, String, Option<String>)> = record
        .envelopes()
        .iter()
        .map(|e| (e.seq, e.agent.to_string(), e.parent.as_ref().map(ToString::to_string)))
        .collect();
    let expected = [(1, "", None), (2, "a 0", Some("")), (3, "a 0_synthesizer", Some("a 0")), (4, "", None)]
        .map(|(seq, agent, parent)| (seq, agent.to_owned(), parent.map(str::to_owned)));
    assert_eq!(seen, expected);
}

// --- readiness

/// Cannot take more until it is told so.
#[derive(Default)]
struct Slow {
    is_ready: std::sync::atomic::AtomicBool,
    waker: Mutex<Option<std::task::Waker>>,
}

impl Listener for Slow {
    fn on_event(&self, _envelope: &Envelope) {}

    fn poll_ready(&self, context: &mut std::task::Context<'_>) -> std::task::Poll<()> {
        if self.is_ready.load(std::sync::atomic::Ordering::SeqCst) {
            return std::task::Poll::Ready(());
        }
        *self.waker.lock().unwrap() = Some(context.waker().clone());
        std::task::Poll::Pending
    }

    fn label(&self) -> String {
        "Slow".to_owned()
    }
}

#[tokio::test]
async fn while_a_listener_can_take_no_more_nothing_is_read_on() {
    let slow = Arc::new(Slow::default());
    let listeners = ListenerList::new(&[Arc::clone(&slow) as Arc<dyn Listener>]);
    let begun = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let flag = Arc::clone(&begun);
    let reading = tokio::spawn(async move {
        listeners.pace(async { flag.store(true, std::sync::atomic::Ordering::SeqCst) }).await;
    });
    while slow.waker.lock().unwrap().is_none() {
        tokio::task::yield_now().await;
    }
    assert!(!begun.load(std::sync::atomic::Ordering::SeqCst));
    slow.is_ready.store(true, std::sync::atomic::Ordering::SeqCst);
    slow.waker.lock().unwrap().take().unwrap().wake();
    reading.await.unwrap();
    assert!(begun.load(std::sync::atomic::Ordering::SeqCst));
}

#[test]
fn the_number_of_a_line_that_is_no_event_is_that_of_the_event_that_stands_before_it() {
    let lines = Arc::new(OnceLock::<JsonLines>::new());
    let written = Sink::default();
    let inner = Arc::clone(&lines);
    let main = AgentId::main();
    let event =
        |seq| Envelope { seq, at: Timestamp::UNIX_EPOCH, agent: main.clone(), parent: None, event: Event::Reset {} };
    let second = event(2);
    // An event that comes while the other line is being made.
    let add = move |envelope: &Envelope, _: &mut Map<String, Value>| {
        if envelope.event == (Event::Cancelled {})
            && let Some(lines) = inner.get()
        {
            lines.on_event(&second);
        }
    };
    let lines = {
        assert!(lines.set(JsonLines::new(written.clone()).adding(add)).is_ok());
        lines.get().unwrap()
    };
    lines.on_event(&event(1));
    lines.append_line(main.clone(), None, Map::from_iter([("type".to_owned(), "reply".into())]));
    let number = |line: &str| serde_json::from_str::<Value>(line).unwrap()["seq"].as_u64().unwrap();
    let numbers: Vec<u64> = written.flushed().lines().map(number).collect();
    assert_eq!(numbers, [1, 2, 2]);
}
