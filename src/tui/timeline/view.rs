//! Draws the timeline instead of the message: whether it plays, the marks, and where it stands.

use jiff::SignedDuration;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::Timeline;
use crate::keymap::Context;
use crate::ui_context::UiContext;
use crate::widgets::fit::{clock, columns, put, put_right, row};

/// Columns below which there is no room for the line with the marks.
const LINE: u16 = 8;

const KEYS: [&str; 4] = [
    "Left/Right event · Shift round · Ctrl turn · [ ] mark · Space plays · +/- speed · g time · Esc ends",
    "Left/Right event · Shift round · Ctrl turn · Space plays · Esc ends",
    "Left/Right · Space plays · Esc ends",
    "Esc ends",
];

/// Returns what the keys do, the longest first.
pub fn hints(ui: &UiContext) -> Vec<String> {
    KEYS.iter().map(|keys| ui.spell(Context::Replay, keys).into_owned()).collect()
}

pub fn draw(timeline: &Timeline, ui: &UiContext, area: Rect, buffer: &mut Buffer) {
    let theme = &ui.theme;
    let line = row(area, 0);
    let state = if timeline.playing.is_some() { "▶" } else { "‖" };
    let head = match timeline.typed() {
        Some(typed) => format!("go to (m:ss): {typed}▏ "),
        None => format!("{state} {}x ", timeline.speed()),
    };
    let rest = put(buffer, line, &head, theme.accent);
    let ((elapsed, whole), (event, last)) = (timeline.elapsed(), timeline.events());
    let position = [
        format!(" {} of {} · event {event} of {last}", format_duration(elapsed), format_duration(whole)),
        format!(" {} of {}", format_duration(elapsed), format_duration(whole)),
        format!(" {event}/{last}"),
    ];
    let Some(words) = position.iter().find(|words| columns(words) + LINE <= rest.width).or(position.last()) else {
        return;
    };
    put_right(buffer, rest, words, theme.text);
    let width = rest.width.saturating_sub(columns(words));
    if width < LINE {
        return;
    }
    let (here, steps) = timeline.position();
    let column = |position: usize| u16::try_from(position * usize::from(width - 1) / steps.max(1)).unwrap_or(0);
    for x in 0..width {
        let (sign, style) = if x <= column(here) { ("━", theme.accent) } else { ("─", theme.border) };
        put(buffer, Rect { x: rest.x + x, width: 1, ..rest }, sign, style);
    }
    for (at, mark) in timeline.marks() {
        put(buffer, Rect { x: rest.x + column(*at), width: 1, ..rest }, mark.sign(), theme.notice);
    }
    put(buffer, Rect { x: rest.x + column(here), width: 1, ..rest }, "●", theme.accent);
}

fn format_duration(time: SignedDuration) -> String {
    clock(u64::try_from(time.as_secs()).unwrap_or(0))
}
