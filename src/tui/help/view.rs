//! Draws help over the screen: the list with its filter, or a page of the manual.

use std::borrow::Cow;
use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::list::{self, Entry, Section};
use super::{Help, Leader, OpenPage};
use crate::overlay::list::draw_empty;
use crate::overlay::{ListPosition, OverlayDrawn, OverlayPosition};
use crate::state::{Region, Regions};
use crate::theme::Theme;
use crate::ui_context::UiContext;
use crate::widgets::fit::{columns, put, row, select};
use crate::widgets::markdown::{Begin, render};
use crate::widgets::wrap::{Line as Row, draw_text, width};
use steersman_base::manual::nearest_topic;

/// Columns of the names where they stand beside their words.
const NAMES: u16 = 27;
/// Columns of the mark of the selected entry.
const MARK: u16 = 2;
/// A character without width that marks the line which shall be in view.
const ANCHOR: char = '\u{2060}';

/// A line of the list.
#[derive(Debug, Default)]
struct Line {
    name: Cow<'static, str>,
    words: String,
    /// The entry that it belongs to; none for a title and a blank line.
    entry: Option<usize>,
    /// Columns left of the words.
    indent: u16,
}

/// Draws what stands in the frame of help.
pub(super) fn draw(
    help: &Help,
    ui: &UiContext,
    inner: Rect,
    regions: &mut Regions,
    buffer: &mut Buffer,
) -> OverlayDrawn {
    let theme = &ui.theme;
    if let Some(open) = &help.page {
        let position = OverlayPosition::Page(draw_page(open, &help.search_words(), theme, inner, buffer));
        return OverlayDrawn { cursor: None, position };
    }
    let (cursor, below) = help.filter.draw(inner, theme, buffer);
    OverlayDrawn { cursor: Some(cursor), ..draw_list(help, ui, below, regions, buffer) }
}

/// Draws a page from its place; returns the first row that is shown.
fn draw_page(open: &OpenPage, words: &[String], theme: &Theme, area: Rect, buffer: &mut Buffer) -> usize {
    let text = open.page.flowing();
    let rows = lay_out(&text, area, theme);
    let height = usize::from(area.height);
    // What stands above it says what it is about.
    let sought = open.sought.and_then(|line| row_of(&text, line, area, theme));
    let top = sought.map_or(open.top, |row| row.saturating_sub(height / 3)).min(rows.len().saturating_sub(height));
    draw_text(&rows, top, area, buffer);
    for (line, y) in rows.iter().skip(top).zip(area.top()..area.bottom()) {
        mark(line.text(), words, Rect { y, height: 1, ..area }, theme, buffer);
    }
    top
}

fn lay_out(text: &str, area: Rect, theme: &Theme) -> Vec<Row> {
    let mut rows = Vec::new();
    render(text, area.width.into(), theme, Begin::Fresh, &mut rows);
    rows
}

fn row_of(text: &str, line: usize, area: Rect, theme: &Theme) -> Option<usize> {
    let at: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let (before, from) = text.split_at_checked(at)?;
    let words = from.trim_start_matches(['#', '|', '-', ' ']);
    let (signs, words) = from.split_at_checked(from.len() - words.len())?;
    let anchored = format!("{before}{signs}{ANCHOR}{words}");
    lay_out(&anchored, area, theme).iter().position(|row| row.text().contains(ANCHOR))
}

/// Marks the words that were searched for in a row.
fn mark(text: &str, words: &[String], area: Rect, theme: &Theme, buffer: &mut Buffer) {
    let lower = text.to_ascii_lowercase();
    for word in words {
        for (at, _) in lower.match_indices(word.as_str()) {
            let left = text.get(..at).map(width).and_then(|left| u16::try_from(left).ok()).unwrap_or(u16::MAX);
            let x = area.x.saturating_add(left);
            let found = Rect { x, width: columns(word), ..area }.intersection(area);
            buffer.set_style(found.intersection(*buffer.area()), theme.found);
        }
    }
}

fn draw_list(help: &Help, ui: &UiContext, area: Rect, regions: &mut Regions, buffer: &mut Buffer) -> OverlayDrawn {
    let theme = &ui.theme;
    let (lines, spans) = lines(list::sections(help, &ui.keymap), area.width);
    if lines.is_empty() {
        let nearest = nearest_topic(help.filter.text().trim());
        let nearest = format!("The nearest topic is {nearest}.");
        draw_empty(&["Nothing here has these words.", &nearest], area, theme, buffer);
    }
    let (selected, top) = place(help.list, help.leader, &spans, lines.len(), area.height.into());
    for (line, y) in lines.iter().skip(top).zip(0..area.height) {
        let whole = row(area, y);
        let Some(entry) = line.entry else {
            put(buffer, whole, &line.name, theme.heading);
            continue;
        };
        regions.add(whole, Region::OverlayRow(entry));
        put(buffer, right_of(whole, MARK), &line.name, theme.accent);
        put(buffer, right_of(whole, line.indent), &line.words, theme.text);
        if entry == selected {
            put(buffer, whole, if line.name.is_empty() { "" } else { "›" }, theme.accent);
            select(buffer, whole, theme.selected);
        }
    }
    OverlayDrawn::list(selected, top)
}

