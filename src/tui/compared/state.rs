//! What the comparison of two sessions holds, and what its keys do. Esc is not among them: one rule says what that does
//! everywhere.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::view;
use crate::summary::ComparedTable;
use crate::tui::effect::Outcome;
use crate::tui::facts::Facts;
use crate::tui::keymap::{Action, Chord, Context};
use crate::tui::overlay::{Overlay, OverlayDrawn, OverlayPosition};
use crate::tui::state::pointer::Presses;
use crate::tui::state::regions::Regions;

/// The comparison, from its opening to its end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ComparedPane {
    pub(super) table: ComparedTable,
    /// The first row that is shown.
    pub(super) top: usize,
}

impl ComparedPane {
    /// Opens the comparison at its beginning.
    pub fn new(table: ComparedTable) -> Self {
        Self { table, top: 0 }
    }
}

impl Overlay for ComparedPane {
    fn context(&self) -> Context {
        Context::Ledger
    }

    fn closing_words(&self) -> &'static str {
        "Esc closes the comparison"
    }

    fn escape_words(&self) -> &'static [&'static str] {
        &["Esc: closes the comparison", "Esc: closes"]
    }

    fn key(&mut self, key: Chord, facts: &Facts) -> Outcome {
        let page = usize::from(facts.size.height / 2).max(1);
        match facts.keymap.lookup(Context::Ledger, key) {
            // A frame puts it within the bounds.
            Some(Action::Travel(travel)) => self.top = travel.from(self.top, page),
            Some(Action::Jump) => {}
            Some(_) | None => return Outcome::Ignored,
        }
        Outcome::DONE
    }

    fn press(&mut self, _: usize, _: Presses, _: &Facts) {}

    fn wheel(&mut self, lines: isize) {
        self.top = self.top.saturating_add_signed(lines);
    }

    fn draw(&self, facts: &Facts, screen: Rect, regions: &mut Regions, buffer: &mut Buffer) -> OverlayDrawn {
        OverlayDrawn { cursor: None, position: view::draw(self, facts, screen, regions, buffer) }
    }

    fn drawn(&mut self, position: OverlayPosition) {
        if let OverlayPosition::Page { top } = position {
            self.top = top;
        }
    }
}
