//! Fits texts into one row: cuts at graphemes with an ellipsis, counts and times as people write them.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::widgets::{Clear, Widget};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

pub use steersman_base::clock::clock;
use steersman_base::text;

/// Bytes of a text that are looked at for one row.
const ROW_BYTES: usize = 16 * 1024;

/// Returns a text from outside as one safe line; of a very long text as much as fits into any row.
pub fn one_line(text: &str) -> String {
    let visible = text::visible(text.get(..text.floor_char_boundary(ROW_BYTES)).unwrap_or_default());
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub fn columns(line: &str) -> u16 {
    u16::try_from(line.width()).unwrap_or(u16::MAX)
}

/// Cuts a line to a width, with an ellipsis where something is missing.
pub fn clip(line: &str, width: u16) -> Cow<'_, str> {
    if columns(line) <= width {
        return Cow::Borrowed(line);
    }
    let room = usize::from(width).saturating_sub(1);
    let mut used = 0;
    let mut cut: String = line
        .graphemes(true)
        .take_while(|grapheme| {
            used += grapheme.width();
            used <= room
        })
        .collect();
    if width > 0 {
        cut.push('…');
    }
    Cow::Owned(cut)
}

/// Writes a line from the left edge of an area's first row, cut to its width; returns what is left of the area.
pub fn put(buffer: &mut Buffer, area: Rect, line: &str, style: Style) -> Rect {
    let area = area.intersection(*buffer.area());
    if area.is_empty() {
        return area;
    }
    let line = clip(line, area.width);
    let (x, _) = buffer.set_stringn(area.x, area.y, &line, area.width.into(), style);
    Rect { x, width: area.right().saturating_sub(x), ..area }
}

/// Writes a line as [`put`] does, with some of its characters marked: those at these places, ascending.
pub fn put_marked(buffer: &mut Buffer, area: Rect, line: &str, marks: &[u32], style: Style) -> Rect {
    let area = area.intersection(*buffer.area());
    let line = clip(line, area.width);
    let mut rest = area;
    let mut marks = marks.iter().peekable();
    for (place, grapheme) in (0..).zip(line.graphemes(true)) {
        let is_marked = marks.next_if_eq(&&place).is_some();
        let style = if is_marked { style.add_modifier(Modifier::BOLD | Modifier::UNDERLINED) } else { style };
        rest = put(buffer, rest, grapheme, style);
    }
    rest
}

/// Writes a line to the right edge of an area's first row when it fits; returns what is left of the area.
pub fn put_right(buffer: &mut Buffer, area: Rect, line: &str, style: Style) -> Rect {
    let width = columns(line);
    if width > area.width {
        return area;
    }
    put(buffer, Rect { x: area.right() - width, width, ..area }, line, style);
    Rect { width: area.width - width, ..area }
}

/// Returns what is below the first rows of an area.
pub fn below(area: Rect, rows: u16) -> Rect {
    let rows = rows.min(area.height);
    Rect { y: area.y + rows, height: area.height - rows, ..area }
}

/// Fills an area with one sign, as far as it is on the screen.
pub fn fill(buffer: &mut Buffer, area: Rect, sign: &str, style: Style) {
    for position in area.intersection(*buffer.area()).positions() {
        if let Some(cell) = buffer.cell_mut(position) {
            cell.set_symbol(sign).set_style(style);
        }
    }
}

/// Gives the row of a selection one style, as far as it is on the screen: colours of its own would be a background each where
/// the style reverses them.
pub fn select(buffer: &mut Buffer, area: Rect, style: Style) {
    for position in area.intersection(*buffer.area()).positions() {
        if let Some(cell) = buffer.cell_mut(position) {
            if style.add_modifier.contains(Modifier::REVERSED) {
                (cell.fg, cell.bg) = (Color::Reset, Color::Reset);
                cell.modifier.remove(Modifier::DIM);
            }
            cell.set_style(style);
        }
    }
}

/// Empties an area, as far as it is on the screen.
pub fn clear(buffer: &mut Buffer, area: Rect) {
    Clear.render(area.intersection(*buffer.area()), buffer);
}

/// Returns one row of an area; empty when the area has no such row.
pub fn row(area: Rect, index: u16) -> Rect {
    if index < area.height { Rect { y: area.y + index, height: 1, ..area } } else { Rect { height: 0, ..area } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_at_graphemes() {
        assert_eq!(clip("short", 5), "short");
        assert_eq!(clip("longer", 5), "long…");
        assert_eq!(clip("日本語", 5), "日本…");
        assert_eq!(clip("日本語", 4), "日…");
        assert_eq!(clip("abc", 0), "");
    }

    #[test]
    fn clocks() {
        assert_eq!([clock(7), clock(760), clock(3_723)], ["0:07", "12:40", "1:02:03"]);
    }
}
