//! What a large crew costs: a tree of 1,000 agents (and of 10,000), of which sixteen stream, `cargo bench --bench crew`.
//!
//! Measured in this process: the state, the fold and the view of the program on a buffer of 120x40, without a terminal
//! and without a model server. A figure is the time from a key to the finished frame, with everything folded in that
//! sixteen agents of 50 tokens a second said since the frame before (50 ms). The budget for a key is 5 ms at p99.

use steersman_test_support as support;

use std::hint::black_box;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::layout::Size;
use steersman_base::event::{Envelope, Event, Outcome, Usage};
use steersman_base::id::AgentId;
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
const STREAMING: usize = 16;
/// Tokens of each streaming agent between two frames, in tenths: 50 a second, 20 frames a second.
const TOKENS: usize = 25;
const FRAME: i64 = 50;

/// The screen of a crew, its clock, and the terminal that it is drawn on.
struct AgentControls {
    app: App,
    cache: ViewCache,
    terminal: Terminal<TestBackend>,
    now: Timestamp,
    seq: u64,
    names: Vec<(AgentId, AgentId)>,
    frames: usize,
}

impl AgentControls {
    /// Makes a crew of so many: a main agent, leads of 99 each, the last sixteen of them streaming, the others waiting.
    fn of(agents: usize) -> Self {
        let now: Timestamp = "2026-11-21T09:30:00Z".parse().unwrap();
        let status = Status::new("openai", ModelSource::Configured);
        let mut crew = Self {
            app: App::new(SIZE, now, status, Themes::default()),
            cache: ViewCache::default(),
            terminal: Terminal::new(TestBackend::new(SIZE.width, SIZE.height)).unwrap(),
            now,
            seq: 0,
            names: Vec::new(),
            frames: 0,
        };
        update(&mut crew.app, Msg::from(Notice::Ready));
        let main = AgentId::main();
        crew.event(&main, None, Event::TurnStarted { turn: 1 });
        let mut lead = main.clone();
        for number in 1..agents {
            let (parent, child) = if number % 100 == 1 {
                lead = AgentId::new(format!("researcher {}", number / 100));
                (main.clone(), lead.clone())
            } else {
                (lead.clone(), AgentId::new(format!("file_miner {number}")))
            };
            crew.spawn(&parent, &child);
            let usage = Usage { input: Some(900), output: Some(100), cost_nanos: Some(1_000_000), ..Usage::default() };
            crew.event(&child, Some(&parent), Event::Tokens(usage));
            crew.names.push((child, parent));
        }
        crew
    }

    fn spawn(&mut self, parent: &AgentId, child: &AgentId) {
        let spawned = Event::AgentSpawned {
            child: child.clone(),
            persona: "file_miner".to_owned(),
            task: format!("Look at part {child} of the sources and say what it is for."),
            call: None,
            model: Some("qwen3-35b".to_owned()),
            max_steps: Some(30),
            tools: vec!["read".to_owned(), "grep".to_owned()],
        };
        self.event(parent, None, spawned);
    }

    fn event(&mut self, agent: &AgentId, parent: Option<&AgentId>, event: Event) {
        self.seq += 1;
        let envelope = Envelope { seq: self.seq, at: self.now, agent: agent.clone(), parent: parent.cloned(), event };
        update(&mut self.app, Msg::from(envelope));
    }

    /// Applies what sixteen agents say between two frames.
    fn stream(&mut self) {
        let tokens = TOKENS * (self.frames + 1) / 10 - TOKENS * self.frames / 10;
        let from = self.names.len().saturating_sub(STREAMING);
        let streaming = self.names[from..].to_vec();
        for (agent, parent) in &streaming {
            for _ in 0..tokens {
                self.event(agent, Some(parent), Event::AssistantDelta { text: "word ".to_owned() });
            }
        }
        self.frames += 1;
    }

