//! Draws the panel of the selected agent while it is held: where it waits, the call that would run next, and the keys.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::arguments::rows as arguments_rows;
use crate::message::ToolCall;
use crate::session::fold::PausePlace;
use crate::target::name_of;
use crate::tui::message::purpose::Written;
use crate::tui::pause::PauseDrawn;
use crate::tui::state::App;
use crate::tui::state::focus::Pane;
use crate::tui::widgets::fit::{columns, one_line, put, row};
use crate::tui::widgets::wrap::Line;

/// Columns left of the arguments.
const INDENT: u16 = 2;

/// Returns how many rows the panel would like to have; 0 while the selected agent is not held.
pub fn rows(app: &App, width: u16) -> u16 {
    let agent = app.tree.selected();
    let rows = match app.run.pauses.place(agent) {
        Some(PausePlace::Call(call)) => 2 + arguments(app, call, width).len(),
        Some(PausePlace::Boundary) => 2,
        None if app.is_held(agent) => 1,
        None => 0,
    };
    u16::try_from(rows).unwrap_or(u16::MAX)
}

/// Draws the panel.
pub fn draw(app: &App, area: Rect, buffer: &mut Buffer) -> PauseDrawn {
    let theme = &app.theme;
    let agent = app.tree.selected();
    let place = app.run.pauses.place(agent);
    if area.is_empty() {
        return PauseDrawn { waiting: None, top: app.pause.top };
    }
    for position in area.intersection(*buffer.area()).positions() {
        if let Some(cell) = buffer.cell_mut(position) {
            cell.reset();
        }
    }
    let focused = app.focus.is_on(Pane::Gate);
    let style = if focused { theme.border_focus } else { theme.notice };
    let first = row(area, 0);
    let mark = if focused { "▸‖ " } else { "‖ " };
    let head = format!("{mark}{}", head(app, place));
    let left = put(buffer, first, &head, style);
    if area.height == 1 {
        // A call whose name is cut off is not on the screen.
        let waiting = app.run.pauses.waiting(agent).filter(|_| columns(&head) <= first.width);
        // The only row: the keys behind the state, when they fit.
        hint(app, place, Rect { x: left.x + left.width.min(2), width: left.width.saturating_sub(2), ..left }, buffer);
        return PauseDrawn { waiting, top: 0 };
    }
    hint(app, place, row(area, area.height - 1), buffer);
    let inner = Rect { y: area.y + 1, height: area.height - 2, ..area };
    let top = match place {
        Some(PausePlace::Call(call)) => draw_arguments(app, call, inner, buffer),
        Some(PausePlace::Boundary) | None => 0,
    };
    PauseDrawn { waiting: app.run.pauses.waiting(agent), top }
}

fn draw_arguments(app: &App, call: &ToolCall, area: Rect, buffer: &mut Buffer) -> usize {
    let lines = arguments(app, call, area.width);
    let height = usize::from(area.height);
    let top = app.pause.top.min(lines.len().saturating_sub(height));
    for (line, y) in lines.iter().skip(top).zip(area.top()..area.bottom()) {
        line.draw(buffer, area.x, y, area.width);
    }
    let below = lines.len().saturating_sub(top + height);
    if below > 0 && height > 0 {
        let more = format!(" ↓ {below} more ");
        let line = row(area, area.height - 1);
        let width = columns(&more).min(line.width);
        put(buffer, Rect { x: line.right() - width, width, ..line }, &more, app.theme.notice);
    }
    top
}

/// Lays the arguments out as in an open call of the transcript.
fn arguments(app: &App, call: &ToolCall, width: u16) -> Vec<Line> {
    let mut lines = Vec::new();
    let room = usize::from(width.saturating_sub(INDENT)).max(1);
    arguments_rows(&call.arguments, room, &app.theme, &mut lines);
    lines
}

fn head(app: &App, place: Option<&PausePlace>) -> String {
    let name = name_of(app.tree.selected());
    let writing = app.message.about_call().filter(|writing| writing.agent == *app.tree.selected());
    match (writing, place) {
        (Some(writing), _) => {
            let tool = one_line(&writing.call.name);
            match writing.what {
                Written::Arguments => format!("{name}: other arguments for {tool}, in the message below"),
                Written::Reason => format!("{name}: why {tool} is skipped, in the message below"),
            }
        }
        (None, Some(PausePlace::Call(call))) => format!("{name} waits before {}", one_line(&call.name)),
        (None, Some(PausePlace::Boundary)) => format!("{name} waits before the next request"),
        (None, None) => format!("{name} is held: it waits at its next call or request"),
    }
}

/// Writes the longest hint that fits.
fn hint(app: &App, place: Option<&PausePlace>, area: Rect, buffer: &mut Buffer) {
    let hints: &[&str] = match (app.message.about_call(), app.focus.is_on(Pane::Gate), place) {
        (Some(writing), _, _) => match writing.what {
            Written::Arguments => &["Enter runs it with these · Esc leaves them", "Enter runs · Esc leaves"],
            Written::Reason => &["Enter skips it and tells the model this · Esc leaves", "Enter skips · Esc leaves"],
        },
        (None, true, Some(PausePlace::Call(_))) => &[
            "r runs it · e edits its arguments · s skips it, with a reason · g goes on · Up/Down scroll",
            "r runs it · e edits · s skips · g goes on · Up/Down",
            "r runs · e edits · s skips · g on",
            "r run · e edit · s skip · g on",
        ],
        (None, true, Some(PausePlace::Boundary)) => &["r runs one step · g goes on", "r steps · g on"],
        (None, true, None) => &["g goes on"],
        (None, false, Some(PausePlace::Call(_))) => &[
            "Enter in an empty message runs it · F11 edit it, skip it · Alt+H goes on",
            "Enter runs it · F11 edit, skip · Alt+H goes on",
            "Enter runs · F11 more · Alt+H on",
            "Enter runs · F11 more",
        ],
        (None, false, Some(PausePlace::Boundary)) => {
            &["Enter in an empty message runs one step · Alt+H goes on", "Enter steps · Alt+H goes on"]
        }
        (None, false, None) => &["Alt+H goes on"],
    };
    let room = area.width.saturating_sub(INDENT);
    if let Some(hint) = hints.iter().map(|hint| app.spell(hint)).find(|hint| columns(hint) <= room) {
        put(buffer, Rect { x: area.x + INDENT.min(area.width), width: room, ..area }, &hint, app.theme.dim);
    }
}
