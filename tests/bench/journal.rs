//! What a journal costs: an event on its way to the disk, a typed Enter that waits for it, opening a long session again,
//! and the memory of a very long one, `cargo bench --bench journal`.
//!
//! Measured in this process with a real file in the directory for temporary files. The events are rounds of an agent:
//! a call, its result, an answer in pieces of a token, as many agents stream them.

use steersman_test_support as support;

use std::fs;
use std::hint::black_box;
use std::iter;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossterm::event::KeyCode;
use jiff::Timestamp;
use ratatui::layout::Size;
use steersman_base::event::{Delivery, Envelope, Event};
use steersman_base::id::AgentId;
use steersman_base::protocol::Request;
use steersman_core::control::{AgentControls, Cancellable, Controls, Interloper, PauseGate};
use steersman_core::listener::Listener as _;
use steersman_session::host::{Handle, Mailbox, ResumeSource as _};
use steersman_session::journal::{Outline, PreviousRun, SessionFile, SessionFiles, SessionId};
use steersman_session::{Client as _, LocalClient};
use steersman_tui::msg::Msg;
use steersman_tui::run::sessions::steps_of;
use steersman_tui::state::App;
use steersman_tui::status::{ModelSource, Status};
use steersman_tui::theme::Themes;
use steersman_tui::timeline::Recorded;
use steersman_tui::update::update;

use support::figures::print;
use support::long_session::{Written, begin, event, recorded, write, write_lived};

/// Events of the sessions that are opened.
const LONG: u64 = 200_000;
const VERY_LONG: u64 = 1_000_000;
/// Texts that are sent one after the other.
const TEXTS: usize = 300;
/// Words of the session whose size is compared with its text.
const WORDS: usize = 20_000;

/// The directory that the sessions work in.
const WORK: &str = "/work";
/// Agents of the sessions that are as they are lived.
const AGENTS: u64 = 1_000;
/// Names the directory of the session that this process opens, and what it does with it.
const OPENED: &str = "OPENED";
const SHOW: &str = "show";
const REPLAY: &str = "replay";

fn main() {
    if let Some(state) = std::env::var_os(OPENED) {
        return opened(Path::new(&state));
    }
    let home = tempfile::tempdir().unwrap();
    let events = std::env::var("EVENTS").ok().and_then(|events| events.parse().ok()).unwrap_or(VERY_LONG);
    cost_of_an_event(home.path());
    enter(home.path());
    size_of_words(home.path());
    open(home.path(), LONG.min(events));
    memory(home.path(), events);
    for events in [LONG.min(events), events] {
        lived(home.path(), events);
    }
    list(home.path());
}

fn file(state: &Path, session: &SessionId) -> SessionFile {
    SessionFiles::within(state).find(session.as_str()).unwrap()
}

#[allow(clippy::cast_precision_loss)] // Counts are small.
fn each(time: Duration, count: u64) -> f64 {
    time.as_secs_f64() * 1e6 / count as f64
}

#[allow(clippy::cast_precision_loss)]
fn cost_of_an_event(state: &Path) {
    let making = Instant::now();
    (1..=LONG).for_each(|number| drop(black_box(event(number))));
    let making = making.elapsed();
    let Written { file, handed, saved } = write(state, Path::new(WORK), LONG, event);
    let size = fs::metadata(&file.path).unwrap().len();
    println!("{LONG} events of a journal, six of ten of them pieces of an answer, which are left out");
    println!("{:<46} {:>22.2} µs", "an event, for the agent", each(handed.saturating_sub(making), LONG));
    println!("{:<46} {:>22.2} µs", "an event, until it is on the disk", each(saved, LONG));
    println!("{:<46} {:>22.1} bytes", "an event, in the file", size as f64 / LONG as f64);
}

