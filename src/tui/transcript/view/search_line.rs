//! Draws the line in which a search is typed, over the rule above the composer: no other row moves for it.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use unicode_segmentation::UnicodeSegmentation as _;

use crate::theme::Theme;
use crate::transcript::search::Search;
use crate::widgets::fit::{clear, columns, put, put_right};

/// Columns that the text keeps, whatever else there is to say.
const TEXT: u16 = 12;

/// Draws the line; returns where the terminal's cursor belongs.
pub fn draw(search: &Search, theme: &Theme, area: Rect, buffer: &mut Buffer) -> Option<Position> {
    let area = area.intersection(*buffer.area());
    clear(buffer, area);
    let mut room = put(buffer, area, "/", theme.accent);
    let shown = labels(search);
    let fits = |words: &&String| columns(words) + TEXT <= room.width;
    if let Some(words) = shown.iter().find(fits) {
        room = put_right(buffer, room, words, theme.dim);
    }
    // What stands before the cursor is in view, as far as there is room, with a column for the cursor itself.
    let (mut before, most) = (search.before_cursor(), room.width.saturating_sub(1));
    while columns(before) > most {
        let first = before.graphemes(true).next().map_or(before.len(), str::len);
        before = before.get(first..).unwrap_or_default();
    }
    let behind = search.text().get(search.before_cursor().len()..).unwrap_or_default();
    let cursor = Position { x: room.x + columns(before), y: area.y };
    put(buffer, room, &format!("{before}{behind}"), theme.text);
    (!area.is_empty()).then_some(cursor)
}

/// Says what was found and what the keys do, the longest first.
fn labels(search: &Search) -> Vec<String> {
    let keys = "Enter stays · Esc: back to where you were";
    if !search.is_active() {
        return vec![format!("  Up: earlier searches · {keys} "), format!("  {keys} "), "  Esc: back ".to_owned()];
    }
    let counts = progress(search);
    let longest = counts.iter().take(1).flat_map(|count| {
        [format!("  {count} · Tab next · {keys} "), format!("  {count} · {keys} "), format!("  {count} · Esc: back ")]
    });
    longest.chain(counts.iter().map(|count| format!("  {count} "))).collect()
}

/// Says what was found, and whether the last step led around an end, the longest first.
pub fn progress(search: &Search) -> Vec<String> {
    let count = search.count.describe();
    match search.wrapped {
        Some(wrapped) => wrapped.labels().map(|words| format!("{words}: {count}")).into_iter().chain([count]).collect(),
        None => vec![count],
    }
}
