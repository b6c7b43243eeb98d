//! Styled lines and their wrapping by display width.
//!
//! Owns [`Line`], the unit that the transcript is cached and drawn in. A wrapped line is never wider than asked, a wide
//! character is never cut, nothing but white space at a break is lost. Control characters never reach a buffer.

use std::borrow::Borrow;

use ratatui::buffer::{Buffer, CellWidth as _};
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_segmentation::UnicodeSegmentation as _;

use crate::widgets::code::Code;

/// Columns between tab stops.
const TAB: usize = 4;
/// Stands for a character that is wider than the line.
const TOO_WIDE: &str = "\u{FFFD}";

/// A line of text with styles; without line feeds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    text: String,
    runs: Vec<Run>,
    code: Option<Box<Code>>,
    /// Bytes at the start that are frame: gutters and marks, which are neither found nor copied.
    lead: u16,
    /// Bytes at the end that are text although the line stands before rows: the marker of a list's item.
    own: u16,
    joint: Joint,
}

/// How a row stands to the one above it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Joint {
    /// A line of the text begins here.
    #[default]
    Begins,
    /// It goes on the line above; the break took so many columns of blanks.
    GoesOn(u16),
}

/// A stretch of one style; it begins where the one before ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    end: usize,
    style: Style,
}

impl Line {
    pub fn new(text: &str, style: Style) -> Self {
        let mut line = Self::default();
        line.push(text, style);
        line
    }

    /// Makes a line that is frame: whatever is pushed behind it is text.
    pub fn frame(text: &str, style: Style) -> Self {
        Self::new(text, style).into_frame()
    }

    /// Makes frame of what the line has so far.
    #[must_use]
    pub fn into_frame(mut self) -> Self {
        self.lead = short(self.text.len());
        self
    }

    /// Appends text that stays text when the line stands before rows.
    pub fn push_own(&mut self, text: &str, style: Style) {
        let own = self.own;
        self.push(text, style);
        self.own = own.saturating_add(short(text.len()));
    }

    /// Appends text; neighbours of one style become one stretch.
    pub fn push(&mut self, text: &str, style: Style) {
        if text.is_empty() {
            return;
        }
        self.own = 0;
        self.text.push_str(text);
        match self.runs.last_mut() {
            Some(run) if run.style == style => run.end = self.text.len(),
            Some(_) | None => self.runs.push(Run { end: self.text.len(), style }),
        }
    }

    pub fn append(&mut self, other: &Self) {
        for (text, style) in other.runs() {
            self.push(text, style);
        }
    }

    /// Says of which code the line is, from a byte of it on to its end.
    pub(crate) fn set_code(&mut self, code: Code) {
        self.code = Some(Box::new(code));
    }

