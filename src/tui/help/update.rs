//! What keys and the mouse do in help.
//!
//! Esc is not among its keys, since one rule says what that does everywhere.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::list::{self, Entry, Section};
use super::state::{Help, Leader, ListPlace};
use super::view;
use crate::tui::effect::Outcome;
use crate::tui::facts::Facts;
use crate::tui::keymap::{Action, Chord, Context, Travel, WriteKey};
use crate::tui::overlay::{Overlay, OverlayDrawn, OverlayPosition};
use crate::tui::state::pointer::Presses;
use crate::tui::state::regions::Regions;

const LIST_ESCAPE: [&str; 1] = ["Esc: closes help"];
const PAGE_ESCAPE: [&str; 2] = ["Esc: back to the list", "Esc: back"];

impl Overlay for Help {
    fn context(&self) -> Context {
        Context::Help
    }

    fn closing_words(&self) -> &'static str {
        "F1 closes help"
    }

    fn escape_words(&self) -> &'static [&'static str] {
        if self.is_on_page() { &PAGE_ESCAPE } else { &LIST_ESCAPE }
    }

    fn back(&mut self) -> bool {
        self.page.take().is_some()
    }

    fn key(&mut self, key: Chord, facts: &Facts) -> Outcome {
        match (facts.keymap.lookup(Context::Help, key), key.typed()) {
            (Some(Action::Jump), _) => open_entry(self, self.list.selected, facts),
            (Some(Action::Write(WriteKey::RubOut)), _) if self.is_on_page() => self.page = None,
            (Some(Action::Write(key)), _) if !self.is_on_page() => self.delete(key),
            (Some(Action::Travel(to)), _) => travel(self, to, facts),
            (None, Some(c)) if !self.is_on_page() => self.type_text(c.encode_utf8(&mut [0; 4])),
            // On a page there is nothing to write in.
            (None, Some(_)) | (Some(Action::Write(_)), _) => {}
            (Some(_), _) | (None, None) => return Outcome::Ignored,
        }
        Outcome::DONE
    }

    fn press(&mut self, row: usize, presses: Presses, facts: &Facts) {
        match presses {
            Presses::One | Presses::Three => select(self, row),
            Presses::Two => open_entry(self, row, facts),
        }
    }

    fn wheel(&mut self, lines: isize) {
        if let Some(page) = &mut self.page {
            page.top = page.top.saturating_add_signed(lines);
        } else {
            self.list.top = self.list.top.saturating_add_signed(lines);
            self.list.leader = Leader::Top;
        }
    }

    fn draw(&self, facts: &Facts, screen: Rect, regions: &mut Regions, buffer: &mut Buffer) -> OverlayDrawn {
        view::draw(self, facts, screen, regions, buffer)
    }

    fn drawn(&mut self, position: OverlayPosition) {
        match (position, &mut self.page) {
            (OverlayPosition::List { selected, top }, None) => {
                self.list = ListPlace { selected, top, leader: Leader::Selected };
            }
            (OverlayPosition::Page { top }, Some(page)) => (page.top, page.sought) = (top, None),
            // A key has changed it since.
            (OverlayPosition::List { .. }, Some(_))
            | (OverlayPosition::Page { .. }, None)
            | (OverlayPosition::None, _) => {}
        }
    }
}

/// Selects an entry.
fn select(help: &mut Help, entry: usize) {
    (help.list.selected, help.list.leader) = (entry, Leader::Selected);
}

/// Opens the page that an entry of the list leads to; on a page nothing.
fn open_entry(help: &mut Help, entry: usize, facts: &Facts) {
    let entries = if help.is_on_page() { Vec::new() } else { entries(help, facts) };
    if let Some((page, line)) = entries.get(entry).and_then(|entry| entry.target.resolve()) {
        help.open(page, line);
    }
}

fn entries(help: &Help, facts: &Facts) -> Vec<Entry> {
    list::sections(help, &facts.keymap).into_iter().flat_map(|Section { entries, .. }| entries).collect()
}

/// Selects, or scrolls a page.
fn travel(help: &mut Help, to: Travel, facts: &Facts) {
    let screenful = usize::from(facts.size.height / 2).max(1);
    if let Some(page) = &mut help.page {
        // The frame knows where the end is.
        page.top = to.from(page.top, screenful);
        return;
    }
    let lines = isize::try_from(screenful).unwrap_or(1);
    match to {
        Travel::PageUp => help.wheel(-lines),
        Travel::PageDown => help.wheel(lines),
        Travel::Previous | Travel::Next | Travel::First | Travel::Last => {
            let last = entries(help, facts).len().saturating_sub(1);
            select(help, to.from(help.list.selected, screenful).min(last));
        }
    }
}
