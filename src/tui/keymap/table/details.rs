//! The keys of the details of the shown agent.

use crate::tui::keymap::{Action as A, Binding, LookKey, NONE, Travel, TreeKey, also, row};
use crossterm::event::KeyCode as K;

pub const ROWS: &[Binding] = &[
    row(NONE, K::Up, A::Travel(Travel::Previous), "Up/Down  k/j", "scroll"),
    also(NONE, K::Down, A::Travel(Travel::Next)),
    also(NONE, K::Char('k'), A::Travel(Travel::Previous)),
    also(NONE, K::Char('j'), A::Travel(Travel::Next)),
    row(NONE, K::Home, A::Travel(Travel::First), "Home/End", "first or last line"),
    also(NONE, K::End, A::Travel(Travel::Last)),
    row(NONE, K::Char('i'), A::Tree(TreeKey::Details), "i", "fold them"),
    row(NONE, K::Char('z'), A::Look(LookKey::Zoom), "z", "let them fill the screen above the message; again: back"),
    row(NONE, K::Char('<'), A::Look(LookKey::Smaller), "</>  =", "less, more or the usual room"),
    also(NONE, K::Char('>'), A::Look(LookKey::Larger)),
    also(NONE, K::Char('='), A::Look(LookKey::Usual)),
    row(NONE, K::Enter, A::FocusComposer, "Enter", "back to the message"),
    row(NONE, K::Char('u'), A::BringBack, "u", "bring back what a key removed"),
    row(NONE, K::Char('?'), A::Help, "?", "help"),
];
