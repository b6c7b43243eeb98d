//! The keys of the panel of a paused agent.

use crate::tui::keymap::{Action as A, Binding, LookKey, NONE, PauseKey, Travel, also, row};
use crossterm::event::KeyCode as K;

pub const ROWS: &[Binding] = &[
    row(NONE, K::Enter, A::Pause(PauseKey::Step), "r  Enter", "run the call, or send the request, and wait again"),
    also(NONE, K::Char('r'), A::Pause(PauseKey::Step)),
    row(
        NONE,
        K::Char('e'),
        A::Pause(PauseKey::EditCall),
        "e",
        "edit its arguments in the message; Enter runs it with them",
    ),
    row(NONE, K::Char('s'), A::Pause(PauseKey::SkipCall), "s", "skip it; the model is told the reason that you write"),
    row(NONE, K::Char('g'), A::Pause(PauseKey::GoOn), "g", "let the agent go on"),
    row(NONE, K::Up, A::Travel(Travel::Previous), "Up/Down  k/j", "scroll the arguments"),
    also(NONE, K::Down, A::Travel(Travel::Next)),
    also(NONE, K::Char('k'), A::Travel(Travel::Previous)),
    also(NONE, K::Char('j'), A::Travel(Travel::Next)),
    also(NONE, K::Home, A::Travel(Travel::First)),
    also(NONE, K::End, A::Travel(Travel::Last)),
    row(NONE, K::Char('z'), A::Look(LookKey::Zoom), "z", "let it fill the screen above the message; again: back"),
    row(NONE, K::Char('u'), A::BringBack, "u", "bring back what a key removed"),
    row(NONE, K::Char('?'), A::Help, "?", "help"),
];
