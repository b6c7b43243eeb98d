//! The keys of the transcript.

use crate::tui::keymap::{Action as A, Binding, LookKey, NONE, TreeKey, also, row};
use crossterm::event::KeyCode as K;

pub const ROWS: &[Binding] = &[
    row(NONE, K::Up, A::Previous, "Up/Down", "select a block"),
    also(NONE, K::Down, A::Next),
    row(NONE, K::Enter, A::Fold, "Enter  Space", "fold or open the block"),
    also(NONE, K::Char(' '), A::Fold),
    row(NONE, K::Home, A::First, "Home/End", "top, or follow the end"),
    also(NONE, K::End, A::Last),
    row(NONE, K::Char('z'), A::Look(LookKey::Zoom), "z", "let it fill the screen above the message; again: back"),
    row(NONE, K::Char('u'), A::BringBack, "u", "bring back what a key removed"),
    row(NONE, K::Char('!'), A::Tree(TreeKey::NextOdd), "!", "next agent that is worth a look"),
    row(NONE, K::Char('i'), A::Tree(TreeKey::Details), "i", "task, persona, model, tools and budget of the agent"),
    row(NONE, K::Char('?'), A::Help, "?", "help"),
];
