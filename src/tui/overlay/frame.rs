//! The frame of everything that lies over the panes: its place, its border, the way to its rows.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Block, Padding, Widget};

use crate::state::{Region, Regions};
use crate::theme::Theme;
use crate::widgets::fit::{clear, columns, put};

/// Most rows of a list above the composer that are shown at once.
pub const LIST_ROWS: usize = 8;

/// Columns of what lies over a broad screen, and the fewest that stay free on each side of it.
const WIDTH: u16 = 116;
const SIDE: u16 = 12;

/// Clears rows in the middle of the screen, with a border where there is room for one and the first title that fits
/// into it; returns what is inside.
pub fn open(
    theme: &Theme,
    titles: &[impl AsRef<str>],
    screen: Rect,
    regions: &mut Regions,
    buffer: &mut Buffer,
) -> Rect {
    let area = frame(screen).intersection(*buffer.area());
    regions.add(screen, Region::Behind);
    regions.add(area, Region::Overlay);
    // What stands beside it would be words cut in two.
    clear(buffer, Rect { x: screen.x, width: screen.width, ..area });
    if !is_framed(area) {
        return area;
    }
    let fitting = titles.iter().map(AsRef::as_ref).find(|title| columns(title) + 2 <= area.width);
    let block = Block::bordered()
        .title(fitting.unwrap_or_default())
        .border_style(theme.border_focus)
        .padding(Padding::horizontal(1));
    let inner = block.inner(area);
    block.render(area, buffer);
    inner
}

/// Writes the first of these texts that fits onto the lower border, where there is one.
pub fn foot(theme: &Theme, texts: &[impl AsRef<str>], screen: Rect, buffer: &mut Buffer) {
    let area = frame(screen).intersection(*buffer.area());
    if !is_framed(area) {
        return;
    }
    let room = Rect { x: area.x + 1, y: area.bottom() - 1, width: area.width - 2, height: 1 };
    if let Some(text) = texts.iter().map(AsRef::as_ref).find(|text| columns(text) <= room.width) {
        put(buffer, room, text, theme.border_focus);
    }
}

/// Tells whether there is room for a border.
fn is_framed(area: Rect) -> bool {
    area.width >= 30 && area.height >= 8
}

/// Returns its place: as wide as the screen, unless so much of that would stay free on both sides that it can be read.
fn frame(screen: Rect) -> Rect {
    let width = if screen.width < WIDTH + 2 * SIDE { screen.width } else { WIDTH };
    let height = screen.height.saturating_sub(if screen.height > 20 { 4 } else { 1 });
    Rect { x: screen.x + (screen.width - width) / 2, y: screen.y + (screen.height - height) / 2, width, height }
}

/// Clears so many rows at the lower end of the room, and returns them.
pub fn clear_bottom(room: Rect, rows: u16, buffer: &mut Buffer) -> Rect {
    let area = Rect { y: room.bottom() - rows, height: rows, ..room };
    clear(buffer, area);
    area
}
