//! The keys of a list of sessions or messages; letters filter it.

use crate::tui::keymap::{Action as A, Binding, CTRL, NONE, Travel, WriteKey, also, row};
use crossterm::event::KeyCode as K;

pub const ROWS: &[Binding] = &[
    row(NONE, K::Up, A::Travel(Travel::Previous), "Up/Down  PageUp/PageDown", "select a session or a message"),
    also(NONE, K::Down, A::Travel(Travel::Next)),
    row(NONE, K::Home, A::Travel(Travel::First), "Home/End", "first or last"),
    also(NONE, K::End, A::Travel(Travel::Last)),
    row(NONE, K::Enter, A::Jump, "Enter", "go on with the session; branch from just before the message"),
    row(
        NONE,
        K::Backspace,
        A::Write(WriteKey::RubOut),
        "Backspace  Ctrl+W  Ctrl+U",
        "delete a character, a word, or all of the filter",
    ),
    also(CTRL, K::Char('h'), A::Write(WriteKey::RubOut)),
    also(CTRL, K::Char('w'), A::Write(WriteKey::RubOutWord)),
    also(CTRL, K::Char('u'), A::Write(WriteKey::RubOutAll)),
];
