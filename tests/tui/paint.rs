//! Stories of the painter: few bytes to the terminal, and always the right picture.

use std::num::NonZeroU16;

use proptest::prelude::*;
use ratatui::layout::{Rect, Size};
use ratatui::style::Style;
use steersman_tui::terminal::paint::Painter;

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
        let bytes = self.terminal.backend_mut().take_bytes();
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

/// Clusters of several code points, of which terminals differ in how many columns they have.
const CLUSTERS: [&str; 16] = [
    "\u{1F1F5}\u{1F1EA}",
    "\u{0E01}\u{0E33}",
    "\u{0E2A}\u{0E27}\u{0E31}\u{0E2A}\u{0E14}\u{0E35}",
    "\u{0915}\u{094D}\u{0937}\u{093F}",
    "\u{0938}\u{094D}\u{0924}\u{0947}",
    "\u{1F469}\u{200D}\u{1F4BB}",
    "\u{2764}\u{FE0F}",
    "e\u{0301}",
    // A family, a keycap, a tone of the skin, a syllable of parts, a text form, many marks, a flag of tags, a new picture.
    "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}",
    "1\u{FE0F}\u{20E3}",
    "\u{1F44D}\u{1F3FD}",
    "\u{1112}\u{1161}\u{11AB}",
    "\u{2600}\u{FE0E}",
    "Z\u{0351}\u{036B}\u{0343}\u{036A}",
    "\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
    "\u{1FAE9}",
];

/// Obeys the bytes of frames as a terminal that gives every code point columns of its own, two to each half of a flag.
struct WideTerminal {
    width: usize,
    rows: Vec<Vec<String>>,
    place: (usize, usize),
    wraps: bool,
    /// The columns that it gives a picture.
    pictures: usize,
}

impl WideTerminal {
    fn new(width: usize, height: usize) -> Self {
        Self { width, rows: vec![vec![" ".to_owned(); width]; height], place: (0, 0), wraps: true, pictures: 2 }
    }

    fn obey(&mut self, bytes: &[u8]) {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            if c != '\x1b' {
                self.print(c);
                continue;
            }
            assert_eq!(rest.next(), Some('['));
            let mut parameters = String::new();
            let last = loop {
                match rest.next().unwrap() {
                    c @ '@'..='~' => break c,
                    c => parameters.push(c),
                }
            };
            let mut numbers = parameters.split(';').map(|number| number.parse::<usize>().unwrap_or(1));
            match (parameters.as_str(), last) {
                (_, 'H') => self.place = (numbers.next().unwrap() - 1, numbers.next().unwrap_or(1) - 1),
                ("?7", 'h' | 'l') => self.wraps = last == 'h',
                (_, 'J') => self.rows = vec![vec![" ".to_owned(); self.width]; self.rows.len()],
                (_, 'm' | 'h' | 'l') => {}
                other => panic!("{other:?}"),
            }
        }
    }

    fn print(&mut self, c: char) {
        let columns = match c {
            '\u{200D}' | '\u{FE0F}' => 0,
            '\u{1F1E6}'..='\u{1F1FF}' => 2,
            '\u{26A1}' | '\u{1F600}'..='\u{1FAFF}' => self.pictures,
            c => unicode_width::UnicodeWidthChar::width(c).unwrap_or(0).max(1),
        };
        for half in 0..columns {
            let (mut y, mut x) = self.place;
            if x >= self.width {
                (y, x) = if self.wraps { ((y + 1).min(self.rows.len() - 1), 0) } else { (y, self.width - 1) };
            }
            self.rows[y][x] = if half == 0 { c.to_string() } else { String::new() };
            self.place = (y, x + 1);
        }
    }

    fn screen(&self) -> Vec<String> {
        self.rows.iter().map(|row| row.concat().trim_end().to_owned()).collect()
    }
}

