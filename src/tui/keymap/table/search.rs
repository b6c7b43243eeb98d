//! The keys of the search in a transcript.

use crate::tui::keymap::{Action as A, Binding, CTRL, NONE, ReadKey as R, SHIFT, SearchKey as S, also, row};
use crossterm::event::KeyCode as K;

pub const ROWS: &[Binding] = &[
    row(NONE, K::Enter, A::Read(R::KeepSearch), "Enter", "stay where it led; n and N go on from there"),
    row(NONE, K::Tab, A::Read(R::NextFound), "Tab  Shift+Tab", "the next place, the previous one"),
    also(SHIFT, K::Tab, A::Read(R::PreviousFound)),
    row(NONE, K::Up, A::Read(R::Type(S::EarlierSearch)), "Up/Down", "earlier searches"),
    also(NONE, K::Down, A::Read(R::Type(S::LaterSearch))),
    row(
        NONE,
        K::Backspace,
        A::Read(R::Type(S::RubOut)),
        "Backspace  Ctrl+W/U",
        "delete a character, a word, or all before it",
    ),
    also(CTRL, K::Char('h'), A::Read(R::Type(S::RubOut))),
    also(CTRL, K::Char('w'), A::Read(R::Type(S::RubOutWord))),
    also(CTRL, K::Char('u'), A::Read(R::Type(S::RubOutAll))),
    row(NONE, K::Left, A::Read(R::Type(S::Left)), "Left/Right", "move the cursor; Home and End to the ends"),
    also(NONE, K::Right, A::Read(R::Type(S::Right))),
    also(NONE, K::Home, A::Read(R::Type(S::Start))),
    also(NONE, K::End, A::Read(R::Type(S::End))),
];
