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

/// What the words of a step go by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TourView<'a> {
    pub ui: &'a UiContext,
    pub shown: &'a AgentId,
    pub pane: Pane,
    /// How many questions are open.
    pub questions: usize,
}

/// Returns the rows that the tour takes.
pub(crate) fn rows(view: TourView<'_>) -> u16 {
    let rows = lay_out(view, usize::from(view.ui.size.width)).len();
    if view.ui.size.height < TOUR_ROWS { 0 } else { u16::try_from(rows).unwrap_or(u16::MAX) }
}

pub(crate) fn draw(view: TourView<'_>, area: Rect, buffer: &mut Buffer) {
    let ui = view.ui;
    let lines = lay_out(view, usize::from(area.width));
    for (line, at) in lines.iter().zip(0..area.height) {
        line.draw(buffer, area.x, area.y.saturating_add(at), area.width);
    }
    let last = row(area, area.height.saturating_sub(1));
    let used = lines.last().map_or(0, |line| columns(line.text()));
    if !last.is_empty() && used + columns(END) + 2 <= last.width {
        put_right(buffer, last, &format!("  {END}"), ui.theme.dim);
    }
}

fn lay_out(TourView { ui, shown, pane, questions }: TourView<'_>, width: usize) -> Vec<Line> {
    let Some(step) = ui.tour.step() else { return Vec::new() };
    let all = TourStep::TO_DO.len();
    let head = match TourStep::TO_DO.iter().position(|other| *other == step) {
        Some(place) => format!("Tour, {} of {all}: ", place + 1),
        None => String::new(),
    };
    let words = ui.spell(Context::Composer, step.instruction(&ui.run, shown, pane, questions));
    wrapped([&Line::new(&format!("{head}{words}"), ui.theme.notice)], width, Break::Words)
}
