//! The keys of the ledger.

use crate::tui::keymap::{Action as A, Binding, NONE, Travel, also, row};
use crossterm::event::KeyCode as K;

pub const ROWS: &[Binding] = &[
    row(NONE, K::Up, A::Travel(Travel::Previous), "Up/Down  k/j", "select a text"),
    also(NONE, K::Down, A::Travel(Travel::Next)),
    also(NONE, K::Char('k'), A::Travel(Travel::Previous)),
    also(NONE, K::Char('j'), A::Travel(Travel::Next)),
    row(NONE, K::Home, A::Travel(Travel::First), "Home/End", "first or last"),
    also(NONE, K::End, A::Travel(Travel::Last)),
    row(NONE, K::Enter, A::Jump, "Enter", "show the text in the transcript"),
    row(NONE, K::Char('a'), A::JumpToAnswer, "a", "show the reply in which the model says what it did with the text"),
];
