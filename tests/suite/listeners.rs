//! The listeners that write: plain text, JSON lines, token lines; the decorator for slow sinks; how a list derives.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use steersman::event::{Envelope, Event, Outcome, Usage};
use steersman::id::{AgentId, CallId};
use steersman::listener::{
    Clock, InMemoryEventList, JsonLines, Listener, ListenerList, RateLimited, Terminal, TokenLog,
};
use steersman::message::Arguments;

/// A writer whose text can be read, and that knows how far it was flushed.
#[derive(Clone, Default)]
struct Sink(Arc<Mutex<(Vec<u8>, usize)>>);

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
    fn flushed(&self) -> String {
        let inner = self.0.lock().unwrap();
        assert_eq!(inner.0.len(), inner.1, "something was written and not flushed");
        String::from_utf8(inner.0.clone()).unwrap()
    }
}

/// A pipe whose reader went away.
struct Broken;

impl Write for Broken {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Err(io::ErrorKind::BrokenPipe.into())
    }
}

fn list(listener: impl Listener + 'static) -> ListenerList {
    ListenerList::new(&[Arc::new(listener)])
}

fn terminal() -> (ListenerList, Sink) {
    let sink = Sink::default();
    (list(Terminal::new(sink.clone())), sink)
}

fn delta(text: &str) -> Event {
    Event::AssistantDelta { text: text.into() }
}

fn thinking_delta(text: &str) -> Event {
    Event::ThinkingDelta { text: text.into() }
}

fn assistant(text: &str) -> Event {
    Event::Assistant { text: text.into(), interrupted: false }
}

fn user(text: &str, mid_loop: bool) -> Event {
    Event::UserTurn { content: text.into(), mid_loop, injection: None }
}

fn call(id: &str, name: &str, arguments: &str) -> Event {
    Event::ToolCall { id: id.into(), name: name.into(), arguments: Arguments::parse(arguments) }
}

fn result(id: &str, content: &str, elapsed_ms: u64) -> Event {
    Event::ToolResult { id: id.into(), content: content.into(), is_error: content.starts_with("Error: "), elapsed_ms }
}

fn round() -> Event {
    Event::RoundStarted { turn: 1, round: 1 }
}

fn ended(outcome: Outcome, message: Option<&str>) -> Event {
    Event::TurnEnded { turn: 1, outcome, message: message.map(str::to_owned) }
}

