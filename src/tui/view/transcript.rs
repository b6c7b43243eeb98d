//! Draws the transcript of one agent into an area.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::cache::TranscriptCache;
use crate::tui::state::cell::{Body, CellId};
use crate::tui::state::scroll::{Position, Scroll};
use crate::tui::state::transcript::Transcript;
use crate::tui::theme::Theme;

/// Is everything a frame of a transcript depends on.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// The cells.
    pub transcript: &'a Transcript,
    /// Where the reader is, and what was asked since the last frame.
    pub scroll: &'a Scroll,
    /// The cell to mark; none when the pane has no focus.
    pub selected: Option<CellId>,
    /// The styles.
    pub theme: &'a Theme,
}

/// Is what a frame found out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Metrics {
    /// The place that the frame shows; hand it to [`Scroll::settle`] with `cells`.
    pub position: Position,
    /// The number of cells.
    pub cells: usize,
    /// Cells that came since the end was last in view.
    pub new: usize,
    /// Lines below the last visible one; an estimate where cells were never drawn at this width.
    pub below: usize,
}

/// Draws a transcript. Any area will do, an empty one too.
pub fn draw(view: &View<'_>, _cache: &mut TranscriptCache, area: Rect, buf: &mut Buffer) -> Metrics {
    let cells = view.transcript.cells();
    let visible = &cells[cells.len().saturating_sub(area.height.into())..];
    for (cell, y) in visible.iter().zip(area.top()..area.bottom()) {
        let text = match cell.body() {
            Body::User { text, .. }
            | Body::Thinking { text, .. }
            | Body::Assistant { text, .. }
            | Body::Notice { text, .. } => text,
            Body::Call(call) => &call.summary,
            Body::Child(child) => &child.task,
        };
        let line = text.lines().next().unwrap_or_default();
        buf.set_stringn(area.x, y, line, area.width.into(), view.theme.text);
    }
    Metrics { position: view.scroll.position(), cells: cells.len(), new: 0, below: 0 }
}
