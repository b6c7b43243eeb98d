//! Draws the texts that wait for delivery, each with its id, its kind and the forecast of when it enters.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::PendingPane;
use crate::state::{Pane, Region, Regions};
use crate::ui_context::UiContext;
use crate::view::layout::{MEDIUM, PaneUse};
use crate::widgets::fit::{below, columns, one_line, put, put_right, row, select};
use steersman_base::event::Delivery;
use steersman_base::id::AgentId;
use steersman_base::steering::TextKind;
use steersman_base::target::name_of;
use steersman_session::model::{PendingStage, PendingText};

/// Says when a text will be delivered, the longest words first.
pub type Forecast<'a> = &'a dyn Fn(&PendingText) -> Vec<String>;

/// Says when an agent gets what the user changed of its plan, the longest words first.
pub type PlanForecast<'a> = &'a dyn Fn(&AgentId) -> Vec<String>;

/// Returns the rows of the plans whose changes wait to be sent.
pub fn plan_rows(ui: &UiContext) -> usize {
    ui.run.plans.waiting().count()
}

/// Draws a row for each plan of which the user changed something that its agent does not know yet; returns the room that
/// is left for the texts, of which one row stays.
fn draw_plans(ui: &UiContext, plan_forecast: PlanForecast<'_>, area: Rect, buffer: &mut Buffer) -> Rect {
    let theme = &ui.theme;
    let least = u16::from(!ui.run.pending.is_empty());
    let mut left = area;
    for (agent, summary) in ui.run.plans.waiting() {
        if left.height <= least {
            break;
        }
        let mut line = row(left, 0);
        let most = if area.width < MEDIUM { area.width / 2 } else { area.width / 2 + area.width / 8 };
        let when = fitting(plan_forecast(agent), most);
        if !when.is_empty() {
            line = put_right(buffer, line, &format!(" {when}"), theme.dim);
        }
        let whom = if agent.is_main() { String::new() } else { format!("@{} ", one_line(&name_of(agent))) };
        put(buffer, line, &format!("⋯ {whom}plan: {summary}"), theme.pending);
        left = below(left, 1);
    }
    left
}

/// Draws the list, with the selected entry in view while the list has the focus; what does not fit is counted.
pub fn draw(
    pane: &PendingPane,
    used: PaneUse,
    (forecast, plan_forecast): (Forecast<'_>, PlanForecast<'_>),
    ui: &UiContext,
    area: Rect,
    regions: &mut Regions,
    buffer: &mut Buffer,
) {
    regions.add(area, Region::Pane(Pane::Pending));
    let area = draw_plans(ui, plan_forecast, area, buffer);
    let texts = &ui.run.pending;
    let entries = texts.entries();
    let theme = &ui.theme;
    let rows = usize::from(area.height);
    let focused = used == PaneUse::Focused;
    if entries.is_empty() {
        if focused {
            put(buffer, row(area, 0), "▸ nothing is pending any more", theme.dim);
        }
        return;
    }
    let two_rows = area.width < MEDIUM && entries.len() * 2 <= rows;
    let each = if two_rows { 2 } else { 1 };
    let mut fits = if entries.len() * each > rows { rows.saturating_sub(1) / each } else { entries.len() };
    if focused && rows > 0 {
        fits = fits.max(1);
    }
    let selected = pane.selected_index(texts).filter(|_| focused);
    let top = selected.map_or(0, |selected| (selected + 1).saturating_sub(fits));
    let mut y = 0;
    for (index, entry) in entries.iter().enumerate().skip(top).take(fits) {
        let is_selected = selected == Some(index);
        let mut line = row(area, y);
        let whole = line;
        regions
            .add(Rect { height: u16::from(two_rows) + line.height, ..line }, Region::Entry(entry.message.id.clone()));
        let cursor = match (focused, is_selected) {
            (false, _) => "",
            (true, true) => "▸ ",
            (true, false) => "  ",
        };
        if two_rows {
            y += 1;
            put(
                buffer,
                row(area, y),
                &format!("{cursor}  {}", when(forecast, entry, area.width.saturating_sub(4))),
                theme.dim,
            );
        } else {
            let most = if area.width < MEDIUM { area.width / 2 } else { area.width / 2 + area.width / 8 };
            let when = when(forecast, entry, most);
            if !when.is_empty() {
                line = put_right(buffer, line, &format!(" {when}"), theme.dim);
            }
        }
        let whom =
            if entry.agent.is_main() { String::new() } else { format!("@{} ", one_line(&name_of(&entry.agent))) };
        let sender = ui.from_elsewhere(entry.message.sender.as_ref());
        let whom = sender.map_or_else(|| whom.clone(), |sender| format!("{whom}({}) ", one_line(sender)));
        let kind = match entry.message.kind {
            TextKind::Add => String::new(),
            kind @ (TextKind::Instead | TextKind::Note | TextKind::Rule) => format!("{kind}: "),
        };
        let text = one_line(&entry.message.text);
        put(buffer, line, &format!("{cursor}{} {} {whom}{kind}{text}", mark(entry), entry.message.id), theme.pending);
        if is_selected {
            select(buffer, whole, theme.selected);
        }
        y += 1;
    }
    if fits < entries.len() && usize::from(y) < rows {
        let line = row(area, y);
        let left = put(buffer, line, &format!("+ {} pending", entries.len() - fits), theme.pending);
        if let Some(next) = entries.get(top + fits) {
            let room = left.width.saturating_sub(1);
            put(buffer, left, &format!(" {}", when(forecast, next, room)), theme.dim);
        }
    }
}

/// Writes the forecast as it fits: in full, in short, or not at all: the mark tells the kind of delivery.
fn when(forecast: Forecast<'_>, entry: &PendingText, room: u16) -> String {
    fitting(forecast(entry), room)
}

fn fitting(words: Vec<String>, room: u16) -> String {
    let mut words = words.into_iter().map(|when| format!("→ {when}"));
    words.find(|when| columns(when) <= room).unwrap_or_default()
}

fn mark(entry: &PendingText) -> &'static str {
    match (entry.stage, entry.message.delivery) {
        (PendingStage::Delivering, _) => "»",
        (PendingStage::Waiting, _) if entry.message.stale => "?",
        (PendingStage::Waiting, _) if entry.message.held => "✎",
        (PendingStage::Waiting, Delivery::Now) => "!",
        (PendingStage::Waiting, Delivery::Steer) => "⋯",
        (PendingStage::Waiting, Delivery::FollowUp) => "↳",
    }
}
