//! The keys of the list of changed files.

use crate::tui::keymap::{Action as A, Binding, ChangesKey as C, NONE, Travel, also, row};
use crossterm::event::KeyCode as K;

pub const ROWS: &[Binding] = &[
    row(NONE, K::Up, A::Travel(Travel::Previous), "Up/Down  k/j", "select a file"),
    also(NONE, K::Down, A::Travel(Travel::Next)),
    also(NONE, K::Char('k'), A::Travel(Travel::Previous)),
    also(NONE, K::Char('j'), A::Travel(Travel::Next)),
    row(NONE, K::Home, A::Travel(Travel::First), "Home/End", "first or last file"),
    also(NONE, K::End, A::Travel(Travel::Last)),
    row(NONE, K::PageUp, A::Travel(Travel::PageUp), "PageUp/PageDown", "scroll the change"),
    also(NONE, K::PageDown, A::Travel(Travel::PageDown)),
    row(NONE, K::Left, A::InChanges(C::EarlierTurn), "Left/Right  h/l", "one turn, or the whole session"),
    also(NONE, K::Right, A::InChanges(C::LaterTurn)),
    also(NONE, K::Char('h'), A::InChanges(C::EarlierTurn)),
    also(NONE, K::Char('l'), A::InChanges(C::LaterTurn)),
    row(NONE, K::Char('a'), A::InChanges(C::NextAgent), "a", "the changes of one agent, or of all"),
    row(NONE, K::Enter, A::InChanges(C::Open), "Enter  o", "open the change in the editor"),
    also(NONE, K::Char('o'), A::InChanges(C::Open)),
    row(NONE, K::Char('u'), A::InChanges(C::UndoFile), "u", "take the file's changes back; asks first"),
    row(NONE, K::Char('U'), A::InChanges(C::UndoTurn), "U", "take the shown turn back; asks first"),
];
