//! What a long session costs: 200,000 events of 1,000 agents, sixteen of which stream on, `cargo bench --bench session`.
//!
//! Measured in this process: the session is read from a file of envelopes, one line of JSON each, folded into the state
//! of the screen and drawn on a buffer of 120x40. Then keys are pressed while sixteen agents of 50 tokens a second go on;
//! a figure is the time from a key to the finished frame with everything folded in that came since the frame before
//! (50 ms). At last the cost of a frame is compared over transcripts of 1,000 to 100,000 cells.

use steersman_test_support as support;

use std::fs::File;
use std::hint::black_box;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::layout::Size;
use steersman_base::event::{Envelope, Event, Outcome, Usage};
use steersman_base::id::AgentId;
use steersman_base::message::Arguments;
use steersman_base::protocol::Notice;
use steersman_tui::msg::Msg;
use steersman_tui::state::App;
use steersman_tui::status::{ModelSource, Status};
use steersman_tui::theme::Themes;
use steersman_tui::update::update;
use steersman_tui::view::{ViewCache, draw};

use support::figures::print;
use support::stage::key_events;

const SIZE: Size = Size { width: 120, height: 40 };
const EVENTS: usize = 200_000;
const AGENTS: usize = 1_000;
const STREAMING: usize = 16;
/// Tokens of each streaming agent between two frames, in tenths: 50 a second, 20 frames a second.
const TOKENS: usize = 25;
const FRAME: i64 = 50;
/// Cells of the transcripts whose frames are compared.
const LENGTHS: [usize; 5] = [1_000, 3_000, 10_000, 30_000, 100_000];

/// Makes envelopes, in order.
struct Script {
    seq: u64,
    at: Timestamp,
    names: Vec<(AgentId, AgentId)>,
    out: Vec<Envelope>,
}

impl Script {
    fn new() -> Self {
        let at = "2026-11-21T09:30:00Z".parse().unwrap();
        Self { seq: 0, at, names: Vec::new(), out: Vec::new() }
    }

    fn event(&mut self, agent: &AgentId, parent: Option<&AgentId>, event: Event) {
        self.seq += 1;
        let envelope = Envelope { seq: self.seq, at: self.at, agent: agent.clone(), parent: parent.cloned(), event };
        self.out.push(envelope);
    }

    /// Starts a main agent, leads of 99 each, and those.
    fn crew(&mut self, agents: usize) {
        let main = AgentId::main();
        self.event(&main, None, Event::TurnStarted { turn: 1 });
        let mut lead = main.clone();
        for number in 1..agents {
            let (parent, child) = if number % 100 == 1 {
                lead = AgentId::new(format!("researcher {}", number / 100));
                (main.clone(), lead.clone())
            } else {
                (lead.clone(), AgentId::new(format!("file_miner {number}")))
            };
            let grandparent = (!parent.is_main()).then(|| main.clone());
            let spawned = Event::AgentSpawned {
                child: child.clone(),
                persona: "file_miner".to_owned(),
                task: format!("Look at part {number} of the sources and say what it is for."),
                call: None,
                model: Some("qwen3-35b".to_owned()),
                max_steps: Some(30),
                tools: vec!["read".to_owned(), "grep".to_owned()],
            };
            self.event(&parent, grandparent.as_ref(), spawned);
            self.names.push((child, parent));
        }
    }

    /// Lets one agent do a round: a thought, a call with its result, an answer in pieces as they are merged while a frame
    /// is drawn, tokens.
    fn round(&mut self, agent: &AgentId, parent: Option<&AgentId>, number: usize) {
        self.at += SignedDuration::from_millis(7);
        let id = format!("call {number}");
        self.event(agent, parent, Event::Thinking { text: "It asks for a number.\nI look it up.".to_owned() });
        let arguments = Arguments::parse(r#"{"path":"src/lib.rs","limit":20}"#);
        self.event(agent, parent, Event::ToolCall { id: id.as_str().into(), name: "read".to_owned(), arguments });
        let content = "a line of a file\n".repeat(20);
        self.event(agent, parent, Event::ToolResult { id: id.into(), content, is_error: false, elapsed_ms: 12 });
        let text = document();
        for piece in text.as_bytes().chunks(text.len() / 3 + 1) {
            let text = String::from_utf8_lossy(piece).into_owned();
            self.event(agent, parent, Event::AssistantDelta { text });
        }
        self.event(agent, parent, Event::Assistant { text, interrupted: false });
        let usage = Usage { input: Some(900), output: Some(100), cost_nanos: Some(1_000_000), ..Usage::default() };
        self.event(agent, parent, Event::Tokens(usage));
    }
}

/// Markdown of every kind of block.
fn document() -> String {
    "## A heading\n\nSome *words* with `code` and a [link](https://example.org) in a paragraph that is long enough to be \
     wrapped once or twice on a screen of the usual width, as answers are.\n\n- one\n- two\n  - three\n\n\
     ```rust\nfn main() {\n    println!(\"hello\");\n}\n```\n\n| a | b |\n|---|---|\n| one | two |\n"
        .to_owned()
}

/// A screen without a terminal.
struct Screen {
    app: App,
    cache: ViewCache,
    terminal: Terminal<TestBackend>,
    now: Timestamp,
    seq: u64,
    frames: usize,
}

impl Screen {
    fn new() -> Self {
        let now: Timestamp = "2026-11-21T09:30:00Z".parse().unwrap();
        let status = Status::new("openai", ModelSource::Configured);
        let mut app = App::new(SIZE, now, status, Themes::default());
        update(&mut app, Msg::from(Notice::Ready));
        let terminal = Terminal::new(TestBackend::new(SIZE.width, SIZE.height)).unwrap();
        Self { app, cache: ViewCache::default(), terminal, now, seq: 0, frames: 0 }
    }

