//! The transcript of one agent: how it is drawn, how cells are opened and selected, and that hostile text harms nothing.

mod reduce;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::json;

use crate::support::snapshot::{dump, rows};
use steersman_base::event::{Envelope, Event, Outcome};
use steersman_base::id::AgentId;
use steersman_base::message::Arguments;
use steersman_tui::highlight::Colours;
use steersman_tui::pictures::Placements;
use steersman_tui::theme::Theme;
use steersman_tui::transcript::cell::{Body, Cell, CellId, Expansion};
use steersman_tui::transcript::reduce::Transcript;
use steersman_tui::transcript::scroll::{Scroll, ScrollRequest};
use steersman_tui::transcript::view::annotations::Annotations;
use steersman_tui::transcript::view::cache::TranscriptCache;
use steersman_tui::transcript::view::{Badge, Metrics, View, draw};

// --- helpers

pub fn envelope(event: Event) -> Envelope {
    let at = "2026-11-21T09:30:00Z".parse().unwrap();
    Envelope { seq: 1, at, agent: AgentId::main(), parent: None, event }
}

pub fn user(content: &str) -> Event {
    Event::UserTurn {
        content: content.into(),
        mid_loop: false,
        injection: None,
        step: 0,
        after: None,
        sender: None,
        kind: steersman_base::steering::TextKind::Add,
        met: None,
        images: Vec::new(),
    }
}

pub fn mid_loop(content: &str) -> Event {
    Event::UserTurn {
        content: content.into(),
        mid_loop: true,
        injection: Some("m1".into()),
        step: 0,
        after: None,
        sender: None,
        kind: steersman_base::steering::TextKind::Add,
        met: None,
        images: Vec::new(),
    }
}

pub fn delta(text: &str) -> Event {
    Event::AssistantDelta { text: text.into() }
}

pub fn thinking_delta(text: &str) -> Event {
    Event::ThinkingDelta { text: text.into() }
}

fn thinking(text: &str) -> Event {
    Event::Thinking { text: text.into() }
}

pub fn assistant(text: &str) -> Event {
    Event::Assistant { text: text.into(), interrupted: false }
}

pub fn call(id: &str, name: &str, arguments: &serde_json::Value) -> Event {
    Event::ToolCall { id: id.into(), name: name.into(), arguments: Arguments::parse(&arguments.to_string()) }
}

pub fn result(id: &str, content: &str) -> Event {
    let is_error = content.starts_with("Error: ");
    Event::ToolResult { id: id.into(), content: content.into(), is_error, elapsed_ms: 1234 }
}

fn ended(outcome: Outcome, message: Option<&str>) -> Event {
    Event::TurnEnded { turn: 1, outcome, message: message.map(str::to_owned) }
}

fn spawned(child: &str, task: &str) -> Event {
    spawn(None, child, task)
}

fn spawned_by(call: &str, child: &str, task: &str) -> Event {
    spawn(Some(call), child, task)
}

fn spawn(call: Option<&str>, child: &str, task: &str) -> Event {
    Event::AgentSpawned {
        child: child.into(),
        persona: "file_miner".into(),
        task: task.into(),
        call: call.map(Into::into),
        model: None,
        max_steps: None,
        tools: Vec::new(),
    }
}

pub fn told(events: impl IntoIterator<Item = Event>) -> Transcript {
    let mut transcript = Transcript::new(AgentId::main());
    for event in events {
        transcript.apply(&envelope(event));
    }
    transcript
}

/// A transcript with what a pane keeps beside it.
pub struct Pane {
    pub transcript: Transcript,
    pub cache: TranscriptCache,
    pub scroll: Scroll,
    pub selected: Option<CellId>,
    pub theme: Theme,
    pub size: (u16, u16),
    pub metrics: Metrics,
}

impl Pane {
    pub fn new(transcript: Transcript, size: (u16, u16)) -> Self {
        Self {
            transcript,
            cache: TranscriptCache::new(),
            scroll: Scroll::new(),
            selected: None,
            theme: Theme::dark(),
            size,
            metrics: Metrics::default(),
        }
    }

    pub fn apply(&mut self, event: Event) {
        self.transcript.apply(&envelope(event));
    }

    pub fn ask(&mut self, request: ScrollRequest) -> Vec<String> {
        self.scroll.ask(request);
        self.rows()
    }