fn spawned(child: &str, call: Option<&str>) -> Event {
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

fn play(list: &ListenerList, events: impl IntoIterator<Item = Event>) {
    for event in events {
        list.emit(event);
    }
}

// --- Terminal

#[test]
fn a_turn_is_the_answer_and_notes() {
    let (list, sink) = terminal();
    play(
        &list,
        [
            Event::TurnStarted { turn: 1 },
            user("look at this project", false),
            round(),
            Event::Thinking { text: "\nFirst the files.\nThen the rest.".into() },
            assistant("I look."),
            Event::Tokens(Usage::default()),
            call("c1", "glob", r#"{"pattern":"**/*"}"#),
            call("c2", "grep", r#"{"pattern":"fn main","path":"src"}"#),
            result("c2", "Error: no such directory\nTry another.", 3),
            result("c1", "a.rs\nb.rs\n", 1_250),
            user("only the tests", true),
            Event::RoundEnded { turn: 1, round: 1 },
            round(),
            assistant("# Report\n\nTwo files.\n"),
            Event::RoundEnded { turn: 1, round: 2 },
            ended(Outcome::Completed, None),
        ],
    );
    assert_eq!(
        sink.flushed(),
        "\
· user: look at this project
· thinking: First the files.…
I look.
· glob **/*
· grep pattern=fn main path=src
· grep pattern=fn main path=src → Error: no such directory… (3 ms)
· glob **/* → 2 lines, 10 B (1.2 s)
· user, mid-turn: only the tests
# Report

Two files.
"
    );
}

#[test]
fn pieces_are_shown_as_they_come_and_the_whole_text_is_not_shown_again() {
    let (list, sink) = terminal();
    play(&list, [round(), delta("Hello, "), delta("wor")]);
    assert_eq!(sink.flushed(), "Hello, wo", "only the last character waits");
    play(&list, [delta("ld.\nBye"), assistant("Hello, world.\nBye"), ended(Outcome::Completed, None)]);
    assert_eq!(sink.flushed(), "Hello, world.\nBye\n");
}

#[test]
fn a_whole_text_that_goes_further_than_its_pieces_is_completed() {
    let (list, sink) = terminal();
    play(&list, [round(), delta("Hello, "), assistant("Hello, world.\n")]);
    assert_eq!(sink.flushed(), "Hello, world.\n");
}

#[test]
fn a_whole_text_that_differs_from_its_pieces_is_shown_whole_and_marked() {
    let (list, sink) = terminal();
    play(&list, [round(), delta("Hello, wor"), assistant("Goodbye.")]);
    assert_eq!(sink.flushed(), "Hello, wo\n· the text above was a preview; this replaces it:\nGoodbye.\n");
}

#[test]
fn white_space_that_the_server_trims_does_not_count_as_a_difference() {
    let (list, sink) = terminal();
    play(&list, [round(), delta("\nHello. \n"), assistant("Hello.")]);
    assert_eq!(sink.flushed(), "\nHello. \n");
}

#[test]
fn thinking_is_one_short_line_before_the_text_it_led_to() {
    let (list, sink) = terminal();
    let pieces = ["Let me ", "see.\nThere ", "are files."].map(thinking_delta);
    play(&list, [round()].into_iter().chain(pieces));
    assert_eq!(sink.flushed(), "");
    play(&list, [delta("Yes."), Event::Thinking { text: "Let me see.\nThere are files.".into() }, assistant("Yes.")]);
    assert_eq!(sink.flushed(), "· thinking: Let me see.…\nYes.\n");
    // The next reply thinks again.
    play(&list, [round(), thinking_delta("Hm."), Event::Thinking { text: "Hm.".into() }, call("c1", "read", "{}")]);
    assert_eq!(sink.flushed(), "· thinking: Let me see.…\nYes.\n· thinking: Hm.\n· read\n");
}

#[test]
fn an_interrupted_text_is_marked_and_the_turn_says_how_it_ended() {
    let (list, sink) = terminal();
    let cut = Event::Assistant { text: "I was".into(), interrupted: true };
    play(&list, [round(), delta("I was"), cut, Event::Cancelled {}, ended(Outcome::Cancelled, None)]);
    assert_eq!(sink.flushed(), "I was\n· interrupted\n· the turn was cancelled\n");
}

#[test]
fn pieces_without_a_whole_text_end_with_their_line() {
    let (list, sink) = terminal();
    play(&list, [round(), delta("Hel"), ended(Outcome::Failed, Some("the server\nclosed the connection"))]);
    assert_eq!(sink.flushed(), "Hel\n· the turn failed: the server…\n");
}

#[test]
fn what_happens_around_the_turns_is_told_on_lines_of_their_own() {
    let (list, sink) = terminal();
    play(
        &list,
        [
            Event::SessionStarted {
                schema: 1,
                program: "steersman 0.1.0".into(),
                cwd: "/work".into(),
                provider: "openai".into(),
                model: Some("qwen3".into()),
                max_steps: Some(60),
                tools: vec![],
            },
            Event::Retrying { attempt: 2, after_ms: 500, reason: "503 overloaded".into() },
            Event::FallbackNotice { reason: "agent exhausted 3 steps".into() },
            Event::Question { id: "q".into(), question: "overwrite a.rs?".into(), detail: None },
            Event::Answer { id: "q".into(), answer: "no".into(), words: None },
            Event::ModelSwitched { from: None, to: Some("big".into()) },
            Event::Compacted { before: Some(30_000), after: None },
            Event::Reset {},
            ended(Outcome::Synthesized, None),
        ],
    );
    assert_eq!(
        sink.flushed(),
        "\
· steersman 0.1.0, openai, qwen3, in /work
· attempt 2 in 500 ms: 503 overloaded
· agent exhausted 3 steps
· question: overwrite a.rs?
· answer: no
· the model is now big
· compacted: 30.0k → ? tokens
· the conversation starts anew
· the turn ended with an answer from what was found
"
    );
}

#[test]
fn sub_agents_are_indented_labelled_and_never_the_answer() {
    let (list, sink) = terminal();
    list.emit(spawned("file_miner 0", Some("c1")));
    let child = list.for_sub_agent(&"file_miner 0".into());
    play(
        &child,
        [
            Event::TurnStarted { turn: 1 },
            user("look into src\nand count", false),
            round(),
            delta("Four"),
            assistant("Four files.\nNo more."),
            call("c1", "read", r#"{"path":"a.rs"}"#),
            result("c1", "x", 0),
        ],
    );
    child.emit(spawned("file_miner 0_synthesizer", None));
    let rescue = child.for_sub_agent(&"file_miner 0_synthesizer".into());
    play(&rescue, [delta("Fo"), assistant("Four.")]);
    play(&child, [ended(Outcome::Synthesized, None)]);
    let failed = Some("the model is gone".to_owned());
    list.emit(Event::AgentFinished { child: "file_miner 0".into(), outcome: Outcome::Failed, message: failed });
    assert_eq!(
        sink.flushed(),
        "\
· file_miner 0 starts: look into src…
·   [file_miner 0] says: Four files.…
·   [file_miner 0] read a.rs
·   [file_miner 0] read a.rs → 1 line, 1 B (0 ms)
·   [file_miner 0] file_miner 0_synthesizer starts: look into src…
·     [file_miner 0_synthesizer] says: Four.
· file_miner 0 failed: the model is gone
"
    );
}

#[test]
fn calls_of_sub_agents_that_run_at_the_same_time_keep_their_own_names() {
    let (list, sink) = terminal();
    let [one, two] = ["a 0", "a 1"].map(|id| list.for_sub_agent(&id.into()));
    one.emit(call("c1", "read", r#"{"path":"one"}"#));
    two.emit(call("c1", "read", r#"{"path":"two"}"#));
    two.emit(result("c1", "2", 0));
    one.emit(result("c1", "1", 0));
    let text = sink.flushed();
    assert!(
        text.ends_with("·   [a 1] read two → 1 line, 1 B (0 ms)\n·   [a 0] read one → 1 line, 1 B (0 ms)\n"),
        "{text}"
    );
}

#[test]
fn the_rescue_of_the_main_agent_writes_the_answer() {
    let (list, sink) = terminal();
    list.emit(spawned("synthesizer", None));
    let rescue = list.for_sub_agent(&"synthesizer".into());
    play(&rescue, [user("Question: …", false), round(), delta("It is "), delta("so."), assistant("It is so.")]);
    assert_eq!(sink.flushed(), "· synthesizer starts: look into src…\nIt is so.\n");
}

#[test]
fn a_note_never_stands_on_the_line_of_a_text() {
    let (list, sink) = terminal();
    play(&list, [round(), delta("Let me look. ")]);
    list.for_sub_agent(&"a 0".into()).emit(call("c1", "read", "{}"));
    assert_eq!(sink.flushed(), "Let me look.\n·   [a 0] read\n");
}

#[test]
fn hostile_text_is_shown_and_not_obeyed() {
    let (list, sink) = terminal();
    let evil = "a\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}b\rc";
    play(
        &list,
        [
            user(evil, true),
            round(),
            Event::Thinking { text: evil.into() },
            delta(evil),
            assistant(evil),
            assistant(evil),
            call(evil, evil, &serde_json::json!({ evil: evil, "b": [evil] }).to_string()),
            call("raw", "read", evil),
            result(evil, &format!("Error: {evil}"), 0),
            result("raw", evil, 0),
            result(evil, evil, 0),
            spawned(evil, Some("c")),
            Event::AgentFinished { child: evil.into(), outcome: Outcome::Failed, message: Some(evil.into()) },
            Event::FallbackNotice { reason: evil.into() },
            Event::Retrying { attempt: 2, after_ms: 0, reason: evil.into() },
            Event::Question { id: evil.into(), question: evil.into(), detail: Some(evil.into()) },
            Event::Answer { id: evil.into(), answer: evil.into(), words: Some(evil.into()) },
            Event::ModelSwitched { from: None, to: Some(evil.into()) },
            ended(Outcome::Failed, Some(evil)),
        ],
    );
    list.for_sub_agent(&evil.into()).emit(call("c", "read", "{}"));
    let text = sink.flushed();
    assert!(text.contains('␛') && text.contains("<U+202E>"));
    let obeyed: Vec<char> = text.chars().filter(|&c| c != '\n' && steersman::text::is_invisible(c)).collect();
    assert!(obeyed.is_empty(), "{obeyed:?}");
}

#[test]
fn a_reader_that_went_away_does_not_disturb_the_run() {
    for listener in [
        Arc::new(Terminal::new(Broken)) as Arc<dyn Listener>,
        Arc::new(JsonLines::new(Broken)),
        Arc::new(TokenLog::new(Broken)),
    ] {
        let list = ListenerList::new(&[listener]);
        play(
            &list,
            [round(), delta("a"), assistant("ab"), Event::Tokens(Usage::default()), ended(Outcome::Failed, None)],
        );
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

// --- TokenLog (row 41)

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
tokens in=900 out=50 cached=0 ctx=950/131.1k
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

// --- the list (row 42)

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