    pub(crate) fn code(&self) -> Option<&Code> {
        self.code.as_deref()
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text without the frame before it.
    pub fn text_after_lead(&self) -> &str {
        self.text.get(usize::from(self.lead)..).unwrap_or_default()
    }

    /// Returns the columns of the frame before the text.
    pub fn lead_width(&self) -> usize {
        width(self.text.get(..usize::from(self.lead)).unwrap_or_default())
    }

    /// Returns how it stands to the row above it.
    pub fn joint(&self) -> Joint {
        self.joint
    }

    /// Returns the stretches in order.
    pub fn runs(&self) -> impl Iterator<Item = (&str, Style)> {
        self.slice(0, self.text.len())
    }

    pub fn width(&self) -> usize {
        width(&self.text)
    }

    /// Returns the stretches between two bytes.
    pub(crate) fn slice(&self, from: usize, to: usize) -> impl Iterator<Item = (&str, Style)> {
        let first = self.runs.partition_point(|run| run.end <= from);
        let mut start = from;
        self.runs.get(first..).unwrap_or_default().iter().map_while(move |run| {
            let end = run.end.min(to);
            let text = if start < end { self.text.get(start..end) } else { None };
            start = end;
            text.map(|text| (text, run.style))
        })
    }

    /// Returns the longest end of the line that fits a width.
    fn end_that_fits(&self, room: usize) -> Self {
        let mut left = self.width();
        let mut at = 0;
        while left > room {
            let Some((end, width)) = grapheme(&self.text, at) else { break };
            left -= width.min(left);
            at = end;
        }
        let mut line = Self::default();
        for (text, style) in self.slice(at, self.text.len()) {
            line.push(text, style);
        }
        line.own = self.own.min(short(line.text.len()));
        line
    }

    /// Cuts the line to a width, ending it in an ellipsis when something is lost.
    #[must_use]
    pub fn truncate(&self, room: usize) -> Self {
        if self.width() <= room {
            return self.clone();
        }
        let mut taken = 0;
        let mut at = 0;
        while let Some((end, width)) = grapheme(&self.text, at) {
            if taken + width + 1 > room {
                break;
            }
            taken += width;
            at = end;
        }
        let mut line = Self::default();
        let mut last = Style::default();
        for (text, style) in self.slice(0, at) {
            line.push(text, style);
            last = style;
        }
        if room > 0 {
            line.push("…", last);
        }
        (line.lead, line.joint) = (self.lead.min(short(line.text.len())), self.joint);
        line
    }

    /// Writes the line into a buffer, at most so many columns; what lies outside the buffer is left out.
    pub fn draw(&self, buf: &mut Buffer, x: u16, y: u16, columns: u16) {
        let end = x.saturating_add(columns).min(buf.area.right());
        let mut x = x;
        for (text, style) in self.runs() {
            let mut at = 0;
            while let Some((next, width)) = grapheme(text, at) {
                let symbol = text.get(at..next).unwrap_or_default();
                at = next;
                let Ok(width) = u16::try_from(width) else { return };
                if width == 0 {
                    continue;
                }
                let after = x.saturating_add(width);
                if after > end {
                    return;
                }
                if let Some(cell) = buf.cell_mut((x, y)) {
                    cell.set_symbol(symbol).set_style(style);
                }
                for covered in x + 1..after {
                    if let Some(cell) = buf.cell_mut((covered, y)) {
                        cell.reset();
                    }
                }
                x = after;
            }
        }
    }
}

/// Returns a length within a row as it is kept; none is longer but in a line that is not wrapped.
fn short(length: usize) -> u16 {
    u16::try_from(length).unwrap_or(u16::MAX)
}

/// Returns the end and the display width of the grapheme that begins at a byte; controls have no width.
fn grapheme(text: &str, at: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let first = bytes.get(at)?;
    if first.is_ascii() && bytes.get(at + 1).is_none_or(u8::is_ascii) {
        return Some((at + 1, usize::from(!first.is_ascii_control())));
    }
    let symbol = text.get(at..)?.graphemes(true).next()?;
    let width = if symbol.contains(char::is_control) { 0 } else { usize::from(symbol.cell_width()) };
    Some((at + symbol.len(), width))
}

pub fn width(text: &str) -> usize {
    if text.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_control()) {
        return text.len();
    }
    let mut sum = 0;
    let mut at = 0;
    while let Some((end, width)) = grapheme(text, at) {
        sum += width;
        at = end;
    }
    sum
}

/// Where a line may be broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Break {
    /// Between words and beside wide characters; a word longer than the line is split.
    Words,
    /// Anywhere, keeping every blank: code and output.
    Anywhere,
}

/// How to wrap: how wide, where to break, and what stands before the rows.
#[derive(Debug, Clone, Copy)]
pub struct Wrap<'a> {
    /// The width of a row, what stands before it included. Nothing is written when it is 0.
    pub width: usize,
    pub at: Break,
    /// Stands before the first row; cut from the left to half the width.
    pub first: &'a Line,
    /// Stands before the other rows; cut like the first.
    pub rest: &'a Line,
}

/// Wraps lines to a width, with nothing before their rows.
pub fn wrapped(lines: impl IntoIterator<Item: Borrow<Line>>, width: usize, at: Break) -> Vec<Line> {
    let none = Line::default();
    let mut rows = Vec::new();
    for line in lines {
        Wrap { width, at, first: &none, rest: &none }.line(line.borrow(), &mut rows);
    }
    rows
}

/// Draws a text from this line on, or its end if fewer are left than fit; returns the first line that is shown.
pub fn draw_text(lines: &[Line], top: usize, area: Rect, buffer: &mut Buffer) -> usize {
    let top = top.min(lines.len().saturating_sub(area.height.into()));
    for (line, y) in lines.iter().skip(top).zip(area.y..area.bottom()) {
        line.draw(buffer, area.x, y, area.width);
    }
    top
}

impl Wrap<'_> {
    /// Wraps a line into rows, at least one, and appends them.
    pub fn line(&self, line: &Line, rows: &mut Vec<Line>) {
        if self.width == 0 {
            return;
        }
        let first = self.first.end_that_fits(self.width / 2);
        let rest = self.rest.end_that_fits(self.width / 2);
        let room = self.width - first.width().max(rest.width());
        let mut above = None;
        rows_of(&line.text, self.at, room, |from, to| {
            let mut row = if above.is_some() { rest.clone() } else { first.clone() };
            let frame = short(row.text.len());
            (row.lead, row.joint) = match above {
                None => (frame.saturating_sub(row.own).saturating_add(line.lead), Joint::Begins),
                Some(end) => {
                    let lost = line.text.get(end..from).unwrap_or_default().replace('\t', "    ");
                    (frame, Joint::GoesOn(short(width(&lost))))
                }
            };
            row.own = 0;
            above = Some(to);
            let prefix = row.text.len();
            copy(line, from, to, room, &mut row);
            // Colours are found by bytes: a row whose bytes are other ones has none.
            let code = line.code().filter(|_| row.text.get(prefix..) == line.text.get(from..to));
            row.code = code.map(|code| Box::new(code.wrapped(from, prefix)));
            rows.push(row);
        });
    }
}

