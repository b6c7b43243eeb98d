//! Draws the panel of the selected agent while it is paused: where it waits, the call that would run next, and the keys.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{PauseDrawn, PausePane};
use crate::keymap::Context;
use crate::message::purpose::CallText;
use crate::ui_context::UiContext;
use crate::view::arguments::rows as arguments_rows;
use crate::widgets::fit::{clear, columns, one_line, put, row};
use crate::widgets::wrap::{Line, draw_text};
use steersman_base::id::AgentId;
use steersman_base::message::ToolCall;
use steersman_base::protocol::PausePlace;
use steersman_base::target::name_of;

/// Columns left of the arguments.
const INDENT: u16 = 2;

/// What a frame shows of the agent that is selected.
#[derive(Debug, Clone, Copy)]
pub struct PausedAgent<'a> {
    pub agent: &'a AgentId,
    /// Whether it is paused: it waits, or will where it next comes by.
    pub paused: bool,
    /// What is written about a call in the message, with the agent that waits before it.
    pub writing: Option<(&'a AgentId, &'a ToolCall, CallText)>,
    /// Where keys have their meaning.
    pub context: Context,
}

/// Returns how many rows the panel would like to have; 0 while the agent is not paused.
pub fn rows(shown: &PausedAgent<'_>, ui: &UiContext, width: u16) -> u16 {
    let rows = match ui.run.pauses.place(shown.agent) {
        Some(PausePlace::Call(call)) => 2 + arguments(ui, call, width).len(),
        Some(PausePlace::Boundary) => 2,
        None if shown.paused => 1,
        None => 0,
    };
    u16::try_from(rows).unwrap_or(u16::MAX)
}

pub fn draw(pane: &PausePane, shown: &PausedAgent<'_>, ui: &UiContext, area: Rect, buffer: &mut Buffer) -> PauseDrawn {
    let theme = &ui.theme;
    let pauses = &ui.run.pauses;
    let agent = shown.agent;
    let place = pauses.place(agent);
    if area.is_empty() {
        return PauseDrawn { waiting: None, top: pane.top };
    }
    clear(buffer, area);
    let focused = shown.context == Context::Paused;
    let style = if focused { theme.border_focus } else { theme.notice };
    let first = row(area, 0);
    let mark = if focused { "▸‖ " } else { "‖ " };
    let head = format!("{mark}{}", head(shown, place));
    let left = put(buffer, first, &head, style);
    if area.height == 1 {
        // A call whose name is cut off is not on the screen.
        let waiting = pauses.waiting(agent).filter(|_| columns(&head) <= first.width);
        // The only row: the keys behind the state, when they fit.
        hint(
            shown,
            ui,
            place,
            Rect { x: left.x + left.width.min(2), width: left.width.saturating_sub(2), ..left },
            buffer,
        );
        return PauseDrawn { waiting, top: 0 };
    }
    hint(shown, ui, place, row(area, area.height - 1), buffer);
    let inner = Rect { y: area.y + 1, height: area.height - 2, ..area };
    let top = match place {
        Some(PausePlace::Call(call)) => draw_arguments(pane, ui, call, inner, buffer),
        Some(PausePlace::Boundary) | None => 0,
    };
    PauseDrawn { waiting: pauses.waiting(agent), top }
}

fn draw_arguments(pane: &PausePane, ui: &UiContext, call: &ToolCall, area: Rect, buffer: &mut Buffer) -> usize {
    let lines = arguments(ui, call, area.width);
    let height = usize::from(area.height);
    let top = draw_text(&lines, pane.top, area, buffer);
    let below = lines.len().saturating_sub(top + height);
    if below > 0 && height > 0 {
        let more = format!(" ↓ {below} more ");
        let line = row(area, area.height - 1);
        let width = columns(&more).min(line.width);
        put(buffer, Rect { x: line.right() - width, width, ..line }, &more, ui.theme.notice);
    }
    top
}

/// Lays the arguments out as in an open call of the transcript.
fn arguments(ui: &UiContext, call: &ToolCall, width: u16) -> Vec<Line> {
    let mut lines = Vec::new();
    let room = usize::from(width.saturating_sub(INDENT)).max(1);
    arguments_rows(&call.arguments, room, &ui.theme, &mut lines);
    lines
}

fn head(shown: &PausedAgent<'_>, place: Option<&PausePlace>) -> String {
    let name = name_of(shown.agent);
    let writing = shown.writing.filter(|(agent, ..)| *agent == shown.agent);
    match (writing, place) {
        (Some((_, call, what)), _) => {
            let tool = one_line(&call.name);
            match what {
                CallText::Arguments => format!("{name}: other arguments for {tool}, in the message below"),
                CallText::Reason => format!("{name}: why {tool} is skipped, in the message below"),
            }
        }
        (None, Some(PausePlace::Call(call))) => format!("{name} waits before {}", one_line(&call.name)),
        (None, Some(PausePlace::Boundary)) => format!("{name} waits before the next request"),
        (None, None) => format!("{name} is paused: it waits at its next call or request"),
    }
}

/// Writes the longest hint that fits.
fn hint(shown: &PausedAgent<'_>, ui: &UiContext, place: Option<&PausePlace>, area: Rect, buffer: &mut Buffer) {
    let hints: &[&str] = match (shown.writing, shown.context == Context::Paused, place) {
        (Some((_, _, what)), _, _) => match what {
            CallText::Arguments => &["Enter runs it with these · Esc leaves them", "Enter runs · Esc leaves"],
            CallText::Reason => &["Enter skips it and tells the model this · Esc leaves", "Enter skips · Esc leaves"],
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
    if let Some(hint) = hints.iter().map(|hint| ui.spell(shown.context, hint)).find(|hint| columns(hint) <= room) {
        put(buffer, Rect { x: area.x + INDENT.min(area.width), width: room, ..area }, &hint, ui.theme.dim);
    }
}
