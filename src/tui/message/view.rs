//! Draws the composer with its prompt, and above it the history search: the matches, and the line that is typed.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::vim::VimMode;
use super::{Message, MessageContext};
use crate::overlay::frame::{LIST_ROWS, clear_bottom};
use crate::state::{PROMPT_COLUMNS, Pane, Region, Regions};
use crate::widgets::fit::{columns, put, put_marked, put_right, row};
use steersman_base::text::visible_line;

/// Columns of a screen from which the mode of vim stands in the row of the message.
const MODE_FROM: u16 = 30;

/// Returns the columns left of the text: with the keys of vim the mode stands there.
pub fn prompt_columns(mode: Option<VimMode>, width: u16) -> u16 {
    match mode {
        Some(mode) if width >= MODE_FROM => columns(mode.name()) + 1 + PROMPT_COLUMNS,
        _ => PROMPT_COLUMNS,
    }
}

/// Draws prompt and text; returns where the terminal's cursor belongs, when the composer has the focus.
pub fn draw(message: &Message, known: &MessageContext<'_>, area: Rect, buffer: &mut Buffer) -> Option<Position> {
    let focused = known.on_composer();
    let theme = &known.ui.theme;
    let style = if focused { theme.accent } else { theme.dim };
    let prompt = prompt_columns(message.vim_mode(), area.width).min(area.width);
    let mut first = Rect { width: prompt, ..row(area, 0) };
    if let Some(mode) = message.vim_mode().filter(|_| prompt > PROMPT_COLUMNS) {
        let style = if message.takes_commands() { theme.notice } else { theme.dim };
        first = put(buffer, first, &format!("{} ", mode.name()), style);
    }
    put(buffer, first, "› ", style);
    let text = Rect { x: area.x + prompt, width: area.width - prompt, ..area };
    let cursor = message.render(text, buffer);
    cursor.filter(|_| focused)
}

/// Draws the list into the lower end of the room above the composer; returns the room that is left, and where the
/// terminal's cursor belongs.
pub fn draw_search(
    message: &Message,
    known: &MessageContext<'_>,
    room: Rect,
    regions: &mut Regions,
    buffer: &mut Buffer,
) -> (Rect, Option<Position>) {
    let Some(search) = message.search.as_ref().filter(|_| room.height > 0) else { return (room, None) };
    let theme = &known.ui.theme;
    let hits = &search.found().hits;
    let most = usize::from(room.height - 1).min(LIST_ROWS).min(hits.len().max(1));
    let rows = u16::try_from(most + 1).unwrap_or(room.height);
    let area = clear_bottom(room, rows, buffer);
    regions.add(area, Region::Overlay);
    let first = (search.chosen() + 1).saturating_sub(most);
    for ((place, hit), y) in hits.iter().enumerate().skip(first).take(most).zip(0..) {
        let (mark, style) = if place == search.chosen() { ("▸ ", theme.accent) } else { ("  ", theme.text) };
        regions.add(row(area, y), Region::Offer(place));
        let rest = put(buffer, row(area, y), mark, style);
        put_marked(buffer, rest, &hit.text, &hit.marks, style);
    }
    if hits.is_empty() && most > 0 {
        let words = if search.total() == 0 { "  nothing was sent yet" } else { "  nothing that was sent matches" };
        put(buffer, row(area, 0), words, theme.dim);
    }
    let line = row(area, rows - 1);
    let count = format!(" {} of {} ", search.found().count, search.total());
    let keys = [format!("{count}· Enter takes it · Ctrl+R next "), count];
    let query = visible_line(&search.query);
    let room_of_keys = line.width.saturating_sub(columns(&query) + 12);
    let hint = keys.iter().find(|hint| columns(hint) <= room_of_keys);
    let left = hint.map_or(line, |hint| put_right(buffer, line, hint, theme.dim));
    let left = put(buffer, left, "  search: ", theme.dim);
    // Of a long line its end is shown, where the cursor is.
    let skipped = columns(&query).saturating_sub(left.width.saturating_sub(1));
    let shown = end_of(&query, columns(&query) - skipped);
    let behind = put(buffer, left, shown, theme.text);
    let cursor = Position { x: behind.x.min(line.right().saturating_sub(1)), y: line.y };
    (Rect { height: area.y - room.y, ..room }, known.focus.is_on(Pane::History).then_some(cursor))
}

/// Returns the end of a line that fits into so many columns.
fn end_of(line: &str, width: u16) -> &str {
    use unicode_segmentation::UnicodeSegmentation;

    let fits = |(at, _): &(usize, &str)| columns(line.get(*at..).unwrap_or_default()) <= width;
    let first = line.grapheme_indices(true).find(fits);
    first.and_then(|(at, _)| line.get(at..)).unwrap_or_default()
}
