//! The keys of the agents: their list with its filter, the details, the panel of a paused one.

use super::{TableRow, also, key, row};
use crate::keymap::{Action as A, LookKey, PauseKey, Travel, TreeKey};

/// The keys of the agent tree.
pub const LIST: &[TableRow] = &[
    row("Up  k", A::Travel(Travel::Previous), "Up/Down  j/k", "select an agent and show its transcript"),
    also("Down  j", A::Travel(Travel::Next)),
    row("Left  h", A::Tree(TreeKey::Less), "Left/Right  h/l", "show fewer or more of its sub-agents, or go there"),
    also("Right  l", A::Tree(TreeKey::More)),
    key("Space", A::Tree(TreeKey::Toggle), "fold its sub-agents into its row, or unfold them"),
    key("/", A::Tree(TreeKey::Filter), "filter by name, persona, task or state"),
    key("!", A::Tree(TreeKey::NextWarned), "next agent that needs attention"),
    key("i", A::Tree(TreeKey::Details), "its task, persona, model, tools and budget"),
    key("x", A::Tree(TreeKey::Cancel), "cancel this sub-agent; its parent goes on"),
    key("X", A::Tree(TreeKey::CancelAll), "cancel it and every agent beneath it"),
    row("Home", A::Travel(Travel::First), "Home/End", "first or last agent"),
    also("End", A::Travel(Travel::Last)),
    key("z", A::Look(LookKey::Zoom), "let it fill the screen above the message; again: back"),
    row("<", A::Look(LookKey::Smaller), "</>  =", "less, more or the usual room for it"),
    also(">", A::Look(LookKey::Larger)),
    also("=", A::Look(LookKey::Usual)),
    key("Enter", A::FocusComposer, "back to the message, the agent stays shown"),
    key("u", A::BringBack, "bring back what a key removed"),
    key("?", A::Help, "help"),
];

/// The keys of the agent tree's filter.
pub const FILTER: &[TableRow] = &[
    key("Enter", A::Tree(TreeKey::KeepFilter), "keep the filter and go to the agents"),
    row("Backspace  Ctrl+H", A::Tree(TreeKey::RubOut), "Backspace  Ctrl+U", "delete a character, or all"),
    also("Ctrl+U", A::Tree(TreeKey::RubOutAll)),
    row("Up", A::Travel(Travel::Previous), "Up/Down", "select an agent"),
    also("Down", A::Travel(Travel::Next)),
];

/// The keys of the details of the shown agent.
pub const DETAILS: &[TableRow] = &[
    row("Up  k", A::Travel(Travel::Previous), "Up/Down  k/j", "scroll"),
    also("Down  j", A::Travel(Travel::Next)),
    row("Home", A::Travel(Travel::First), "Home/End", "first or last line"),
    also("End", A::Travel(Travel::Last)),
    key("i", A::Tree(TreeKey::Details), "fold them"),
    key("z", A::Look(LookKey::Zoom), "let them fill the screen above the message; again: back"),
    row("<", A::Look(LookKey::Smaller), "</>  =", "less, more or the usual room"),
    also(">", A::Look(LookKey::Larger)),
    also("=", A::Look(LookKey::Usual)),
    key("Enter", A::FocusComposer, "back to the message"),
    key("u", A::BringBack, "bring back what a key removed"),
    key("?", A::Help, "help"),
];

/// The keys of the panel of a paused agent.
pub const PAUSED: &[TableRow] = &[
    row("Enter  r", A::Pause(PauseKey::Step), "r  Enter", "run the call, or send the request, and wait again"),
    key("e", A::Pause(PauseKey::EditCall), "edit its arguments in the message; Enter runs it with them"),
    key("s", A::Pause(PauseKey::SkipCall), "skip it; the model is told the reason that you write"),
    key("g", A::Pause(PauseKey::GoOn), "let the agent go on"),
    row("Up  k", A::Travel(Travel::Previous), "Up/Down  k/j", "scroll the arguments"),
    also("Down  j", A::Travel(Travel::Next)),
    also("Home", A::Travel(Travel::First)),
    also("End", A::Travel(Travel::Last)),
    key("z", A::Look(LookKey::Zoom), "let it fill the screen above the message; again: back"),
    key("u", A::BringBack, "bring back what a key removed"),
    key("?", A::Help, "help"),
];