#[test]
fn nothing_of_a_cluster_of_several_code_points_stays_when_it_goes() {
    let draw = |painter: &mut ratatui::Terminal<Painter>, rows: &[String]| {
        let drawn = painter.draw(|frame| {
            for (y, row) in (0..).zip(rows) {
                frame.buffer_mut().set_string(0, y, row, Style::new());
            }
        });
        drawn.unwrap();
        painter.backend_mut().take_bytes()
    };
    for cluster in CLUSTERS {
        for before in [0, 3, 17, 18, 19] {
            let mut painter = ratatui::Terminal::new(Painter::new(Size { width: 20, height: 4 })).unwrap();
            let (mut wide, mut usual) = (
                WideTerminal::new(20, 4),
                vt100::Parser::new(NonZeroU16::new(4).unwrap(), NonZeroU16::new(20).unwrap(), 0),
            );
            let with = format!("{}{cluster}{}", "-".repeat(before), "=".repeat(20));
            let with: String = with.chars().take(before + cluster.chars().count() + 12).collect();
            let plain = vec!["What stays?".to_owned(), "plain".to_owned(), "rows".to_owned(), "here".to_owned()];
            for rows in [
                vec![plain[0].clone(), with.clone(), with.clone()],
                plain.clone(),
                vec![with.clone(); 4],
                plain.clone(),
            ] {
                let bytes = draw(&mut painter, &rows);
                wide.obey(&bytes);
                usual.process(&bytes);
            }
            assert_eq!(wide.screen(), plain, "{cluster} behind {before}");
            let cell =
                |y: u16, x: u16| usual.screen().cell(y, x).map_or_else(String::new, |cell| cell.contents().to_owned());
            let filled = |text: String| if text.is_empty() { " ".to_owned() } else { text };
            let row = |y: u16| (0..20).map(|x| filled(cell(y, x))).collect::<String>().trim_end().to_owned();
            let shown: Vec<String> = (0..4).map(row).collect();
            assert_eq!(shown, plain, "{cluster} behind {before}");
        }
    }
}

#[test]
fn a_picture_that_a_terminal_gives_one_column_has_nothing_of_what_stood_there_beside_it() {
    for picture in ["\u{1FAE9}", "\u{1F600}", "\u{26A1}"] {
        let mut painter = ratatui::Terminal::new(Painter::new(Size { width: 20, height: 2 })).unwrap();
        let mut narrow = WideTerminal { pictures: 1, ..WideTerminal::new(20, 2) };
        for row in ["abcdefgh", &format!("ab{picture}efgh"), "abcdefgh"] {
            painter.draw(|frame| frame.buffer_mut().set_string(0, 0, row, Style::new())).unwrap();
            narrow.obey(&painter.backend_mut().take_bytes());
            let expected = row.replace(picture, &format!("{picture} "));
            assert_eq!(narrow.screen()[0], expected);
        }
    }
}

#[test]
fn what_stands_behind_a_cluster_stands_where_it_belongs() {
    for cluster in CLUSTERS {
        let mut painter = ratatui::Terminal::new(Painter::new(Size { width: 40, height: 2 })).unwrap();
        let mut wide = WideTerminal::new(40, 2);
        let drawn = painter.draw(|frame| {
            frame.buffer_mut().set_string(0, 0, cluster, Style::new());
            frame.buffer_mut().set_string(20, 0, "│ behind", Style::new());
        });
        drawn.unwrap();
        wide.obey(&painter.backend_mut().take_bytes());
        let cells: String = wide.rows[0][20..28].concat();
        assert_eq!(cells, "│ behind", "{cluster}");
    }
}

#[test]
fn an_area_is_written_whole_whatever_the_terminal_shows_there() {
    let mut painter = ratatui::Terminal::new(Painter::new(Size { width: 20, height: 4 })).unwrap();
    let mut wide = WideTerminal::new(20, 4);
    for is_requested in [false, true] {
        painter.draw(|frame| frame.buffer_mut().set_string(0, 0, "first", Style::new())).unwrap();
        if is_requested {
            // The terminal shows what nobody has drawn.
            wide.rows[2][4] = "x".to_owned();
            painter.backend_mut().rewrite(Rect { x: 2, y: 2, width: 10, height: 1 });
        }
        wide.obey(&painter.backend_mut().take_bytes());
    }
    assert_eq!(wide.screen(), ["first", "", "", ""]);
}

/// Paints frames of a transcript that grows and shrinks, beside the tree or another list, and compares each.
fn paint_steps<'a>(steps: impl IntoIterator<Item = (usize, &'a str, bool)>) {
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

#[test]
fn what_once_was_painted_wrong_is_right() {
    paint_steps([(0, "", true), (0, "", false), (0, "", true)]);
    paint_steps([(0, "", false), (7, "aéé a", false), (7, "日a日éé日", false), (0, "", false)]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_painted_the_terminal_shows_the_same_as_after_a_fresh_start(
        steps in prop::collection::vec((0usize..8, "[a-c 日é]{0,12}", any::<bool>()), 1..30),
    ) {
        paint_steps(steps.iter().map(|(more, text, tree)| (*more, text.as_str(), *tree)));
    }
}
