//! The keys of the agent tree's filter.

use crate::tui::keymap::{Action as A, Binding, CTRL, NONE, Travel, TreeKey, also, row};
use crossterm::event::KeyCode as K;

pub const ROWS: &[Binding] = &[
    row(NONE, K::Enter, A::Tree(TreeKey::KeepFilter), "Enter", "keep the filter and go to the agents"),
    row(NONE, K::Backspace, A::Tree(TreeKey::RubOut), "Backspace  Ctrl+U", "delete a character, or all"),
    also(CTRL, K::Char('h'), A::Tree(TreeKey::RubOut)),
    also(CTRL, K::Char('u'), A::Tree(TreeKey::RubOutAll)),
    row(NONE, K::Up, A::Travel(Travel::Previous), "Up/Down", "select an agent"),
    also(NONE, K::Down, A::Travel(Travel::Next)),
];