    fn draw(&mut self) {
        let mut drawn = None;
        let (app, cache) = (&self.app, &mut self.cache);
        self.terminal.draw(|frame| drawn = Some(draw(app, cache, frame))).unwrap();
        update(&mut self.app, Msg::Drawn(drawn.unwrap()));
    }

    /// Lets the time of a frame pass, and measures what the keys and the stream cost up to the next finished frame.
    fn frame(&mut self, pressed: &str) -> Duration {
        self.now += SignedDuration::from_millis(FRAME);
        let keys = key_events(pressed);
        let began = Instant::now();
        self.stream();
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
    for agents in [1_000, 10_000] {
        let began = Instant::now();
        let mut crew = AgentControls::of(agents);
        println!("\n{agents} agents, {STREAMING} of them streaming; times: median / p99 / max");
        print("all agents spawned, without a frame", vec![began.elapsed()]);
        let began = Instant::now();
        crew.draw();
        print("first frame", vec![began.elapsed()]);
        figures(&mut crew);
    }
}

fn figures(crew: &mut AgentControls) {
    let each = |crew: &mut AgentControls, keys: &[&str], times: usize| -> Vec<Duration> {
        (0..times).map(|at| crew.frame(keys[at % keys.len()])).collect()
    };
    print("a frame of the stream, no key", each(crew, &[""], 1_000));
    print("a letter in the message", each(crew, &["x", "<bs>"], 1_000));
    crew.frame("@file_miner 99 ");
    print("a letter behind the name of an agent", each(crew, &["x", "<bs>"], 500));
    crew.frame("<c-u>");
    print("@, which offers the agents", each(crew, &["@", "<bs>"], 500));
    crew.frame("@all ");
    print("a letter behind @all", each(crew, &["x", "<bs>"], 500));
    crew.frame("<c-u>");
    crew.frame("<f3><home>");
    print("select the next agent", each(crew, &["j"], 500));
    print("select the first or the last agent", each(crew, &["<end>", "<home>"], 500));
    crew.frame("<home><down>");
    print("fold or unfold 99 agents", each(crew, &[" "], 500));
    crew.frame("<home>");
    print("fold or unfold all agents", each(crew, &[" "], 500));
    crew.frame("/");
    print("a letter of the filter", each(crew, &["f", "i", "l", "e", " ", "7", "7", "<c-u>"], 500));
    crew.frame("<esc>");
    for name in [3, 333, 777] {
        let (agent, parent) = crew.names[name].clone();
        crew.event(
            &agent,
            Some(&parent),
            Event::Question {
                id: "q".to_owned(),
                question: "?".to_owned(),
                detail: None,
                call: None,
                offer: None,
                rule: None,
            },
        );
    }
    print("jump to the next that is worth a look", each(crew, &["!"], 500));
    crew.frame("i");
    print("details of the next agent", each(crew, &["j"], 500));
    crew.frame("i<esc>");
    let spawned = (0..500).map(|number| {
        let (lead, child) = (crew.names[0].0.clone(), AgentId::new(format!("late {number}")));
        let began = Instant::now();
        crew.spawn(&lead, &child);
        let mut time = began.elapsed();
        time += crew.frame("");
        time
    });
    print("one more agent, and its frame", spawned.collect());
    let ended = (0..500).map(|number| {
        let (agent, parent) = crew.names[number].clone();
        let began = Instant::now();
        crew.event(&parent, None, Event::AgentFinished { child: agent, outcome: Outcome::Completed, message: None });
        let mut time = began.elapsed();
        time += crew.frame("");
        time
    });
    print("the end of one, and its frame", ended.collect());
    // All but the last sixteen.
    for number in 500..crew.names.len().saturating_sub(STREAMING) {
        let (agent, parent) = crew.names[number].clone();
        crew.event(&parent, None, Event::AgentFinished { child: agent, outcome: Outcome::Completed, message: None });
    }
    crew.frame("@file_miner 99 ");
    print("the same letter when nearly all have ended", each(crew, &["x", "<bs>"], 500));
}
