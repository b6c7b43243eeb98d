//! The keys of help; letters filter it.

use crate::tui::keymap::{Action as A, Binding, CTRL, NONE, WriteKey, also, row};
use crossterm::event::KeyCode as K;

pub const ROWS: &[Binding] = &[
    row(NONE, K::Up, A::Previous, "Up/Down  PageUp/PageDown", "scroll"),
    also(NONE, K::Down, A::Next),
    also(NONE, K::Home, A::First),
    also(NONE, K::End, A::Last),
    row(
        NONE,
        K::Backspace,
        A::Write(WriteKey::RubOut),
        "Backspace  Ctrl+W  Ctrl+U",
        "delete a character, a word, or all",
    ),
    also(CTRL, K::Char('h'), A::Write(WriteKey::RubOut)),
    also(CTRL, K::Char('w'), A::Write(WriteKey::RubOutWord)),
    also(CTRL, K::Char('u'), A::Write(WriteKey::RubOutAll)),
];