/// How long a typed Enter waits in the thread of the screen until its text is on the disk.
fn enter(state: &Path) {
    for (what, is_busy) in [("an Enter until its text is safe, idle", false), ("the same while 16 agents stream", true)]
    {
        let (journal, _) = begin(state, Path::new(WORK));
        let main = Controls {
            interloper: Arc::new(Interloper::new()),
            cancellable: Cancellable::new(),
            gate: Arc::new(PauseGate::new()),
        };
        let handle = Handle::new(Arc::new(AgentControls::new(main)), Arc::new(Mailbox::new()));
        handle.set_keeper(Arc::new(journal.clone()));
        let client = LocalClient::new(handle.clone());
        let ends = AtomicBool::new(!is_busy);
        let times: Vec<Duration> = std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut number = 1;
                while !ends.load(Ordering::Relaxed) {
                    // 16 agents of 50 tokens a second.
                    (0..16).for_each(|_| {
                        number += 1;
                        journal.on_event(&event(number));
                    });
                    std::thread::park_timeout(Duration::from_millis(20));
                }
            });
            let send = |number: usize| {
                let text = format!("text number {number}, as long as what people type in one go");
                let began = Instant::now();
                client.send(Request::inject(AgentId::main(), text, Delivery::Steer));
                let time = began.elapsed();
                client.answers();
                handle.interloper().drain();
                time
            };
            let times = (0..TEXTS).map(send).collect();
            ends.store(true, Ordering::Relaxed);
            times
        });
        print(what, times);
        journal.close();
    }
}

#[allow(clippy::cast_precision_loss)]
fn size_of_words(state: &Path) {
    let (journal, session) = begin(state, Path::new(WORK));
    journal.on_event(&event(1));
    let mut text = 0;
    for turn in 0..WORDS / 200 {
        let answer: Vec<String> = (0..200).map(|word| format!("word{turn}x{word}")).collect();
        let answer = answer.join(" ");
        text += answer.len();
        let mut number = 2;
        for piece in answer.split_inclusive(' ') {
            number += 1;
            let piece = Event::AssistantDelta { text: piece.to_owned() };
            journal.on_event(&Envelope { event: piece, ..event(number) });
        }
        journal.on_event(&Envelope { event: Event::Assistant { text: answer, interrupted: false }, ..event(number) });
    }
    journal.close();
    let size = fs::metadata(file(state, &session).path).unwrap().len();
    println!("{:<46} {:>22.2} times its text", "a session of 20,000 words in pieces", size as f64 / text as f64);
}

fn open(state: &Path, events: u64) {
    let file = write(state, Path::new(WORK), events, recorded).file;
    let began = Instant::now();
    black_box(Outline::from_file(&file).unwrap());
    print(&format!("{events} events: what a list says of them"), vec![began.elapsed()]);
    let began = Instant::now();
    black_box(file.records().unwrap().count());
    print(&format!("{events} events: read"), vec![began.elapsed()]);
    let began = Instant::now();
    show(&file, &mut app());
    print(&format!("{events} events: complete on the screen"), vec![began.elapsed()]);
    scrub(&file, events);
}

/// How long a key of a replay takes on a session of so many events: back by one event, anywhere by its time.
fn scrub(file: &SessionFile, events: u64) {
    let began = Instant::now();
    let steps = steps_of(file.records().unwrap()).unwrap();
    print(&format!("{events} events: read for a replay"), vec![began.elapsed()]);
    let mut app = app();
    let began = Instant::now();
    update(&mut app, Msg::Replayed(Ok(Recorded { steps, ..Recorded::default() })));
    print(&format!("{events} events: a replay at its end"), vec![began.elapsed()]);
    let mut now = Timestamp::now();
    let mut press = |app: &mut App, keys: &[KeyCode]| {
        let began = Instant::now();
        for key in keys {
            now += Duration::from_millis(10);
            update(app, Msg::Key((*key).into(), now));
        }
        began.elapsed()
    };
    let back = (0..200).map(|_| press(&mut app, &[KeyCode::Left])).collect();
    print(&format!("{events} events: back by one"), back);
    let seconds = |number: u64| number.wrapping_mul(0x9E37_79B9_7F4A_7C15) % (events / 1_000).max(1);
    let jump = |number: u64| {
        let typed = seconds(number).to_string();
        let keys: Vec<KeyCode> =
            iter::once('g').chain(typed.chars()).map(KeyCode::Char).chain([KeyCode::Enter]).collect();
        press(&mut app, &keys)
    };
    print(&format!("{events} events: to any time"), (1..=200).map(jump).collect());
    println!("{:<46} {:>22} MiB", "the memory behind that", mib("VmRSS:"));
}

