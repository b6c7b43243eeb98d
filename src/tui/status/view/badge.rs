//! The approval mode and the sandbox as a few words of the status line; never left out from 40 columns on.

use ratatui::style::Style;

use crate::ui_context::UiContext;
use crate::widgets::fit::columns;
use steersman_base::mode::Mode;
use steersman_session::model::Sandbox;

/// The room for the words, columns.
#[derive(Debug, Clone, Copy)]
pub(super) enum BadgeWidth {
    /// Nothing else needs it.
    Ample(u16),
    /// Something else needs it: the mode is said in one word.
    Scarce(u16),
}

/// Returns the longest words that fit, or the shortest, with their style.
pub(super) fn badge(ui: &UiContext, room: BadgeWidth) -> (String, Style) {
    let guards = &ui.run.permissions;
    let sandbox: &[&str] = match &guards.sandbox {
        Sandbox::Unknown => &[],
        Sandbox::Missing => &["not sandboxed", "no sandbox"],
        Sandbox::Named(_) => &["sandboxed"],
    };
    let mut words = Vec::new();
    let names = names(guards.mode);
    let (names, room) = match room {
        BadgeWidth::Ample(room) => (names, room),
        BadgeWidth::Scarce(room) => (names.get(1..).unwrap_or(names), room),
    };
    for name in names {
        words.extend(sandbox.iter().map(|sandbox| format!("{name} · {sandbox}")));
        if sandbox.is_empty() {
            words.push((*name).to_owned());
        }
    }
    words.extend(names.iter().map(|name| (*name).to_owned()));
    let shortest = words.last().cloned().unwrap_or_default();
    let fitting = words.into_iter().find(|words| columns(words) <= room).unwrap_or(shortest);
    let style = match (guards.mode.is_auto(), &guards.sandbox) {
        (true, _) => ui.theme.mode_auto,
        (false, Sandbox::Missing) => ui.theme.notice,
        (false, Sandbox::Named(_) | Sandbox::Unknown) => ui.theme.dim,
    };
    (fitting, style)
}

/// Says in words what a mode does, the longest first; those that run commands unasked have a mark too.
fn names(mode: Mode) -> &'static [&'static str] {
    match mode {
        Mode::Ask => &["asks before changes", "asks"],
        Mode::AutoEdit => &["edits without asking", "edits"],
        Mode::Auto => &["▲ runs without asking", "▲ auto"],
        Mode::AutoWithoutSandbox => &["▲ runs anything without asking", "▲ auto!"],
        Mode::ReadOnly => &["reads only", "reads"],
        Mode::Plan => &["plans, reads only", "plans"],
    }
}
