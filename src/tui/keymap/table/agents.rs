//! The keys of the agent tree.

use crate::tui::keymap::{Action as A, Binding, LookKey, NONE, Travel, TreeKey, also, row};
use crossterm::event::KeyCode as K;

pub const ROWS: &[Binding] = &[
    row(NONE, K::Up, A::Travel(Travel::Previous), "Up/Down  j/k", "select an agent and show its transcript"),
    also(NONE, K::Down, A::Travel(Travel::Next)),
    also(NONE, K::Char('k'), A::Travel(Travel::Previous)),
    also(NONE, K::Char('j'), A::Travel(Travel::Next)),
    row(NONE, K::Left, A::Tree(TreeKey::Less), "Left/Right  h/l", "show fewer or more of its sub-agents, or go there"),
    also(NONE, K::Right, A::Tree(TreeKey::More)),
    also(NONE, K::Char('h'), A::Tree(TreeKey::Less)),
    also(NONE, K::Char('l'), A::Tree(TreeKey::More)),
    row(NONE, K::Char(' '), A::Tree(TreeKey::Toggle), "Space", "fold its sub-agents into its row, or unfold them"),
    row(NONE, K::Char('/'), A::Tree(TreeKey::Filter), "/", "filter by name, persona, task or state"),
    row(NONE, K::Char('!'), A::Tree(TreeKey::NextWarned), "!", "next agent that needs attention"),
    row(NONE, K::Char('i'), A::Tree(TreeKey::Details), "i", "its task, persona, model, tools and budget"),
    row(NONE, K::Char('x'), A::Tree(TreeKey::Cancel), "x", "cancel this sub-agent; its parent goes on"),
    row(NONE, K::Char('X'), A::Tree(TreeKey::CancelAll), "X", "cancel it and every agent beneath it"),
    row(NONE, K::Home, A::Travel(Travel::First), "Home/End", "first or last agent"),
    also(NONE, K::End, A::Travel(Travel::Last)),
    row(NONE, K::Char('z'), A::Look(LookKey::Zoom), "z", "let it fill the screen above the message; again: back"),
    row(NONE, K::Char('<'), A::Look(LookKey::Smaller), "</>  =", "less, more or the usual room for it"),
    also(NONE, K::Char('>'), A::Look(LookKey::Larger)),
    also(NONE, K::Char('='), A::Look(LookKey::Usual)),
    row(NONE, K::Enter, A::FocusComposer, "Enter", "back to the message, the agent stays shown"),
    row(NONE, K::Char('u'), A::BringBack, "u", "bring back what a key removed"),
    row(NONE, K::Char('?'), A::Help, "?", "help"),
];