fn right_of(area: Rect, indent: u16) -> Rect {
    let x = area.x.saturating_add(indent).min(area.right());
    Rect { x, width: area.right() - x, ..area }
}

/// Returns the selected entry and the first line that are shown.
fn place(place: ListPosition, leader: Leader, spans: &[Range<usize>], lines: usize, height: usize) -> (usize, usize) {
    let most = lines.saturating_sub(height);
    let last = spans.len().saturating_sub(1);
    let selected = place.selected.min(last);
    match (leader, spans.get(selected)) {
        (_, None) => (0, 0),
        (Leader::Selected, Some(span)) => {
            let top = place.top.min(span.start).max(span.end.saturating_sub(height));
            (selected, top.min(most))
        }
        (Leader::Top, Some(_)) => {
            let top = place.top.min(most);
            let first = spans.iter().position(|span| span.end > top).unwrap_or(last);
            let end = spans.iter().rposition(|span| span.end <= top + height).unwrap_or(first);
            (selected.clamp(first, end.max(first)), top)
        }
    }
}

/// Returns the lines of the sections, and which of them belong to each entry; to the first of a section also its title.
fn lines(sections: Vec<Section>, width: u16) -> (Vec<Line>, Vec<Range<usize>>) {
    let (mut lines, mut spans): (Vec<Line>, Vec<Range<usize>>) = (Vec::new(), Vec::new());
    for section in sections {
        if !lines.is_empty() {
            lines.push(Line::default());
        }
        let mut start = lines.len();
        lines.push(Line { name: section.title.into(), ..Line::default() });
        for entry in section.entries {
            push(&mut lines, width, entry, spans.len());
            spans.push(start..lines.len());
            start = lines.len();
        }
    }
    (lines, spans)
}

/// Adds an entry: its name and its words side by side where there is room for both, the words beneath otherwise.
fn push(lines: &mut Vec<Line>, width: u16, entry: Entry, number: usize) {
    let beside = width >= NAMES * 2;
    let indent = MARK + if beside { NAMES } else { 2 };
    let line = |name, words| Line { name, words, entry: Some(number), indent };
    let mut name = entry.name;
    if !beside || columns(&name) >= NAMES {
        lines.push(line(std::mem::take(&mut name), String::new()));
    }
    let mut words = String::new();
    for word in entry.words.split(' ') {
        if !words.is_empty() && columns(&words) + 1 + columns(word) > width.saturating_sub(indent) {
            lines.push(line(std::mem::take(&mut name), std::mem::take(&mut words)));
        }
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
    }
    lines.push(line(name, words));
}

#[cfg(test)]
mod tests {
    use super::*;
    use steersman_base::manual::MANUAL;

    #[test]
    fn every_line_of_every_page_is_found_at_every_width_below_the_one_before() {
        for page in MANUAL {
            let text = page.flowing();
            for width in [30, 76, 110] {
                let area = Rect { width, height: 20, ..Rect::default() };
                let rows = lay_out(&text, area, &Theme::default());
                let mut above = 0;
                let is_shown = |line: &str| line.contains(char::is_alphanumeric) && !line.starts_with("```");
                for (line, _) in text.lines().enumerate().filter(|(_, line)| is_shown(line)).step_by(9) {
                    let row = row_of(&text, line, area, &Theme::default());
                    assert!(row.is_some_and(|row| row >= above && row < rows.len()), "{} {line} {width}", page.topic);
                    above = row.unwrap_or_default();
                }
            }
        }
    }

    #[test]
    fn the_first_line_stays_where_the_wheel_has_put_it_and_the_selection_comes_along() {
        let spans: Vec<_> = (0..20).map(|line| line..line + 1).collect();
        let at = |selected, top, leader| place(ListPosition { selected, top }, leader, &spans, 20, 5);
        assert_eq!(at(0, 0, Leader::Selected), (0, 0));
        assert_eq!(at(7, 0, Leader::Selected), (7, 3));
        assert_eq!(at(1, 3, Leader::Selected), (1, 1));
        assert_eq!(at(0, 3, Leader::Top), (3, 3));
        assert_eq!(at(9, 3, Leader::Top), (7, 3));
        assert_eq!(at(0, 99, Leader::Top), (15, 15));
        assert_eq!(at(99, 99, Leader::Selected), (19, 15));
        assert_eq!(place(ListPosition::default(), Leader::Selected, &[], 0, 5), (0, 0));
    }
}