/// Shows a session again, part by part, in this one thread.
fn show(file: &SessionFile, app: &mut App) {
    let mut earlier = PreviousRun::from_file(file).unwrap();
    loop {
        let events = earlier.events().unwrap();
        if events.is_empty() {
            break;
        }
        for envelope in events {
            update(app, Msg::from(envelope));
        }
    }
    black_box(Box::new(earlier).resumed());
}

fn app() -> App {
    let now: Timestamp = "2026-11-21T09:30:00Z".parse().unwrap();
    let status = Status::new("openai", ModelSource::Configured);
    App::new(Size { width: 120, height: 40 }, now, status, Themes::default())
}

/// Opens a session in a process of its own, which has used no memory before.
fn memory(state: &Path, events: u64) {
    let file = write(state, Path::new(WORK), events, recorded).file;
    in_own_process(state, &file, events, SHOW);
}

/// A session as they are lived, with 1,000 agents and their conversations: opened, and replayed.
fn lived(state: &Path, events: u64) {
    let file = write_lived(state, Path::new(WORK), events, AGENTS).file;
    println!("a session of {events} events and {AGENTS} agents, with their conversations");
    in_own_process(state, &file, events, SHOW);
    in_own_process(state, &file, events, REPLAY);
}

/// What a list costs when no journal was read before, and when all were.
fn list(state: &Path) {
    let files = SessionFiles::within(state);
    let all: u64 = files.list().unwrap().iter().map(|file| fs::metadata(&file.path).unwrap().len()).sum();
    for what in ["read for the first time", "known"] {
        let began = Instant::now();
        black_box(files.outlines().unwrap());
        print(&format!("a list of journals of {} MiB, {what}", all >> 20), vec![began.elapsed()]);
    }
}

fn in_own_process(state: &Path, file: &SessionFile, events: u64, what: &str) {
    let program = std::env::current_exe().unwrap();
    let output = Command::new(program)
        .env(OPENED, state)
        .env("SESSION", file.session.as_str())
        .env("EVENTS", events.to_string())
        .env("WHAT", what)
        .output()
        .unwrap();
    print!("{}", String::from_utf8_lossy(&output.stdout));
}

fn opened(state: &Path) {
    let file = SessionFiles::within(state).find(&std::env::var("SESSION").unwrap()).unwrap();
    let events = std::env::var("EVENTS").unwrap();
    let told = |what: &str, mib: u64| println!("{:<46} {mib:>22} MiB", format!("{events} events: {what}"));
    if std::env::var("WHAT").is_ok_and(|what| what == REPLAY) {
        scrub(&file, events.parse().unwrap());
        return told("the most until then", mib("VmHWM:"));
    }
    let began = Instant::now();
    let mut app = app();
    show(&file, &mut app);
    print(&format!("{events} events: complete on the screen"), vec![began.elapsed()]);
    told("the file", fs::metadata(&file.path).unwrap().len() >> 20);
    told("on the screen", mib("VmRSS:"));
    told("the most until then", mib("VmHWM:"));
    drop(app);
}

/// Returns what the system tells of the memory of this process, MiB; 0 where it does not.
fn mib(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    line.trim().trim_end_matches(" kB").trim().parse::<u64>().unwrap_or_default() / 1024
}
