//! Draws a receipt beneath its text: its mark, and as many of its words as fit into one row.

use ratatui::style::Style;

use crate::theme::Theme;
use crate::widgets::wrap::{Break, Line, Wrap, width};
use steersman_session::model::{ReceiptMark, ReceiptText};

/// Writes a receipt into rows of so many columns. What says how it came there is left out where it does not fit; what
/// says where it is goes on in the next row.
pub(crate) fn lines(words: &ReceiptText, room: usize, theme: &Theme) -> Vec<Line> {
    let mut line = Line::frame(&format!("{} ", words.mark.symbol()), style(words.mark, theme));
    for (number, part) in words.parts.iter().enumerate() {
        let gap = if number == 0 { "" } else { " · " };
        if number > 0 && line.width() + width(gap) + width(part) > room {
            break;
        }
        line.push(gap, theme.dim);
        line.push(part, if number == 0 { word_style(words.mark, theme) } else { theme.dim });
    }
    let mut rows = Vec::new();
    let rest = Line::new(&" ".repeat(width(words.mark.symbol()) + 1), theme.dim);
    Wrap { width: room, at: Break::Words, first: &Line::default(), rest: &rest }.line(&line, &mut rows);
    rows
}

/// Returns the style of a mark; its characters and words tell the same.
pub(crate) fn style(mark: ReceiptMark, theme: &Theme) -> Style {
    match mark {
        ReceiptMark::Waiting => theme.pending,
        ReceiptMark::Delivered => theme.accent,
        ReceiptMark::Unseen => theme.notice,
        ReceiptMark::Seen => theme.tool_ok,
        ReceiptMark::Back => theme.dim,
    }
}

fn word_style(mark: ReceiptMark, theme: &Theme) -> Style {
    match mark {
        ReceiptMark::Unseen => theme.notice,
        ReceiptMark::Waiting | ReceiptMark::Delivered | ReceiptMark::Seen | ReceiptMark::Back => theme.dim,
    }
}