    fn fold(&mut self, envelope: Envelope) {
        self.now = envelope.at;
        self.seq = envelope.seq;
        update(&mut self.app, Msg::from(envelope));
    }

    fn draw(&mut self) {
        let mut drawn = None;
        let (app, cache) = (&self.app, &mut self.cache);
        self.terminal.draw(|frame| drawn = Some(draw(app, cache, frame))).unwrap();
        update(&mut self.app, Msg::Drawn(drawn.unwrap()));
    }

    /// Lets the time of a frame pass, and measures what the keys and the streams cost up to the next finished frame.
    fn frame(&mut self, streaming: &[(AgentId, AgentId)], pressed: &str) -> Duration {
        self.now += SignedDuration::from_millis(FRAME);
        let keys = key_events(pressed);
        let began = Instant::now();
        let tokens = TOKENS * (self.frames + 1) / 10 - TOKENS * self.frames / 10;
        for (agent, parent) in streaming {
            for _ in 0..tokens {
                self.seq += 1;
                let event = Event::AssistantDelta { text: "word ".to_owned() };
                let parent = Some(parent.clone());
                let (seq, at) = (self.seq, self.now);
                update(&mut self.app, Msg::from(Envelope { seq, at, agent: agent.clone(), parent, event }));
            }
        }
        self.frames += 1;
        if self.frames.is_multiple_of(20) {
            update(&mut self.app, Msg::Tick(self.now));
        }
        for key in keys {
            black_box(update(&mut self.app, Msg::Key(key, self.now)));
        }
        self.draw();
        began.elapsed()
    }
}

fn main() {
    let (file, names) = write_session();
    let began = Instant::now();
    let mut screen = Screen::new();
    // Read on a thread of its own, ahead of the fold, as the agents' worker is.
    let (sender, receiver) = sync_channel::<Vec<Envelope>>(64);
    let path = file.path().to_owned();
    let reader = std::thread::spawn(move || {
        let mut lines = BufReader::with_capacity(1 << 20, File::open(path).unwrap()).lines();
        loop {
            let batch: Vec<Envelope> =
                lines.by_ref().take(512).map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
            if batch.is_empty() || sender.send(batch).is_err() {
                return;
            }
        }
    });
    let mut folding = Duration::ZERO;
    for batch in receiver {
        let folded = Instant::now();
        for envelope in batch {
            screen.fold(envelope);
        }
        folding += folded.elapsed();
    }
    reader.join().unwrap();
    let folded = began.elapsed();
    screen.draw();
    let shown = began.elapsed();
    println!("a session of {EVENTS} events and {AGENTS} agents; times: median / p99 / max");
    print("opened: to the first frame, everything folded", vec![shown]);
    print("  of it: folding", vec![folding]);
    print("  of it: the frame", vec![shown.saturating_sub(folded)]);
    println!("{:<46} {:>22} MiB", "memory with the session open", resident_mib());
    keys(&mut screen, &names);
    println!("{:<46} {:>22} MiB", "memory at the end", resident_mib());
    println!("\na frame over the length of the transcript; times: median / p99 / max");
    lengths();
}

fn write_session() -> (tempfile::NamedTempFile, Vec<(AgentId, AgentId)>) {
    let mut script = Script::new();
    script.crew(AGENTS);
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut out = BufWriter::new(file.as_file());
    let mut written = 0;
    let mut number = 0;
    let main = AgentId::main();
    while written < EVENTS {
        for envelope in script.out.drain(..).take(EVENTS - written) {
            serde_json::to_writer(&mut out, &envelope).unwrap();
            out.write_all(b"\n").unwrap();
            written += 1;
        }
        // Half of it is the main agent's: its transcript is the long one.
        number += 1;
        if number % 2 == 0 {
            let content = format!("question {number}");
            script.event(
                &main,
                None,
                Event::UserTurn {
                    content,
                    mid_loop: false,
                    injection: None,
                    step: 0,
                    after: None,
                    sender: None,
                    kind: steersman_base::steering::TextKind::Add,
                    met: None,
                    images: Vec::new(),
                },
            );
            script.round(&main, None, number);
        } else {
            let (agent, parent) = script.names[number / 2 % (AGENTS - 1)].clone();
            script.round(&agent, Some(&parent), number);
        }
    }
    out.flush().unwrap();
    drop(out);
    let names = script.names;
    (file, names)
}

fn keys(screen: &mut Screen, names: &[(AgentId, AgentId)]) {
    let streaming = &names[names.len() - STREAMING..];
    let mut each = |keys: &[&str], times: usize| -> Vec<Duration> {
        (0..times).map(|at| screen.frame(streaming, keys[at % keys.len()])).collect()
    };
    print("a frame of sixteen streams, no key", each(&[""], 500));
    print("a letter in the message", each(&["x", "<bs>"], 1_000));
    print("a page up in the transcript", each(&["<pageup>"], 500));
    print("its top or its end", each(&["<c-home>", "<c-end>"], 200));
    each(&["<c-o>"], 1);
    print("the block above", each(&["<up>"], 300));
    print("open or fold a block", each(&["<enter>"], 200));
    each(&["<esc>"], 1);
    print("open or fold all blocks", each(&["<c-e>"], 50));
    each(&["<f3>"], 1);
    print("another agent", each(&["j", "k"], 300));
    each(&["<esc>"], 1);
    for (agent, parent) in &names[..AGENTS / 2] {
        screen.seq += 1;
        let event = Event::AgentFinished { child: agent.clone(), outcome: Outcome::Completed, message: None };
        let (seq, at) = (screen.seq, screen.now);
        update(&mut screen.app, Msg::from(Envelope { seq, at, agent: parent.clone(), parent: None, event }));
    }
    let mut sizes = Vec::new();
    for at in 0..50 {
        let size = if at % 2 == 0 { Size { width: 100, height: 30 } } else { SIZE };
        let began = Instant::now();
        update(&mut screen.app, Msg::Resize(size));
        screen.terminal.backend_mut().resize(size.width, size.height);
        screen.draw();
        sizes.push(began.elapsed());
    }
    print("another size of the terminal", sizes);
}

/// Compares a frame over the length of the transcript. The slope is that of a line through the logarithms: 0 when the
/// length does not matter, 1 when twice the length takes twice the time.
fn lengths() {
    let (mut grow, mut page) = (Vec::new(), Vec::new());
    for length in LENGTHS {
        let mut script = Script::new();
        let main = AgentId::main();
        for number in 0..length / 4 {
            let content = format!("question {number}");
            script.event(
                &main,
                None,
                Event::UserTurn {
                    content,
                    mid_loop: false,
                    injection: None,
                    step: 0,
                    after: None,
                    sender: None,
                    kind: steersman_base::steering::TextKind::Add,
                    met: None,
                    images: Vec::new(),
                },
            );
            script.round(&main, None, number);
        }
        let mut screen = Screen::new();
        for envelope in script.out {
            screen.fold(envelope);
        }
        screen.draw();
        let none: &[(AgentId, AgentId)] = &[];
        let own = [(main.clone(), main)];
        let mut streamed: Vec<Duration> = (0..1_000).map(|_| screen.frame(&own, "")).collect();
        // One long way up, so that each page is seen for the first time.
        let mut paged: Vec<Duration> = (0..200).map(|_| screen.frame(none, "<pageup>")).collect();
        grow.push(median(&mut streamed));
        page.push(median(&mut paged));
        print(&format!("{length} cells: a frame of a growing answer"), streamed);
        print(&format!("{length} cells: a page up"), paged);
    }
    println!("{:<46} {:>22.3}", "slope of a frame over the length", slope(&grow));
    println!("{:<46} {:>22.3}", "slope of a page up over the length", slope(&page));
}

fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times.get(times.len() / 2).map_or(0.0, Duration::as_secs_f64)
}

fn slope(times: &[f64]) -> f64 {
    #[allow(clippy::cast_precision_loss)] // Lengths are small.
    let points: Vec<(f64, f64)> = LENGTHS.iter().zip(times).map(|(n, t)| ((*n as f64).ln(), t.ln())).collect();
    #[allow(clippy::cast_precision_loss)]
    let count = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0 / count, y + point.1 / count));
    let over: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    over / points.iter().map(|point| (point.0 - x).powi(2)).sum::<f64>()
}

/// Returns the memory of this process, MiB; 0 where the system does not tell.
fn resident_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").trim().parse::<u64>().unwrap_or_default() / 1024
}
