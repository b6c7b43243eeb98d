//! The keys of the list of what fills a context window.

use crate::tui::keymap::{Action as A, Binding, ContextKey as C, NONE, Travel, also, row};
use crossterm::event::KeyCode as K;

pub const ROWS: &[Binding] = &[
    row(NONE, K::Up, A::Travel(Travel::Previous), "Up/Down  k/j", "select a part"),
    also(NONE, K::Down, A::Travel(Travel::Next)),
    also(NONE, K::Char('k'), A::Travel(Travel::Previous)),
    also(NONE, K::Char('j'), A::Travel(Travel::Next)),
    row(NONE, K::Home, A::Travel(Travel::First), "Home/End", "largest or smallest part"),
    also(NONE, K::End, A::Travel(Travel::Last)),
    row(NONE, K::PageUp, A::Travel(Travel::PageUp), "PageUp/PageDown", "a page up or down"),
    also(NONE, K::PageDown, A::Travel(Travel::PageDown)),
    row(NONE, K::Char('d'), A::InWindow(C::Drop), "d", "take the result out at the next boundary; again: leave it"),
    row(NONE, K::Char('p'), A::InWindow(C::Pin), "p", "pin the result, a compaction keeps it; again: no more"),
    row(NONE, K::Char('a'), A::InWindow(C::NextAgent), "a", "the next agent"),
];
