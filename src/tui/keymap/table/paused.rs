//! The keys of the panel of a paused agent.

use crate::tui::keymap::{Action as A, Binding, LookKey, NONE, also, row};
use crossterm::event::KeyCode as K;

pub const ROWS: &[Binding] = &[
    row(NONE, K::Enter, A::Step, "r  Enter", "run the call, or send the request, and wait again"),
    also(NONE, K::Char('r'), A::Step),
    row(NONE, K::Char('e'), A::EditCall, "e", "edit its arguments in the message; Enter runs it with them"),
    row(NONE, K::Char('s'), A::SkipCall, "s", "skip it; the model is told the reason that you write"),
    row(NONE, K::Char('g'), A::GoOn, "g", "let the agent go on"),
    row(NONE, K::Up, A::Previous, "Up/Down  k/j", "scroll the arguments"),
    also(NONE, K::Down, A::Next),
    also(NONE, K::Char('k'), A::Previous),
    also(NONE, K::Char('j'), A::Next),
    also(NONE, K::Home, A::First),
    also(NONE, K::End, A::Last),
    row(NONE, K::Char('z'), A::Look(LookKey::Zoom), "z", "let it fill the screen above the message; again: back"),
    row(NONE, K::Char('u'), A::BringBack, "u", "bring back what a key removed"),
    row(NONE, K::Char('?'), A::Help, "?", "help"),
];
