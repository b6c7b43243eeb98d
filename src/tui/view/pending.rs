//! Draws the texts that wait for delivery, each with the forecast of when it enters.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::fit::{clock, columns, one_line, put, put_right, row};
use super::layout::MEDIUM;
use super::tree::{longest, tools};
use crate::event::{Delivery, Outcome};
use crate::tui::state::App;
use crate::tui::state::pending::{Entry, Stage};
use crate::tui::state::status::HostState;
use crate::tui::state::tree::Activity;

/// Draws the list; what does not fit is counted.
pub fn draw(app: &App, area: Rect, buffer: &mut Buffer) {
    let entries = app.pending.entries();
    let theme = &app.theme;
    let rows = usize::from(area.height);
    let two_rows = area.width < MEDIUM && entries.len() * 2 <= rows;
    let each = if two_rows { 2 } else { 1 };
    let fits = if entries.len() * each > rows { rows.saturating_sub(1) / each } else { entries.len() };
    let mut y = 0;
    for entry in entries.iter().take(fits) {
        let mut line = row(area, y);
        if two_rows {
            y += 1;
            put(buffer, row(area, y), &format!("  {}", when(app, entry, area.width.saturating_sub(2))), theme.dim);
        } else {
            let most = if area.width < MEDIUM { area.width / 2 } else { area.width / 2 + area.width / 8 };
            let when = when(app, entry, most);
            if !when.is_empty() {
                line = put_right(buffer, line, &format!(" {when}"), theme.dim);
            }
        }
        put(buffer, line, &format!("{} {}", mark(entry), one_line(&entry.message.text)), theme.pending);
        y += 1;
    }
    if let Some(next) = entries.get(fits) {
        let more = entries.len() - fits;
        let line = row(area, y);
        let left = put(buffer, line, &format!("+ {more} pending"), theme.pending);
        let room = left.width.saturating_sub(1);
        put(buffer, left, &format!(" {}", when(app, next, room)), theme.dim);
    }
}

/// Writes the forecast as it fits: in full, in short, or not at all: the mark tells the kind of delivery.
fn when(app: &App, entry: &Entry, room: u16) -> String {
    let full = format!("→ {}", forecast(app, entry));
    if columns(&full) <= room {
        return full;
    }
    let short = format!("→ {}", short(app, entry));
    if columns(&short) <= room { short } else { String::new() }
}

/// Says in a word or two when an entry will be delivered.
fn short(app: &App, entry: &Entry) -> &'static str {
    match (entry.stage, &app.status.host) {
        (Stage::Delivering, _) => return "now",
        (Stage::Waiting, HostState::Starting) => return "at start",
        (Stage::Waiting, HostState::Failed(_)) => return "cannot run",
        (Stage::Waiting, HostState::Ready) => {}
    }
    let main = app.tree.main();
    if entry.message.stale {
        return "still true?";
    }
    if entry.message.held {
        return "held";
    }
    if app.pending.paused && !main.running() {
        return "Enter sends";
    }
    match (entry.message.delivery, &main.activity) {
        (_, Activity::Idle | Activity::Ended(..)) => "now",
        (Delivery::FollowUp, _) => "after turn",
        (_, Activity::Tools) => "after tools",
        (Delivery::Steer, Activity::Parked(_)) => "when it goes on",
        (_, Activity::Rescue | Activity::Cancelling) => "next turn",
        (Delivery::Now, _) => "now",
        (Delivery::Steer, Activity::Waiting | Activity::Retrying { .. } | Activity::Thinking | Activity::Writing) => {
            "next boundary"
        }
    }
}

fn mark(entry: &Entry) -> &'static str {
    match (entry.stage, entry.message.delivery) {
        (Stage::Delivering, _) | (Stage::Waiting, Delivery::Now) => "»",
        (Stage::Waiting, Delivery::Steer) => "⋯",
        (Stage::Waiting, Delivery::FollowUp) => "↳",
    }
}

/// Says when an entry will be delivered.
pub fn forecast(app: &App, entry: &Entry) -> String {
    if entry.stage == Stage::Delivering {
        return "being delivered".to_owned();
    }
    match &app.status.host {
        HostState::Starting => return "as soon as the agent is ready".to_owned(),
        HostState::Failed(_) => return "cannot be delivered, the agent could not be built".to_owned(),
        HostState::Ready => {}
    }
    if entry.message.stale {
        return "held until you say that it is still true".to_owned();
    }
    if entry.message.held {
        return "held while it is edited".to_owned();
    }
    let main = app.tree.main();
    if app.pending.paused && !main.running() {
        return match main.activity {
            Activity::Ended(Outcome::Failed, _) => "waits: the last turn failed; Enter sends",
            _ => "waits; Enter sends",
        }
        .to_owned();
    }
    match (entry.message.delivery, &main.activity) {
        (_, Activity::Idle | Activity::Ended(..)) => "starts a turn now".to_owned(),
        (Delivery::FollowUp, _) => "after this turn".to_owned(),
        (Delivery::Now, Activity::Waiting | Activity::Thinking | Activity::Retrying { .. } | Activity::Writing) => {
            "now, in place of the answer".to_owned()
        }
        (Delivery::Steer | Delivery::Now, activity) => match activity {
            Activity::Idle | Activity::Ended(..) => "starts a turn now".to_owned(),
            Activity::Waiting | Activity::Thinking | Activity::Retrying { .. } => {
                "at the next tool boundary".to_owned()
            }
            Activity::Writing => "at the next tool boundary, or as the next turn".to_owned(),
            Activity::Tools => {
                let names = one_line(&tools(&main.open));
                format!("after tools finish: {names} {}", clock(longest(&main.open, app.now)))
            }
            Activity::Parked(_) => "when the agent goes on, it is held".to_owned(),
            Activity::Rescue => "as the next turn, the final answer is being written".to_owned(),
            Activity::Cancelling => "as the next turn".to_owned(),
        },
    }
}
