//! Draws the texts that wait for delivery, each with its id, its kind and the forecast of when it enters.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::forecast;
use super::layout::MEDIUM;
use super::tree::agent_name;
use crate::event::{Delivery, Outcome};
use crate::id::MessageId;
use crate::session::fold::{PendingStage, PendingText};
use crate::tui::state::App;
use crate::tui::state::focus::Pane;
use crate::tui::state::regions::{Region, Regions};
use crate::tui::state::tree::Activity;
use crate::tui::widgets::fit::{columns, one_line, put, put_right, row};

/// Draws the list, with the selected entry in view while the list has the focus; what does not fit is counted.
pub fn draw(app: &App, area: Rect, regions: &mut Regions, buffer: &mut Buffer) {
    regions.add(area, Region::Pane(Pane::Pending));
    let entries = app.run.pending.entries();
    let theme = &app.theme;
    let rows = usize::from(area.height);
    let focused = app.focus.is_on(Pane::Pending);
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
    let selected = app.pending.selected_index(&app.run.pending).filter(|_| focused);
    let top = selected.map_or(0, |selected| (selected + 1).saturating_sub(fits));
    let mut y = 0;
    for (index, entry) in entries.iter().enumerate().skip(top).take(fits) {
        let is_selected = selected == Some(index);
        let style = if is_selected { theme.pending.patch(theme.selected) } else { theme.pending };
        let mut line = row(area, y);
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
                &format!("{cursor}  {}", when(app, entry, area.width.saturating_sub(4))),
                theme.dim,
            );
        } else {
            let most = if area.width < MEDIUM { area.width / 2 } else { area.width / 2 + area.width / 8 };
            let when = when(app, entry, most);
            if !when.is_empty() {
                line = put_right(buffer, line, &format!(" {when}"), theme.dim);
            }
        }
        let whom =
            if entry.agent.is_main() { String::new() } else { format!("@{} ", one_line(&agent_name(&entry.agent))) };
        let text = one_line(&entry.message.text);
        put(buffer, line, &format!("{cursor}{} {} {whom}{text}", mark(entry), entry.message.id), style);
        y += 1;
    }
    if fits < entries.len() && usize::from(y) < rows {
        let line = row(area, y);
        let left = put(buffer, line, &format!("+ {} pending", entries.len() - fits), theme.pending);
        if let Some(next) = entries.get(top + fits) {
            let room = left.width.saturating_sub(1);
            put(buffer, left, &format!(" {}", when(app, next, room)), theme.dim);
        }
    }
}

/// Writes the forecast as it fits: in full, in short, or not at all: the mark tells the kind of delivery.
fn when(app: &App, entry: &PendingText, room: u16) -> String {
    let words = forecast(app, entry).into_iter().map(|when| format!("→ {when}"));
    words.into_iter().find(|when| columns(when) <= room).unwrap_or_default()
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

/// Says when an entry will be delivered, the longest words first.
fn forecast(app: &App, entry: &PendingText) -> Vec<String> {
    let words = |words: &[&str]| words.iter().map(|words| (*words).to_owned()).collect();
    if entry.stage == PendingStage::Delivering {
        return words(&["being delivered", "now"]);
    }
    if app.message.is_edited(&entry.message.id) {
        return words(&["held while it is edited", "edited"]);
    }
    if entry.message.stale {
        return words(&["held until you say that it is still true", "still true?"]);
    }
    if entry.message.held {
        return words(&["held"]);
    }
    let node = app.tree.get(&entry.agent);
    let idle = node.is_none_or(|node| !node.running());
    if entry.agent.is_main() && app.run.pending.paused && idle {
        return match node.map(|node| &node.activity) {
            Some(Activity::Ended(Outcome::Failed, _)) => {
                words(&["waits: the last turn failed; Enter sends", "Enter sends"])
            }
            _ => words(&["waits; Enter sends", "Enter sends"]),
        };
    }
    // Each follow-up starts a turn of its own.
    let before = app.run.pending.before(&entry.message.id);
    let is_follow_up = |other: &&MessageId| {
        app.run
            .pending
            .get(other)
            .is_some_and(|other| other.message.delivery == Delivery::FollowUp && !other.message.held)
    };
    match (entry.message.delivery, before.iter().filter(is_follow_up).count()) {
        (Delivery::FollowUp, count @ 1..) if entry.agent.is_main() => {
            vec![format!("after this turn and the {count} before it"), format!("after turn +{count}")]
        }
        _ => forecast::of_text(app, &entry.agent, entry.message.delivery),
    }
}