/// Tells whether a row may not begin with this text: closing punctuation of East Asian scripts.
fn closes(symbol: &str) -> bool {
    matches!(symbol, "、" | "。" | "，" | "．" | "）" | "」" | "』" | "】" | "》" | "！" | "？" | "：" | "；" | "ー")
}

/// Finds the rows of a text and tells the bytes where each begins and ends.
fn rows_of(text: &str, how: Break, room: usize, mut row: impl FnMut(usize, usize)) {
    /// A place where the row can end.
    struct Chance {
        /// The row's last byte, blanks left out.
        end: usize,
        /// The next row's first byte.
        next: usize,
        /// The columns up to `next`.
        columns: usize,
    }
    let mut start = 0;
    let mut columns = 0;
    let mut chance: Option<Chance> = None;
    let mut in_blanks = false;
    let mut at = 0;
    let mut emitted = false;
    while let Some((end, width)) = grapheme(text, at) {
        let symbol = text.get(at..end).unwrap_or_default();
        let is_blank = matches!(symbol, " " | "\t" | "\u{3000}");
        let is_tab = symbol == "\t";
        let mut width = if is_tab { tab(columns, room) } else { width.min(room) };
        if how == Break::Words && is_blank {
            let ends = if in_blanks { chance.as_ref().map_or(at, |chance| chance.end) } else { at };
            columns += width;
            chance = Some(Chance { end: ends, next: end, columns });
            in_blanks = true;
            at = end;
            continue;
        }
        let is_wide = width > 1;
        if how == Break::Words && is_wide && !in_blanks && at > start && !closes(symbol) {
            chance = Some(Chance { end: at, next: at, columns });
        }
        while columns + width > room && at > start {
            let (ends, next, used) = match chance.take() {
                Some(chance) => (chance.end, chance.next, chance.columns),
                None => (at, at, columns),
            };
            if ends > start {
                row(start, ends);
                emitted = true;
            }
            start = next;
            columns -= used.min(columns);
            if is_tab {
                width = tab(columns, room);
            }
        }
        columns += width;
        in_blanks = false;
        at = end;
        if how == Break::Words && is_wide {
            let next_closes = grapheme(text, at).and_then(|(end, _)| text.get(at..end)).is_some_and(closes);
            if !next_closes {
                chance = Some(Chance { end: at, next: at, columns });
            }
        }
    }
    let mut end = text.len();
    if how == Break::Words {
        end = text.trim_end_matches([' ', '\t', '\u{3000}']).len();
    }
    if end > start || !emitted {
        row(start, end.max(start));
    }
}

/// Copies a stretch of a line: tabs become blanks, what is too wide becomes a mark.
///
/// Graphemes are those of the whole text: a style that changes inside one must not change its width.
fn copy(line: &Line, from: usize, to: usize, room: usize, row: &mut Line) {
    let stretch = line.text.get(from..to).unwrap_or_default();
    if stretch.bytes().all(|byte| (0x20..0x7F).contains(&byte)) {
        for (text, style) in line.slice(from, to) {
            row.push(text, style);
        }
        return;
    }
    let mut columns = 0;
    let mut at = from;
    let mut runs = line.runs.iter().skip_while(|run| run.end <= from).peekable();
    while let Some((end, width)) = grapheme(&line.text, at).filter(|_| at < to) {
        while runs.peek().is_some_and(|run| run.end <= at) {
            runs.next();
        }
        let style = runs.peek().map(|run| run.style).unwrap_or_default();
        let symbol = line.text.get(at..end).unwrap_or_default();
        at = end;
        let (shown, width) = if symbol == "\t" {
            let blanks = tab(columns, room);
            ("    ".get(..blanks).unwrap_or_default(), blanks)
        } else if width > room {
            (TOO_WIDE, 1)
        } else if symbol.contains(char::is_control) {
            ("", 0)
        } else {
            (symbol, width)
        };
        row.push(shown, style);
        columns += width;
    }
}

/// Returns the width of a tab at a column, at least 1 where there is room.
fn tab(columns: usize, room: usize) -> usize {
    (TAB - columns % TAB).min(room.saturating_sub(columns).max(1))
}
