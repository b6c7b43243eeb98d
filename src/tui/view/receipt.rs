//! Draws a receipt beneath its text: its mark, and as many of its words as fit into one row.

use ratatui::style::Style;

use crate::tui::state::told::{Mark, Told};
use crate::tui::theme::Theme;
use crate::tui::widgets::wrap::{Break, Line, Wrap, width};

/// Writes a receipt into rows of so many columns. What says how it came there is left out where it does not fit; what
/// says where it is goes on in the next row.
pub fn lines(told: &Told, room: usize, theme: &Theme) -> Vec<Line> {
    let mut line = Line::frame(&format!("{} ", told.mark.symbol()), style(told.mark, theme));
    for (number, part) in told.parts.iter().enumerate() {
        let gap = if number == 0 { "" } else { " · " };
        if number > 0 && line.width() + width(gap) + width(part) > room {
            break;
        }
        line.push(gap, theme.dim);
        line.push(part, if number == 0 { words(told.mark, theme) } else { theme.dim });
    }
    let mut rows = Vec::new();
    let rest = Line::new(&" ".repeat(width(told.mark.symbol()) + 1), theme.dim);
    Wrap { width: room, at: Break::Words, first: &Line::default(), rest: &rest }.line(&line, &mut rows);
    rows
}

/// Returns the style of a mark; its characters and words tell the same.
pub fn style(mark: Mark, theme: &Theme) -> Style {
    match mark {
        Mark::Waiting => theme.pending,
        Mark::Delivered => theme.accent,
        Mark::Unseen => theme.notice,
        Mark::Seen => theme.tool_ok,
        Mark::Back => theme.dim,
    }
}

fn words(mark: Mark, theme: &Theme) -> Style {
    match mark {
        Mark::Unseen => theme.notice,
        Mark::Waiting | Mark::Delivered | Mark::Seen | Mark::Back => theme.dim,
    }
}
