//! What the lists over the screen are drawn with: rows with a mark at the selected one, details at the right of a row, rules.
//! Called by the overlays; keeps nothing.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::OverlayDrawn;
use crate::state::{Region, Regions};
use crate::theme::Theme;
use crate::widgets::fit::{below, columns, one_line, put, put_right, row, select};
use crate::widgets::wrap::{Break, Line, draw_text, wrapped};

/// Columns of the mark of the selected row.
const MARK: u16 = 2;

/// The rows of a list, and the area that they have.
#[derive(Debug, Clone, Copy)]
pub struct ListRows<'a, T> {
    pub area: Rect,
    pub rows: &'a [T],
    pub selected: usize,
    /// The first one that was shown before.
    pub top: usize,
    /// Screen rows of each.
    pub height: u16,
}

impl<T> ListRows<'_, T> {
    /// Draws the rows that fit, the selected one among them: the marks here, the rest of each by the closure; returns the
    /// first one that is shown.
    pub fn draw(
        self,
        theme: &Theme,
        regions: &mut Regions,
        buffer: &mut Buffer,
        mut draw_row: impl FnMut(&T, Rect, &mut Buffer),
    ) -> usize {
        let Self { area, rows, selected, top, height } = self;
        let fits = usize::from(area.height / height.max(1)).max(1);
        let top = top.min(selected).max((selected + 1).saturating_sub(fits)).min(rows.len().saturating_sub(fits));
        for (place, (index, shown)) in (0..).zip(rows.iter().enumerate().skip(top).take(fits)) {
            let whole = Rect { y: area.y + place * height, height: height.min(area.height), ..area };
            let first = row(whole, 0);
            regions.add(whole, Region::OverlayRow(index));
            if index == selected {
                put(buffer, first, "›", theme.accent);
            }
            draw_row(shown, after_mark(whole), buffer);
            if index == selected {
                select(buffer, first, theme.selected);
            }
        }
        top
    }
}

pub fn after_mark(row: Rect) -> Rect {
    let mark = row.width.min(MARK);
    Rect { x: row.x + mark, width: row.width - mark, ..row }
}

/// Gives up to a third of an area to a list, and what is below a rule to the text of the selected row.
pub fn list_and_text(area: Rect, count: usize, theme: &Theme, buffer: &mut Buffer) -> (Rect, Rect) {
    let height = u16::try_from(count).unwrap_or(u16::MAX).min((area.height / 3).max(1));
    let list = Rect { height, ..area };
    (list, below_rule(Rect { y: list.bottom(), height: area.height.saturating_sub(height), ..area }, theme, buffer))
}

/// Draws a rule into the first row of an area; returns what is below it.
pub fn below_rule(area: Rect, theme: &Theme, buffer: &mut Buffer) -> Rect {
    put(buffer, row(area, 0), &"─".repeat(area.width.into()), theme.border);
    below(area, 1)
}

/// Says why a list is empty.
pub fn draw_empty(lines: &[&str], area: Rect, theme: &Theme, buffer: &mut Buffer) -> OverlayDrawn {
    let lines = lines.iter().map(|line| Line::new(line, theme.dim));
    draw_text(&wrapped(lines, area.width.into(), Break::Words), 0, area, buffer);
    OverlayDrawn::default()
}

/// Writes details, joined by ` · `, to the right of a row: as many of the first as leave so many columns; returns what is
/// left of the row.
pub fn put_details(buffer: &mut Buffer, row: Rect, details: &str, least: u16, style: Style) -> Rect {
    let all = one_line(details);
    let mut shown = all.as_str();
    while !shown.is_empty() && columns(shown).saturating_add(least) > row.width {
        shown = shown.rsplit_once(" · ").map_or("", |(before, _)| before);
    }
    let left = put_right(buffer, row, shown, style);
    Rect { width: left.width.saturating_sub(u16::from(!shown.is_empty())), ..left }
}
