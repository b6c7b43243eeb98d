//! What keys and the mouse do in help.
//!
//! Called by `tui::update` while help is open; Esc is not among its keys, since one rule says what that does everywhere.

use super::list::{self, Entry, Section};
use super::state::{Help, Leader};
use crate::tui::effect::Outcome;
use crate::tui::facts::Facts;
use crate::tui::keymap::{Action, Chord, Context, WriteKey};

/// Carries out a key.
pub fn key(help: &mut Help, key: Chord, facts: &Facts) -> Outcome {
    match (facts.keymap.lookup(Context::Help, key), key.typed()) {
        (Some(Action::Jump), _) => open_entry(help, help.list.selected, facts),
        (Some(Action::Write(WriteKey::RubOut)), _) if help.is_on_page() => help.back(),
        (Some(Action::Write(key)), _) if !help.is_on_page() => help.rub_out(key),
        (
            Some(
                action @ (Action::Previous
                | Action::Next
                | Action::First
                | Action::Last
                | Action::PageUp
                | Action::PageDown),
            ),
            _,
        ) => travel(help, action, facts),
        (None, Some(c)) if !help.is_on_page() => help.type_text(c.encode_utf8(&mut [0; 4])),
        // On a page there is nothing to write in.
        (None, Some(_)) | (Some(Action::Write(_)), _) => {}
        (Some(_), _) | (None, None) => return Outcome::Ignored,
    }
    Outcome::DONE
}

/// Scrolls by so many lines.
pub fn wheel(help: &mut Help, lines: isize) {
    if let Some(page) = &mut help.page {
        page.top = page.top.saturating_add_signed(lines);
    } else {
        help.list.top = help.list.top.saturating_add_signed(lines);
        help.list.leader = Leader::Top;
    }
}

/// Selects an entry.
pub fn select(help: &mut Help, entry: usize) {
    (help.list.selected, help.list.leader) = (entry, Leader::Selected);
}

/// Opens the page that an entry of the list leads to; on a page nothing.
pub fn open_entry(help: &mut Help, entry: usize, facts: &Facts) {
    let entries = if help.is_on_page() { Vec::new() } else { entries(help, facts) };
    if let Some((page, line)) = entries.get(entry).and_then(|entry| entry.target.resolve()) {
        help.open(page, line);
    }
}

fn entries(help: &Help, facts: &Facts) -> Vec<Entry> {
    list::sections(help, &facts.keymap).into_iter().flat_map(|Section { entries, .. }| entries).collect()
}

/// Selects, or scrolls a page.
fn travel(help: &mut Help, action: Action, facts: &Facts) {
    let screenful = isize::try_from(facts.size.height / 2).unwrap_or(1).max(1);
    if let Some(page) = &mut help.page {
        page.top = match action {
            Action::Previous => page.top.saturating_sub(1),
            Action::Next => page.top.saturating_add(1),
            Action::PageUp => page.top.saturating_add_signed(-screenful),
            Action::PageDown => page.top.saturating_add_signed(screenful),
            // The frame knows where the end is.
            Action::Last => usize::MAX,
            _ => 0,
        };
        return;
    }
    let last = entries(help, facts).len().saturating_sub(1);
    match action {
        Action::Previous => select(help, help.list.selected.saturating_sub(1)),
        Action::Next => select(help, last.min(help.list.selected.saturating_add(1))),
        Action::PageUp => wheel(help, -screenful),
        Action::PageDown => wheel(help, screenful),
        Action::Last => select(help, last),
        _ => select(help, 0),
    }
}