    pub fn draw(&mut self) -> Buffer {
        let area = Rect::new(0, 0, self.size.0, self.size.1);
        let mut buf = Buffer::empty(area);
        let view = View {
            transcript: &self.transcript,
            scroll: &self.scroll,
            selected: self.selected,
            theme: &self.theme,
            colours: &Colours::default(),
            pictures: &Placements::default(),
            badge: Badge::Shown,
            annotations: Annotations::default(),
        };
        self.metrics = draw(&view, &mut self.cache, area, &mut buf);
        self.scroll.settle(self.metrics.position, self.metrics.top, self.metrics.cells);
        buf
    }

    pub fn rows(&mut self) -> Vec<String> {
        rows(&self.draw())
    }

    pub fn text(&mut self) -> String {
        self.rows().join("\n")
    }
}

pub fn body(transcript: &Transcript, index: usize) -> &Body {
    transcript.cells().get(index).unwrap().body()
}

pub fn numbered(count: usize) -> Transcript {
    told((0..count).map(|number| user(&format!("message {number}"))))
}

pub const REPORT: &str = "# Report\n\nThe crate has *two* layers, **three** tools and `one_limit` in [limits](https://example.org/l).\n\n\
- first item that is long enough to be wrapped on a narrow screen\n  - nested\n    1. deep\n- [x] done\n- [ ] open\n\n\
> quoted words\n> of someone\n\n```rust\nfn main() {\n    println!(\"hi\");\n}\n```\n\n\
| file | lines | note |\n|:--|--:|---|\n| src/lib.rs | 120 | the map |\n| src/main.rs | 8 | a ~~long~~ table of contents |\n\n---\n\n\
日本語のテキストは幅が二倍です。";

pub fn rich() -> Transcript {
    let mut transcript = told([
        Event::ContextCap { tokens: Some(32_768) },
        user("Look at this project\nand tell me what it is."),
        thinking("The user wants an overview.\nI begin with the files."),
        call("c1", "glob", &json!({"pattern": "**/*.rs", "limit": 20})),
        result("c1", "src/lib.rs\nsrc/main.rs\n"),
        call("c2", "read", &json!({"path": "src/missing.rs"})),
        result("c2", "Error: no such file: src/missing.rs"),
        call("c3", "agent", &json!({"persona": "file_miner", "prompt": "count the lines"})),
        spawned_by("c3", "file_miner 0", "count the lines\nof every file"),
        mid_loop("focus on the tests"),
        Event::AgentFinished { child: "file_miner 0".into(), outcome: Outcome::Completed, message: None },
        result("c3", "128 lines"),
        Event::Retrying { attempt: 2, after_ms: 500, reason: "429 Too Many Requests".into() },
        assistant(REPORT),
        ended(Outcome::Completed, None),
        user("thanks"),
        thinking_delta("Short answer"),
        delta("You are **wel"),
        call("c4", "bash", &json!({"command": "cargo test"})),
        Event::ToolProgress { id: "c4".into(), text: "running 3 tests\n".into() },
        Event::Cancelled {},
        ended(Outcome::Cancelled, None),
        ended(Outcome::Failed, Some("the server answered 401: no key")),
    ]);
    transcript.toggle(transcript.cells().get(2).unwrap().id());
    transcript
}

fn snapshot(name: &str, size: (u16, u16)) {
    let mut pane = Pane::new(rich(), size);
    let end = dump(&pane.draw());
    pane.scroll.ask(ScrollRequest::Top);
    pane.selected = Some(pane.transcript.cells().get(3).unwrap().id());
    let top = dump(&pane.draw());
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, format!("the end\n{end}\nthe top, a call selected\n{top}")));
}

// --- pictures

#[test]
fn a_rich_transcript_at_120x36() {
    snapshot("transcript_120x36", (120, 36));
}

#[test]
fn a_rich_transcript_at_80x24() {
    snapshot("transcript_80x24", (80, 24));
}

#[test]
fn a_rich_transcript_at_40x12() {
    snapshot("transcript_40x12", (40, 12));
}

#[test]
fn a_rich_transcript_at_20x5() {
    snapshot("transcript_20x5", (20, 5));
}

// --- opening and selection

