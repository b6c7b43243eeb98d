//! What the transcript costs, without a terminal: `cargo bench --bench transcript`.
//!
//! Each figure stands beside its budget: a frame is far below the 50 ms between two frames of a stream.

use divan::{Bencher, black_box};
use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use steersman_base::event::{Envelope, Event};
use steersman_base::id::AgentId;
use steersman_base::message::Arguments;
use steersman_tui::highlight::Colours;
use steersman_tui::pictures::Placements;
use steersman_tui::theme::Theme;
use steersman_tui::transcript::reduce::Transcript;
use steersman_tui::transcript::scroll::{Scroll, ScrollRequest};
use steersman_tui::transcript::view::annotations::Annotations;
use steersman_tui::transcript::view::cache::TranscriptCache;
use steersman_tui::transcript::view::{Badge, View, draw};

fn main() {
    divan::main();
}

const AREA: Rect = Rect { x: 0, y: 0, width: 120, height: 40 };

/// A transcript with what a pane keeps beside it.
struct Pane {
    transcript: Transcript,
    cache: TranscriptCache,
    scroll: Scroll,
    theme: Theme,
    buf: Buffer,
}

impl Pane {
    fn new() -> Self {
        Self {
            transcript: Transcript::new(AgentId::main()),
            cache: TranscriptCache::new(),
            scroll: Scroll::new(),
            theme: Theme::dark(),
            buf: Buffer::empty(AREA),
        }
    }

    fn apply(&mut self, event: Event) {
        let envelope = Envelope { seq: 1, at: Timestamp::UNIX_EPOCH, agent: AgentId::main(), parent: None, event };
        self.transcript.apply(&envelope);
    }

    fn delta(&mut self, text: &str) {
        self.apply(Event::AssistantDelta { text: text.to_owned() });
    }

    fn frame(&mut self) {
        let view = View {
            transcript: &self.transcript,
            scroll: &self.scroll,
            selected: None,
            theme: &self.theme,
            colours: &Colours::default(),
            pictures: &Placements::default(),
            badge: Badge::Shown,
            annotations: Annotations::default(),
        };
        let metrics = draw(&view, &mut self.cache, AREA, &mut self.buf);
        self.scroll.settle(metrics.position, metrics.top, metrics.cells);
        black_box(&self.buf);
    }

    /// A history of 10,000 cells, as turns make it.
    fn long() -> Self {
        let mut pane = Self::new();
        for turn in 0..2_500 {
            let content = format!("question {turn}");
            pane.apply(Event::UserTurn {
                content,
                mid_loop: false,
                injection: None,
                step: 0,
                after: None,
                sender: None,
                kind: steersman_base::steering::TextKind::Add,
                met: None,
                images: Vec::new(),
            });
            pane.apply(Event::Thinking { text: "It asks for a number.\nI look it up.".to_owned() });
            let id = format!("call {turn}");
            let arguments = Arguments::parse(r#"{"path":"src/lib.rs"}"#);
            pane.apply(Event::ToolCall { id: id.as_str().into(), name: "read".to_owned(), arguments });
            let content = "a line of a file\n".repeat(20);
            pane.apply(Event::ToolResult { id: id.into(), content, is_error: false, elapsed_ms: 12 });
            pane.apply(Event::Assistant { text: document(600), interrupted: false });
        }
        assert_eq!(pane.transcript.cells().len(), 10_000);
        pane.frame();
        pane
    }
}

/// Markdown of about so many bytes, of every kind of block.
fn document(bytes: usize) -> String {
    const PART: &str = "## A heading\n\nSome *words* with `code` and a [link](https://example.org) in a paragraph that is \
        long enough to be wrapped once or twice on a screen of the usual width, as answers are.\n\n- one\n- two\n  - three\n\n\
        ```rust\nfn main() {\n    println!(\"hello\");\n}\n```\n\n| a | b |\n|---|---|\n| one | two |\n\n> quoted\n\n";
    PART.repeat(bytes / PART.len() + 1)
}

/// One delta applied and one frame drawn, 10,000 cells above it. Budget 300 µs.
#[divan::bench]
fn delta_to_frame_on_10_000_cells(bencher: Bencher<'_, '_>) {
    let mut pane = Pane::long();
    bencher.bench_local(|| {
        pane.delta("some words ");
        pane.frame();
    });
}

/// One frame with nothing new. Budget 300 µs.
#[divan::bench]
fn unchanged_frame_on_10_000_cells(bencher: Bencher<'_, '_>) {
    let mut pane = Pane::long();
    bencher.bench_local(|| pane.frame());
}

/// One page up through cells that were never in view. Budget 2 ms.
#[divan::bench]
fn page_up_on_10_000_cells(bencher: Bencher<'_, '_>) {
    let mut pane = Pane::long();
    bencher.bench_local(|| {
        pane.scroll.ask(ScrollRequest::PageUp);
        pane.frame();
    });
}

/// The frame after a change of the width, all heights estimated anew. Budget 10 ms.
#[divan::bench]
fn resize_on_10_000_cells(bencher: Bencher<'_, '_>) {
    let mut pane = Pane::long();
    let mut narrow = false;
    bencher.bench_local(|| {
        narrow = !narrow;
        let area = Rect { width: if narrow { 100 } else { 120 }, ..AREA };
        let view = View {
            transcript: &pane.transcript,
            scroll: &pane.scroll,
            selected: None,
            theme: &pane.theme,
            colours: &Colours::default(),
            pictures: &Placements::default(),
            badge: Badge::Shown,
            annotations: Annotations::default(),
        };
        black_box(draw(&view, &mut pane.cache, area, &mut pane.buf));
    });
}

/// 20,000 words of Markdown in frames of 25 words (500 words/s at 20 frames/s): 800 frames in all. Budget 400 ms.
#[divan::bench(sample_count = 10)]
fn stream_of_20_000_words(bencher: Bencher<'_, '_>) {
    let text = document(120_000);
    let words: Vec<&str> = text.split_inclusive(' ').collect();
    bencher.bench_local(|| {
        let mut pane = Pane::new();
        for words in words.chunks(25) {
            pane.delta(&words.concat());
            pane.frame();
        }
    });
}

/// The same words as one paragraph without a line end.
#[divan::bench(sample_count = 10)]
fn stream_of_20_000_words_in_one_paragraph(bencher: Bencher<'_, '_>) {
    let words = vec!["words "; 20_000];
    bencher.bench_local(|| {
        let mut pane = Pane::new();
        for words in words.chunks(25) {
            pane.delta(&words.concat());
            pane.frame();
        }
    });
}

/// 40 KB of Markdown, from nothing to a frame. Budget 10 ms.
#[divan::bench]
fn markdown_of_40_kb(bencher: Bencher<'_, '_>) {
    let text = document(40_000);
    bencher.bench_local(|| {
        let mut pane = Pane::new();
        pane.apply(Event::Assistant { text: text.clone(), interrupted: false });
        pane.frame();
    });
}

/// 120 KB of one paragraph in one delta, to a frame. Budget 20 ms.
#[divan::bench]
fn burst_of_120_kb_in_one_paragraph(bencher: Bencher<'_, '_>) {
    let text = "words ".repeat(20_000);
    bencher.bench_local(|| {
        let mut pane = Pane::new();
        pane.delta(&text);
        pane.frame();
    });
}
