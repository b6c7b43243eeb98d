//! The frame of everything that lies over the panes: its place, its border, the way to its rows.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Block, Padding, Widget};

use super::fit::columns;
use crate::tui::state::regions::{Region, Regions};
use crate::tui::theme::Theme;

/// Clears a place in the middle of the screen, with a border where there is room for one and the first title that fits
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
    for position in area.positions() {
        if let Some(cell) = buffer.cell_mut(position) {
            cell.reset();
        }
    }
    if area.width < 30 || area.height < 8 {
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

fn frame(screen: Rect) -> Rect {
    let width = screen.width.saturating_sub(if screen.width > 50 { 4 } else { 0 }).min(116);
    let height = screen.height.saturating_sub(if screen.height > 20 { 4 } else { 1 });
    Rect { x: screen.x + (screen.width - width) / 2, y: screen.y + (screen.height - height) / 2, width, height }
}
