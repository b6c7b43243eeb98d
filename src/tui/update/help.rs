//! Help: it opens without a filter, and what is typed filters it.

use unicode_segmentation::UnicodeSegmentation;

use crate::tui::keymap::{Action, WriteKey};
use crate::tui::state::App;
use crate::tui::state::focus::Overlay;

/// Most characters that are taken at once.
const FILTER: usize = 200;

/// Opens help from its beginning.
pub fn open(app: &mut App) {
    app.help.clear();
    to_top(app);
}

/// Opens help, or closes it.
pub fn toggle(app: &mut App) {
    match app.focus.overlay {
        Some(Overlay::Help { .. }) => app.focus.overlay = None,
        Some(Overlay::Ledger { .. }) | None => open(app),
    }
}

/// Tells whether help is open.
pub fn is_open(app: &App) -> bool {
    matches!(app.focus.overlay, Some(Overlay::Help { .. }))
}

/// Types into the filter.
pub fn type_text(app: &mut App, text: &str) {
    app.help.extend(text.chars().filter(|c| !c.is_control()).take(FILTER));
    to_top(app);
}

/// Carries out a key of the filter.
pub fn act(app: &mut App, key: WriteKey) {
    let kept = match key {
        WriteKey::RubOut => app.help.grapheme_indices(true).next_back().map_or(0, |(at, _)| at),
        WriteKey::RubOutWord => app.help.trim_end().rfind(' ').map_or(0, |at| at + 1),
        WriteKey::RubOutAll => 0,
        WriteKey::Redo | WriteKey::Expand | WriteKey::Search | WriteKey::TakeText => return,
    };
    app.help.truncate(kept);
    to_top(app);
}

/// Scrolls.
pub fn travel(app: &mut App, action: Action) {
    let page = (app.size.height / 2).max(1);
    let Some(Overlay::Help { top }) = &mut app.focus.overlay else { return };
    *top = match action {
        Action::Previous => top.saturating_sub(1),
        Action::Next => top.saturating_add(1),
        Action::PageUp => top.saturating_sub(page),
        Action::PageDown => top.saturating_add(page),
        Action::Last => u16::MAX,
        _ => 0,
    };
}

fn to_top(app: &mut App) {
    app.focus.overlay = Some(Overlay::Help { top: 0 });
}
