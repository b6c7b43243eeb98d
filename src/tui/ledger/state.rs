//! What the ledger holds, and what its keys do. Esc is not among them: one rule says what that does everywhere.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::view;
use crate::id::{AgentId, MessageId};
use crate::session::fold::{Receipt, Receipts};
use crate::tui::effect::{Outcome, PaneEffect};
use crate::tui::facts::Facts;
use crate::tui::keymap::{Action, Chord, Context};
use crate::tui::overlay::{Overlay, OverlayDrawn, OverlayPosition};
use crate::tui::state::pointer::Presses;
use crate::tui::state::regions::Regions;

/// The ledger, from its opening to its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LedgerPane {
    /// The row that is selected.
    pub(super) selected: usize,
    /// The first row that is shown.
    pub(super) top: usize,
}

impl LedgerPane {
    /// Opens the ledger at its newest row.
    pub fn at_newest(receipts: &Receipts) -> Self {
        Self { selected: receipts.list().len().saturating_sub(1), top: 0 }
    }
}

impl LedgerPane {
    fn show(&self, receipts: &[Receipt], what: fn(AgentId, MessageId) -> PaneEffect) -> Outcome {
        let shown = receipts.get(self.selected).map(|receipt| what(receipt.agent.clone(), receipt.id.clone()));
        Outcome::Consumed(shown.into_iter().collect())
    }
}

impl Overlay for LedgerPane {
    fn context(&self) -> Context {
        Context::Ledger
    }

    fn closing_words(&self) -> &'static str {
        "F4 closes the ledger"
    }

    fn escape_words(&self) -> &'static [&'static str] {
        &["Esc: closes the ledger", "Esc: closes"]
    }

    fn key(&mut self, key: Chord, facts: &Facts) -> Outcome {
        let page = usize::from(facts.size.height / 2).max(1);
        let receipts = facts.run.receipts.list();
        let last = receipts.len().saturating_sub(1);
        match facts.keymap.lookup(Context::Ledger, key) {
            Some(Action::Travel(travel)) => {
                self.selected = travel.from(self.selected, page).min(last);
                Outcome::DONE
            }
            Some(Action::Jump) => self.show(receipts, PaneEffect::ShowText),
            Some(Action::JumpToAnswer) => self.show(receipts, PaneEffect::ShowAnswer),
            Some(_) | None => Outcome::Ignored,
        }
    }

    fn press(&mut self, row: usize, _: Presses, _: &Facts) {
        self.selected = row;
    }

    fn wheel(&mut self, lines: isize) {
        self.selected = self.selected.saturating_add_signed(lines);
    }

    fn draw(&self, facts: &Facts, screen: Rect, regions: &mut Regions, buffer: &mut Buffer) -> OverlayDrawn {
        OverlayDrawn { cursor: None, position: view::draw(self, facts, screen, regions, buffer) }
    }

    fn drawn(&mut self, position: OverlayPosition) {
        if let OverlayPosition::List { selected, top } = position {
            (self.selected, self.top) = (selected, top);
        }
    }
}
