//! The keys of the ledger.

use crate::tui::keymap::{Action as A, Binding, NONE, also, row};
use crossterm::event::KeyCode as K;

pub const ROWS: &[Binding] = &[
    row(NONE, K::Up, A::Previous, "Up/Down  k/j", "select a text"),
    also(NONE, K::Down, A::Next),
    also(NONE, K::Char('k'), A::Previous),
    also(NONE, K::Char('j'), A::Next),
    row(NONE, K::Home, A::First, "Home/End", "first or last"),
    also(NONE, K::End, A::Last),
    row(NONE, K::Enter, A::Jump, "Enter", "show the text in the transcript"),
];
