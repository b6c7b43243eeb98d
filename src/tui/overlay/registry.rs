//! The panes over the screen that register themselves: each says here, in one value of its own folder, what it is called, by
//! which command and key it opens, and what its keys do. Help, completion, the manual and the file of keys are made from that.
//!
//! To add such a pane: its folder, with a [`PaneEntry`], and one line in `PANES`.

use crate::commands::CommandEntry;
use crate::keymap::table::{TableRow, also, key, row};
use crate::keymap::{Action, Context, Travel};

/// The panes, in the order in which help shows them.
static PANES: [&PaneEntry; 6] = [
    &crate::ledger::PANE,
    &crate::changes::PANE,
    &crate::plan::PANE,
    &crate::context::PANE,
    &crate::jobs::PANE,
    &crate::command_runs::PANE,
];

/// A pane, as it registers itself.
#[derive(Debug)]
pub struct PaneEntry {
    /// The section of its keys in a file of keys, and the name of the key that opens it.
    pub id: &'static str,
    /// The heading of its keys in help.
    pub title: &'static str,
    /// The keys that move through its rows or texts: `list_keys`, `page_keys`.
    pub travel: &'static [&'static [TableRow]],
    /// Its other keys while it is open.
    pub keys: &'static [TableRow],
    /// The keys that open it from everywhere, with two blanks between them; empty where none does.
    pub opened_by: &'static str,
    /// What the list of the most used keys says of them.
    pub brief: &'static str,
    /// Its command, which opens it, as its key does.
    pub command: CommandEntry,
}

impl PaneEntry {
    /// Returns its place in the registry.
    pub fn pane(&self) -> PaneId {
        PaneId(PANES.iter().position(|pane| pane.id == self.id).unwrap_or_default())
    }

    /// Returns where its keys hold.
    pub fn context(&self) -> Context {
        Context::Pane(self.pane())
    }

    /// Returns all its keys while it is open.
    pub(crate) fn table(&self) -> impl Iterator<Item = TableRow> {
        self.travel.iter().copied().flatten().chain(self.keys).copied()
    }
}

/// Makes the keys that select a row of a list; what help says of a step and of both ends.
pub(crate) const fn list_keys(step: &'static str, ends: &'static str) -> [TableRow; 4] {
    [
        row("Up  k", Action::Travel(Travel::Previous), "Up/Down  k/j", step),
        also("Down  j", Action::Travel(Travel::Next)),
        row("Home", Action::Travel(Travel::First), "Home/End", ends),
        also("End", Action::Travel(Travel::Last)),
    ]
}

/// Makes the keys that go page by page; what help says of them.
pub(crate) const fn page_keys(help: &'static str) -> [TableRow; 2] {
    [
        row("PageUp", Action::Travel(Travel::PageUp), "PageUp/PageDown", help),
        also("PageDown", Action::Travel(Travel::PageDown)),
    ]
}

/// A pane of the registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PaneId(usize);

impl PaneId {
    /// Returns all of them.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..PANES.len()).map(Self)
    }

    /// Returns the pane that registers itself by this name.
    pub fn named(id: &str) -> Option<Self> {
        PANES.iter().position(|pane| pane.id == id).map(Self)
    }

    /// Returns its place among all.
    pub fn index(self) -> usize {
        self.0
    }

    /// Returns how it registers itself.
    pub fn entry(self) -> &'static PaneEntry {
        PANES[self.0.min(PANES.len() - 1)]
    }

    /// Returns the name of the key that opens it.
    pub fn id(self) -> &'static str {
        self.entry().id
    }

    /// Returns the row of the key that opens it.
    pub(crate) fn opening_row(self) -> Option<TableRow> {
        let entry = self.entry();
        let row = key(entry.opened_by, Action::Open(self), entry.command.help).brief(entry.brief);
        (!entry.opened_by.is_empty()).then_some(row)
    }
}

/// What a key of such a pane does, by its name in a file of keys; each pane has its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PaneKey(pub &'static str);

impl PaneKey {
    /// Returns its name in a file of keys.
    pub fn id(self) -> &'static str {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::COMMANDS;

    #[test]
    fn each_pane_is_found_by_its_name_and_its_command_is_in_the_table_once() {
        for pane in PaneId::all() {
            assert_eq!(PaneId::named(pane.id()), Some(pane), "{} stands there twice", pane.id());
            assert_eq!(pane.entry().pane(), pane);
            let named = COMMANDS.iter().filter(|command| command.usage == pane.entry().command.usage);
            assert_eq!(named.count(), 1, "{}", pane.id());
        }
    }
}
