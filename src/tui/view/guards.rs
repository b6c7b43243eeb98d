//! The approval mode and the sandbox as a few words of the status line; never left out from 40 columns on.

use ratatui::style::Style;

use super::fit::columns;
use crate::mode::Mode;
use crate::tui::state::App;
use crate::tui::state::guards::Confined;

/// Returns the longest words that fit into so many columns, or the shortest, with their style.
pub fn badge(app: &App, room: u16) -> (String, Style) {
    let guards = &app.guards;
    let sandbox: &[&str] = match &guards.sandbox {
        Confined::Unknown => &[],
        Confined::Not => &["not sandboxed", "no sandbox"],
        Confined::By(name) if name == "bubblewrap" => &["bubblewrap", "bwrap"],
        Confined::By(name) if name == "namespaces" => &["namespaces", "ns"],
        Confined::By(name) => &[name],
    };
    let mut words = Vec::new();
    for name in names(guards.mode) {
        words.extend(sandbox.iter().map(|sandbox| format!("{name} · {sandbox}")));
        if sandbox.is_empty() {
            words.push((*name).to_owned());
        }
    }
    words.extend(names(guards.mode).iter().map(|name| (*name).to_owned()));
    let shortest = words.last().cloned().unwrap_or_default();
    let fitting = words.into_iter().find(|words| columns(words) <= room).unwrap_or(shortest);
    let style = match (guards.mode.is_auto(), &guards.sandbox) {
        (true, _) => app.theme.mode_auto,
        (false, Confined::Not) => app.theme.notice,
        (false, Confined::By(_) | Confined::Unknown) => app.theme.dim,
    };
    (fitting, style)
}

/// Returns a mode's names, the longest first; those that run commands unasked have a mark too.
fn names(mode: Mode) -> &'static [&'static str] {
    match mode {
        Mode::Ask => &["ask"],
        Mode::AutoEdit => &["auto-edit", "edit"],
        Mode::Auto => &["▲ auto"],
        Mode::AutoWithoutSandbox => &["▲ auto-without-sandbox", "▲ auto!"],
        Mode::ReadOnly => &["read-only", "read"],
    }
}
