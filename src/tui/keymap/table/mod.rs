//! The tables, each context in the order in which help shows its rows.
//!
//! # Where things are
//!
//! - the keys of the agents: their list with its filter, the details, the panel of a paused one: `agent.rs`
//! - the keys that hold in every pane, unless the pane has its own: `everywhere.rs`
//! - the keys of the lists over the screen, and of the pending texts: `lists.rs`
//! - the keys of the message being written: `message.rs`
//! - the keys of what is read: the transcript, its search, a replay, the history: `reading.rs`

pub(super) mod agent;
pub(super) mod everywhere;
pub(super) mod lists;
pub(super) mod message;
pub(super) mod reading;

use super::{Action, Binding, Chord};

/// A row of a table: keys that do the same, with two blanks between them, and what help says of them.
#[derive(Debug, Clone, Copy)]
pub struct TableRow {
    pub(super) keys: &'static str,
    pub(super) action: Action,
    name: &'static str,
    help: &'static str,
    /// What the list of the most used keys says; empty for a key that is not in it.
    brief: &'static str,
}

impl TableRow {
    /// Puts the row into the list of the most used keys, with these words.
    pub(crate) const fn brief(self, words: &'static str) -> Self {
        Self { brief: words, ..self }
    }
}

/// Makes a row that help shows by its keys.
pub(crate) const fn key(keys: &'static str, action: Action, help: &'static str) -> TableRow {
    row(keys, action, keys, help)
}

/// Makes a row that help shows by another name: it speaks for those behind it too.
pub(crate) const fn row(keys: &'static str, action: Action, name: &'static str, help: &'static str) -> TableRow {
    TableRow { keys, action, name, help, brief: "" }
}

/// Makes a row that the one before it speaks for.
pub(crate) const fn also(keys: &'static str, action: Action) -> TableRow {
    row(keys, action, "", "")
}

/// Returns a binding for each key of a table, and for what stands in for it.
pub(super) fn bindings(rows: &[TableRow]) -> Vec<Binding> {
    let of_row = |row: &TableRow| {
        let TableRow { keys, action, name, help, brief } = *row;
        let chords: Vec<Chord> = keys.split("  ").filter_map(|key| Chord::parse(key).ok()).collect();
        let stand_ins: Vec<Chord> = chords.iter().filter_map(|chord| chord.stand_in()).collect();
        let chords = chords.into_iter().chain(stand_ins);
        let names = std::iter::once((name, help, brief)).chain(std::iter::repeat(("", "", "")));
        chords.zip(names).map(move |(chord, (name, help, brief))| Binding { chord, action, name, help, brief })
    };
    rows.iter().flat_map(of_row).collect()
}