#[test]
fn toggle_all_folds_when_anything_is_open_and_opens_when_nothing_is() {
    let mut transcript =
        told([call("1", "a", &json!({})), result("1", "x"), call("2", "b", &json!({})), result("2", "y")]);
    let folds = |transcript: &Transcript| transcript.cells().iter().map(Cell::expansion).collect::<Vec<_>>();
    transcript.toggle_all();
    assert_eq!(folds(&transcript), [Expansion::Expanded, Expansion::Expanded]);
    transcript.toggle(CellId::default());
    transcript.toggle_all();
    assert_eq!(folds(&transcript), [Expansion::Collapsed, Expansion::Collapsed]);
}

#[test]
fn selection_moves_by_cells_and_stops_at_the_ends() {
    let transcript = numbered(3);
    let ids: Vec<_> = transcript.cells().iter().map(Cell::id).collect();
    assert_eq!(transcript.previous(None), Some(ids[2]));
    assert_eq!(transcript.previous(Some(ids[2])), Some(ids[1]));
    assert_eq!(transcript.previous(Some(ids[0])), Some(ids[0]));
    assert_eq!(transcript.next(Some(ids[2])), Some(ids[2]));
    assert_eq!(Transcript::default().next(None), None);
}

// --- hostile text

#[test]
fn hostile_text_is_shown_and_never_reaches_a_cell_raw() {
    let evil = "a\u{1b}[31m\u{7}\u{202e}evil\u{200b}\r\nb\u{9b}2J\tc e\u{301}\u{301}\u{301}\u{301} 日本\u{0}";
    let mut transcript = told([
        user(evil),
        mid_loop(evil),
        thinking(evil),
        call("1", evil, &json!({"path": evil, evil: [evil]})),
        Event::ToolProgress { id: "1".into(), text: evil.into() },
        result("1", evil),
        spawned(evil, evil),
        Event::AgentFinished { child: evil.into(), outcome: Outcome::Failed, message: Some(evil.into()) },
        Event::FallbackNotice { reason: evil.into() },
        Event::Retrying { attempt: 2, after_ms: 1, reason: evil.into() },
        Event::ModelSwitched { from: None, to: Some(evil.into()), provider: None },
        Event::Question { id: "q".into(), question: evil.into(), detail: None, call: None, offer: None, rule: None },
        Event::Answer { id: "q".into(), answer: evil.into(), words: Some(evil.into()) },
        delta(evil),
        ended(Outcome::Failed, Some(evil)),
    ]);
    transcript.apply(&envelope(assistant(&format!(
        "# {evil}\n\n`{evil}`\n\n```{evil}\n{evil}\n```\n\n| {evil} |\n|---|\n| [{evil}]({evil}) |"
    ))));
    for _ in 0..2 {
        transcript.toggle_all();
        for width in [1, 7, 40, 200] {
            let mut pane = Pane::new(transcript.clone(), (width, 200));
            let buf = pane.draw();
            for cell in &buf.content {
                let is_raw = |c: char| c.is_control() || matches!(c, '\u{200b}' | '\u{202e}' | '\u{80}'..='\u{9f}');
                assert!(!cell.symbol().contains(is_raw), "{:?} at width {width}", cell.symbol());
            }
        }
    }
    let mut pane = Pane::new(transcript, (100, 100));
    assert!(pane.text().contains("a␛[31m␇<U+202E>evil<U+200B>"), "{}", pane.text());
}

#[test]
fn a_line_end_or_a_letter_cut_between_two_deltas_is_whole_again() {
    let text = "one\r\ntwo e\u{301} 👩\u{200d}👧 \t3\u{fe0f}\u{20e3}\r\n\u{1b}[0m\r\nend";
    let whole = told([assistant(text)]);
    let pieces: Vec<String> = text.chars().map(String::from).collect();
    let streamed = told(pieces.iter().map(|piece| delta(piece)));
    let shown = |transcript: &Transcript| match body(transcript, 0) {
        Body::Assistant { text, .. } => text.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(shown(&streamed), shown(&whole));
}

#[test]
fn the_plain_theme_has_no_colour() {
    let mut pane = Pane::new(rich(), (80, 200));
    pane.theme = Theme::plain();
    pane.selected = Some(CellId::default());
    let buf = pane.draw();
    let none = ratatui::style::Color::Reset;
    assert!(buf.content.iter().all(|cell| cell.fg == none && cell.bg == none));
}
