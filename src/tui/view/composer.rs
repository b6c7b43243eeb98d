//! Draws the composer with its prompt, and the rule above it that says what the keys do now.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::fit::{columns, put, put_right, row};
use super::transcript::Metrics;
use crate::tui::state::focus::Pane;
use crate::tui::state::status::HostState;
use crate::tui::state::{App, PROMPT_COLUMNS};

/// Draws prompt and text; returns where the terminal's cursor belongs, when the composer has the focus.
pub fn draw(app: &App, area: Rect, buffer: &mut Buffer) -> Option<Position> {
    let focused = app.focus.is_on(Pane::Composer);
    let theme = &app.theme;
    let style = if focused { theme.accent } else { theme.dim };
    let prompt = PROMPT_COLUMNS.min(area.width);
    put(buffer, Rect { width: prompt, ..row(area, 0) }, "› ", style);
    let text = Rect { x: area.x + prompt, width: area.width - prompt, ..area };
    let cursor = app.composer.render(text, buffer);
    cursor.filter(|_| focused)
}

/// Draws the rule: what lies below the visible part of the transcript, and the keys that matter now.
pub fn draw_rule(app: &App, metrics: &Metrics, area: Rect, buffer: &mut Buffer) {
    let theme = &app.theme;
    let line = row(area, 0);
    if line.is_empty() {
        return;
    }
    for x in line.left()..line.right() {
        if let Some(cell) = buffer.cell_mut((x, line.y)) {
            cell.set_symbol("─").set_style(theme.border);
        }
    }
    let inner = Rect { x: line.x + line.width.min(2), width: line.width.saturating_sub(4), ..line };
    let inner = match below(metrics) {
        Some(below) if columns(&below) <= inner.width => put(buffer, inner, &below, theme.notice),
        _ => inner,
    };
    for hint in hints(app) {
        if columns(hint) + 2 <= inner.width {
            put_right(buffer, inner, &format!(" {hint} "), theme.dim);
            break;
        }
    }
}

fn below(metrics: &Metrics) -> Option<String> {
    match (metrics.new, metrics.below) {
        (0, 0) => None,
        (0, 1) => Some(" ↓ 1 line below ".to_owned()),
        (0, lines) => Some(format!(" ↓ {lines} lines below ")),
        (new, _) => Some(format!(" ↓ {new} new below ")),
    }
}

/// Returns the hints for the present state, the longest first.
fn hints(app: &App) -> &'static [&'static str] {
    if app.focus.overlay.is_some() {
        return &["Up/Down scroll · Esc closes", "Esc closes"];
    }
    match app.focus.pane {
        Pane::Tree => &["Up/Down select an agent · Esc back to the message", "Up/Down select · Esc back", "Esc back"],
        Pane::Transcript => &[
            "Up/Down select a block · Enter opens · Ctrl+E all · Esc back to the message",
            "Up/Down select · Enter opens · Esc back",
            "Up/Down · Enter opens · Esc back",
            "Enter opens · Esc back",
            "Esc back",
        ],
        Pane::Composer if app.tree.main().running() => &[
            "Enter sends at the next boundary · Tab after the turn · Esc stops · Alt+Up takes back",
            "Enter steers · Tab after the turn · Esc stops",
            "Enter steers · Esc stops · F1 keys",
            "Enter steers · Esc stops",
            "Esc stops",
        ],
        Pane::Composer if app.pending.paused && app.pending.waiting() => {
            &["Enter sends what is pending · Alt+Up takes it back", "Enter sends what is pending", "Enter sends"]
        }
        Pane::Composer if matches!(app.status.host, HostState::Failed(_)) => &["Ctrl+D quits · F1 keys"],
        Pane::Composer => &[
            "Enter sends · Ctrl+J new line · Ctrl+T agents · Ctrl+O transcript · F1 keys",
            "Enter sends · Ctrl+J new line · F1 keys",
            "Enter sends · F1 keys",
            "F1 keys",
        ],
    }
}
