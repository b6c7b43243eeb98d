//! The keys: action, key, context and words. Keys are looked up here and help is made from here.
//!
//! Each context has its table in `table.rs`; a file of keys changes them (`Keymap`). A context's own binding goes before the
//! global one. A character without a binding is text for the composer. Each key with Alt and each F key has a second one,
//! of two keys: Ctrl+X and another.
//!
//! # Where things are
//!
//! - the file of keys: every action, conflicts, what help and hints then say: `file.rs`, `map.rs`, `chord.rs`,
//!   `src/program/cli/screen_files.rs`; tests: `tests/program/keymap_file.rs`, `tests/pty/terminal.rs`
//! - what keys mean, and the name that each meaning has in a file of keys: `action.rs`
//! - where a key has its meaning: one context for each pane and overlay, and one for everywhere: `context.rs`
//! - the keys of each context, with what help says of them: `table.rs`
//! - what keys do within one pane or in several alike: `pane_keys.rs`

#[macro_use]
mod pane_keys;

mod action;
mod chord;
mod context;
mod file;
mod map;
pub mod table;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

pub use action::{Action, Answer, Prefill};
pub use chord::option_hint;
pub use context::Context;
pub use file::KeysError;
pub use map::Keymap;
pub use pane_keys::{Edit, LookKey, PauseKey, PendingKey, ReadKey, ReplayKey, SearchKey, Travel, TreeKey, WriteKey};

/// A key with its modifiers, in the one form that the table uses; alone, or pressed after Ctrl+X.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chord {
    /// True when Ctrl+X was pressed before it; a letter without modifiers is lower case then.
    pub is_prefixed: bool,
    /// The key; letters with Ctrl are lower case.
    pub code: KeyCode,
    /// The modifiers; Shift is dropped where the character already tells it.
    pub modifiers: KeyModifiers,
}

impl Chord {
    /// Brings a key event into the one form.
    pub fn from_event(key: &KeyEvent) -> Self {
        let known = KeyModifiers::SHIFT | KeyModifiers::CONTROL | KeyModifiers::ALT;
        let mut modifiers = key.modifiers & known;
        let mut code = key.code;
        if let KeyCode::Char(c) = code {
            if modifiers.contains(KeyModifiers::CONTROL) {
                // Terminals write Ctrl+_ in four ways: 0x1F (read as Ctrl+7), Ctrl+/, Ctrl+_ and Ctrl+Shift+-.
                let undo = matches!(c, '7' | '/' | '_') || (c == '-' && modifiers.contains(KeyModifiers::SHIFT));
                code = KeyCode::Char(if undo { '_' } else { c.to_ascii_lowercase() });
            }
            modifiers.remove(KeyModifiers::SHIFT);
        }
        if code == KeyCode::BackTab {
            code = KeyCode::Tab;
            modifiers.insert(KeyModifiers::SHIFT);
        }
        Self { is_prefixed: false, code, modifiers }
    }

    /// Returns the chord that this key makes after Ctrl+X.
    #[must_use]
    pub fn prefixed(self) -> Self {
        let code = match self.code {
            KeyCode::Char(c) => KeyCode::Char(c.to_ascii_lowercase()),
            code => code,
        };
        Self { is_prefixed: true, code, ..self }
    }

    /// Returns the chord that stands in for a key with Alt or an F key, which many keyboards lack: after Ctrl+X the same
    /// key without Alt, or the key of the row of digits that stands below the F key.
    pub fn stand_in(self) -> Option<Self> {
        let (code, modifiers) = match self.code {
            KeyCode::F(number) => {
                let below = "1234567890-=".chars().nth(usize::from(number).checked_sub(1)?)?;
                (KeyCode::Char(below), self.modifiers)
            }
            code if self.modifiers == KeyModifiers::ALT => (code, KeyModifiers::NONE),
            _ => return None,
        };
        (!self.is_prefixed).then(|| Self { is_prefixed: true, code, modifiers }.prefixed())
    }

    /// Returns the character that this key types, if it types one.
    pub fn typed(self) -> Option<char> {
        match self.code {
            KeyCode::Char(c) if self.modifiers.is_empty() && !self.is_prefixed => Some(c),
            _ => None,
        }
    }

    /// Returns the character of an Alt+character chord.
    pub fn alt_char(self) -> Option<char> {
        match self.code {
            KeyCode::Char(c) if self.modifiers == KeyModifiers::ALT && !self.is_prefixed => Some(c),
            _ => None,
        }
    }
}

/// One row of a table.
#[derive(Debug, Clone, Copy)]
pub struct Binding {
    pub chord: Chord,
    /// What it does.
    pub action: Action,
    /// The key's name in help; empty where another row already names it.
    pub name: &'static str,
    pub help: &'static str,
    /// What the list of the most used keys says of it; empty where it is not in that list.
    pub brief: &'static str,
}

/// Tells whether the event is a key going down; a terminal with the kitty protocol also reports it coming up.
pub fn pressed(key: &KeyEvent) -> bool {
    match key.kind {
        KeyEventKind::Press | KeyEventKind::Repeat => true,
        KeyEventKind::Release => false,
    }
}

#[cfg(test)]
mod tests;
