//! Stories of the painter: few bytes to the terminal, and always the right picture.

use std::num::NonZeroU16;

use proptest::prelude::*;
use ratatui::layout::{Rect, Size};
use ratatui::style::Style;
use steersman::tui::terminal::paint::Painter;

/// Draws frames of text through the painter and lets a terminal emulator obey the bytes.
struct Painted {
    terminal: ratatui::Terminal<Painter>,
    emulator: vt100::Parser,
}

impl Painted {
    fn new(width: u16, height: u16) -> Self {
        let rows = NonZeroU16::new(height).unwrap();
        let columns = NonZeroU16::new(width).unwrap();
        Self {
            terminal: ratatui::Terminal::new(Painter::new(Size { width, height })).unwrap(),
            emulator: vt100::Parser::new(rows, columns, 0),
        }
    }

    /// Draws a frame; `beside` stands left of the scrolling lines. Returns the number of bytes.
    fn frame(&mut self, beside: &[&str], lines: &[String]) -> usize {
        let area = self.terminal.size().unwrap();
        let scrolling = Rect { x: 10, y: 1, width: area.width - 10, height: area.height - 3 };
        self.terminal.backend_mut().set_scrolling(scrolling);
        let draw = |frame: &mut ratatui::Frame<'_>| {
            let buffer = frame.buffer_mut();
            for (y, text) in beside.iter().enumerate() {
                buffer.set_stringn(0, u16::try_from(y).unwrap(), text, 10, Style::new().bold());
            }
            let visible = lines.iter().skip(lines.len().saturating_sub(scrolling.height.into()));
            for (line, y) in visible.zip(scrolling.top()..scrolling.bottom()) {
                let style = if line.len() % 3 == 0 { Style::new().red() } else { Style::new() };
                buffer.set_stringn(10, y, line, scrolling.width.into(), style);
            }
            buffer.set_string(0, area.height - 1, "the status line", Style::new());
            frame.set_cursor_position((2, area.height - 2));
        };
        self.terminal.draw(draw).unwrap();
        let bytes = self.terminal.backend_mut().take();
        self.emulator.process(&bytes);
        bytes.len()
    }

    /// Compares what the emulator shows with the whole picture drawn afresh.
    fn check(&mut self, beside: &[&str], lines: &[String]) {
        let area = self.terminal.size().unwrap();
        let mut fresh = Self::new(area.width, area.height);
        fresh.frame(beside, lines);
        let (shown, wanted) = (self.emulator.screen(), fresh.emulator.screen());
        let rows = |screen: &vt100::Screen| {
            let rows: Vec<String> = screen.contents().lines().map(|row| row.trim_end().to_owned()).collect();
            rows
        };
        assert_eq!(rows(shown), rows(wanted));
        assert_eq!(shown.cursor_position(), wanted.cursor_position());
        for y in 0..area.height {
            for x in 0..area.width {
                let (shown, wanted) = (shown.cell(y, x).unwrap(), wanted.cell(y, x).unwrap());
                if !shown.contents().trim().is_empty() {
                    assert_eq!((shown.fgcolor(), shown.bold()), (wanted.fgcolor(), wanted.bold()), "{x} {y}");
                }
            }
        }
    }
}

#[test]
fn text_that_moved_up_is_scrolled_by_the_terminal() {
    let mut painted = Painted::new(80, 24);
    let mut lines: Vec<String> = (0..21).map(|n| format!("{n} {}", "some words of an answer ".repeat(2))).collect();
    let beside = ["agents", "main", "  miner"];
    painted.frame(&beside, &lines);
    for n in 0..30 {
        lines.push(format!("new {n} {}", "more words of that answer ".repeat(2)));
        let bytes = painted.frame(&beside, &lines);
        painted.check(&beside, &lines);
        assert!(bytes < 400, "{bytes} bytes for one line");
    }
}

#[test]
fn an_unchanged_frame_costs_no_bytes() {
    let mut painted = Painted::new(80, 24);
    let lines = ["a line".to_owned()];
    painted.frame(&["agents"], &lines);
    assert_eq!(painted.frame(&["agents"], &lines), 0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_painted_the_terminal_shows_the_same_as_after_a_fresh_start(
        steps in prop::collection::vec((0usize..8, "[a-c 日é]{0,12}", any::<bool>()), 1..30),
    ) {
        let mut painted = Painted::new(50, 16);
        let mut lines: Vec<String> = Vec::new();
        for (more, text, tree) in steps {
            for n in 0..more {
                lines.push(format!("{text}{n}{text}"));
            }
            if more == 0 {
                lines.truncate(lines.len() / 2);
            }
            let beside = if tree { ["agents", "● main"] } else { ["agents", "○ 日本 x"] };
            painted.frame(&beside, &lines);
            painted.check(&beside, &lines);
        }
    }
}
