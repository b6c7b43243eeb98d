//! What the ledger holds, and what its keys do. Esc is not among them: one rule says what that does everywhere.

use crate::session::fold::Receipts;
use crate::tui::effect::{Outcome, PaneEffect};
use crate::tui::facts::Facts;
use crate::tui::keymap::Action;

/// The ledger, from its opening to its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LedgerPane {
    /// The row that is selected.
    pub(super) selected: usize,
    /// The first row that is shown.
    pub(super) top: usize,
}

/// The places as a frame has shown them, within their bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerDrawn {
    /// The row that is selected.
    pub selected: usize,
    /// The first row.
    pub top: usize,
}

impl LedgerPane {
    /// Opens the ledger at its newest row.
    pub fn at_newest(receipts: &Receipts) -> Self {
        Self { selected: receipts.list().len().saturating_sub(1), top: 0 }
    }

    /// Takes the places that a frame has shown.
    pub fn drawn(&mut self, drawn: LedgerDrawn) {
        *self = Self { selected: drawn.selected, top: drawn.top };
    }

    /// Selects the row at this place.
    pub fn select(&mut self, row: usize) {
        self.selected = row;
    }

    /// Selects another row, so many further on.
    pub fn wheel(&mut self, rows: isize) {
        self.selected = self.selected.saturating_add_signed(rows);
    }

    /// Carries out a key.
    pub fn act(&mut self, action: Action, facts: &Facts) -> Outcome {
        let page = usize::from(facts.size.height / 2).max(1);
        let receipts = facts.run.receipts.list();
        let last = receipts.len().saturating_sub(1);
        let to = match action {
            Action::Previous => self.selected.saturating_sub(1),
            Action::Next => self.selected.saturating_add(1),
            Action::PageUp => self.selected.saturating_sub(page),
            Action::PageDown => self.selected.saturating_add(page),
            Action::Last => last,
            Action::First => 0,
            Action::Jump => {
                let shown = receipts.get(self.selected);
                let shown = shown.map(|receipt| PaneEffect::ShowText(receipt.agent.clone(), receipt.id.clone()));
                return Outcome::Consumed(shown.into_iter().collect());
            }
            _ => return Outcome::Ignored,
        };
        self.selected = to.min(last);
        Outcome::DONE
    }
}
