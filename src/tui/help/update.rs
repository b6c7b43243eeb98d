//! What keys and the mouse do in help, and what it is titled.
//!
//! Esc is not among its keys, since one rule says what that does everywhere.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::list::{self, Entry, Section};
use super::{Help, Leader, view};
use crate::effect::Outcome;
use crate::keymap::{Action, Context, Travel, WriteKey};
use crate::overlay::{ListPosition, Overlay, OverlayDrawn, OverlayPosition};
use crate::state::{Presses, Regions};
use crate::ui_context::UiContext;

impl Overlay for Help {
    fn context(&self) -> Context {
        Context::Help
    }

    fn closing_hint(&self) -> &'static str {
        "F1 closes help"
    }

    fn escape_hints(&self) -> &'static [&'static str] {
        if self.is_on_page() { &["Esc: back to the list", "Esc: back"] } else { &["Esc: closes help"] }
    }

    fn titles(&self, _: &UiContext) -> Vec<String> {
        let title = match &self.page {
            Some(open) => format!(" Help: {} ", open.page.title()),
            None => " Help: type to filter ".to_owned(),
        };
        vec![title, " Help ".to_owned()]
    }

    fn hints(&self, _: &UiContext) -> &'static [&'static str] {
        match (&self.page, self.filter.text()) {
            (Some(_), _) => &[
                " Up/Down and PageUp/PageDown scroll · Home/End · Backspace or Esc: back to the list ",
                " Up/Down PageUp/PageDown scroll · Esc: the list ",
                " Up/Down scroll · Esc: the list ",
            ],
            (None, "") => &[
                " Up/Down select · Enter opens the manual there · End: its pages · Esc closes ",
                " Enter opens the manual · End: its pages · Esc closes ",
                " Enter opens · End pages · Esc closes ",
                " Enter opens · Esc closes ",
            ],
            (None, _) => &[
                " Up/Down select · Enter opens the manual there · Esc closes ",
                " Enter opens the manual · Esc closes ",
                " Enter opens · Esc closes ",
            ],
        }
    }

    fn count(&self, ui: &UiContext) -> usize {
        entries(self, ui).len()
    }

    fn position(&mut self) -> &mut ListPosition {
        &mut self.list
    }

    fn selected(&self, _: &UiContext) -> usize {
        self.list.selected
    }

    fn select(&mut self, row: usize, ui: &UiContext) {
        self.list.selected = row.min(self.count(ui).saturating_sub(1));
        self.leader = Leader::Selected;
    }

    fn back(&mut self) -> bool {
        self.page.take().is_some()
    }

    fn travel(&mut self, travel: Travel, ui: &UiContext) {
        if let Some(page) = &mut self.page {
            // The frame knows where the end is.
            page.top = travel.from(page.top, ui.half_page());
            return;
        }
        let lines = isize::try_from(ui.half_page()).unwrap_or(1);
        match travel {
            Travel::PageUp => self.wheel(-lines, ui),
            Travel::PageDown => self.wheel(lines, ui),
            Travel::Previous | Travel::Next | Travel::First | Travel::Last => {
                self.select(travel.from(self.list.selected, 1), ui);
            }
        }
    }

    fn act(&mut self, action: Action, ui: &UiContext) -> Outcome {
        match action {
            Action::Jump => open_entry(self, self.list.selected, ui),
            Action::Write(WriteKey::RubOut) if self.is_on_page() => self.page = None,
            Action::Write(key) if !self.is_on_page() => self.delete(key),
            // On a page there is nothing to write in.
            Action::Write(_) => {}
            _ => return Outcome::Ignored,
        }
        Outcome::DONE
    }

    fn type_char(&mut self, c: char) -> Outcome {
        if !self.is_on_page() {
            self.type_text(c.encode_utf8(&mut [0; 4]));
        }
        Outcome::DONE
    }

    fn press(&mut self, row: usize, presses: Presses, ui: &UiContext) {
        match presses {
            Presses::One | Presses::Three => self.select(row, ui),
            Presses::Two => open_entry(self, row, ui),
        }
    }

    fn wheel(&mut self, lines: isize, _: &UiContext) {
        if let Some(page) = &mut self.page {
            page.top = page.top.saturating_add_signed(lines);
        } else {
            self.list.top = self.list.top.saturating_add_signed(lines);
            self.leader = Leader::Top;
        }
    }

    fn draw_inside(&self, ui: &UiContext, inner: Rect, regions: &mut Regions, buffer: &mut Buffer) -> OverlayDrawn {
        view::draw(self, ui, inner, regions, buffer)
    }

    fn drawn(&mut self, position: OverlayPosition) {
        match (position, &mut self.page) {
            (OverlayPosition::List(position), None) => (self.list, self.leader) = (position, Leader::Selected),
            (OverlayPosition::Page(top), Some(page)) => (page.top, page.sought) = (top, None),
            // A key has changed it since.
            (OverlayPosition::List(_), Some(_)) | (OverlayPosition::Page(_), None) | (OverlayPosition::None, _) => {}
        }
    }
}

/// Opens the page that an entry of the list leads to; on a page nothing.
fn open_entry(help: &mut Help, entry: usize, ui: &UiContext) {
    let entries = if help.is_on_page() { Vec::new() } else { entries(help, ui) };
    if let Some((page, line)) = entries.get(entry).and_then(|entry| entry.target.resolve()) {
        help.open(page, line);
    }
}

fn entries(help: &Help, ui: &UiContext) -> Vec<Entry> {
    list::sections(help, &ui.keymap).into_iter().flat_map(|Section { entries, .. }| entries).collect()
}
