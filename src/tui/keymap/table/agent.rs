//! The keys of the agents: their list with its filter, the details, the panel of a paused one.

use crate::tui::keymap::{Action as A, Binding, CTRL, LookKey, NONE, PauseKey, Travel, TreeKey, also, row};
use crossterm::event::KeyCode as K;

/// The keys of the agent tree.
pub const LIST: &[Binding] = &[
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

/// The keys of the agent tree's filter.
pub const FILTER: &[Binding] = &[
    row(NONE, K::Enter, A::Tree(TreeKey::KeepFilter), "Enter", "keep the filter and go to the agents"),
    row(NONE, K::Backspace, A::Tree(TreeKey::RubOut), "Backspace  Ctrl+U", "delete a character, or all"),
    also(CTRL, K::Char('h'), A::Tree(TreeKey::RubOut)),
    also(CTRL, K::Char('u'), A::Tree(TreeKey::RubOutAll)),
    row(NONE, K::Up, A::Travel(Travel::Previous), "Up/Down", "select an agent"),
    also(NONE, K::Down, A::Travel(Travel::Next)),
];

/// The keys of the details of the shown agent.
pub const DETAILS: &[Binding] = &[
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

/// The keys of the panel of a paused agent.
pub const PAUSED: &[Binding] = &[
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
