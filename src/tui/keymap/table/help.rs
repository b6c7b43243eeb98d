//! The keys of help.

use crate::tui::keymap::{Action as A, Binding, NONE, also, row};
use crossterm::event::KeyCode as K;

pub const ROWS: &[Binding] = &[
    row(NONE, K::Up, A::Previous, "Up/Down  PageUp/PageDown", "scroll"),
    also(NONE, K::Down, A::Next),
    also(NONE, K::Home, A::First),
    also(NONE, K::End, A::Last),
    row(NONE, K::Char('?'), A::Help, "?  F1  Esc", "close help"),
];
