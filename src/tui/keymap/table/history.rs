//! The keys of the search of what was sent before.

use crate::tui::keymap::{Action as A, Binding, CTRL, NONE, Travel, WriteKey, also, row};
use crossterm::event::KeyCode as K;

pub const ROWS: &[Binding] = &[
    row(NONE, K::Enter, A::Write(WriteKey::TakeText), "Enter", "take the text into the message; nothing is sent"),
    also(NONE, K::Tab, A::Write(WriteKey::TakeText)),
    row(NONE, K::Up, A::Travel(Travel::Previous), "Up/Down  Ctrl+R", "choose"),
    also(NONE, K::Down, A::Travel(Travel::Next)),
    also(CTRL, K::Char('r'), A::Write(WriteKey::Search)),
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
