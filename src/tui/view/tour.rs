//! Draws the step of the tour above what waits and the message.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::keymap::Context;
use crate::state::Pane;
use crate::tour::{TOUR_ROWS, TourStep};
use crate::ui_context::UiContext;
use crate::widgets::fit::{columns, put_right, row};
use crate::widgets::wrap::{Break, Line, wrapped};
use steersman_base::id::AgentId;

const END: &str = "/tour ends it";

/// Returns the rows that the tour takes.
pub fn rows(ui: &UiContext, shown: &AgentId, pane: Pane) -> u16 {
    let rows = lay_out(ui, shown, pane, usize::from(ui.size.width)).len();
    if ui.size.height < TOUR_ROWS { 0 } else { u16::try_from(rows).unwrap_or(u16::MAX) }
}

pub fn draw(ui: &UiContext, shown: &AgentId, pane: Pane, area: Rect, buffer: &mut Buffer) {
    let lines = lay_out(ui, shown, pane, usize::from(area.width));
    for (line, at) in lines.iter().zip(0..area.height) {
        line.draw(buffer, area.x, area.y.saturating_add(at), area.width);
    }
    let last = row(area, area.height.saturating_sub(1));
    let used = lines.last().map_or(0, |line| columns(line.text()));
    if !last.is_empty() && used + columns(END) + 2 <= last.width {
        put_right(buffer, last, &format!("  {END}"), ui.theme.dim);
    }
}

fn lay_out(ui: &UiContext, shown: &AgentId, pane: Pane, width: usize) -> Vec<Line> {
    let Some(step) = ui.tour.step() else { return Vec::new() };
    let all = TourStep::TO_DO.len();
    let head = match TourStep::TO_DO.iter().position(|other| *other == step) {
        Some(place) => format!("Tour, {} of {all}: ", place + 1),
        None => String::new(),
    };
    let words = ui.spell(Context::Composer, step.words(&ui.run, shown, pane));
    wrapped([&Line::new(&format!("{head}{words}"), ui.theme.notice)], width, Break::Words)
}
