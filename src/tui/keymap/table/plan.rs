//! The keys of the plan.

use crate::tui::keymap::{ALT, Action as A, Binding, NONE, PlanKey as P, SHIFT, Travel, also, row};
use crossterm::event::KeyCode as K;

pub const ROWS: &[Binding] = &[
    row(NONE, K::Up, A::Travel(Travel::Previous), "Up/Down  k/j", "select a step"),
    also(NONE, K::Down, A::Travel(Travel::Next)),
    also(NONE, K::Char('k'), A::Travel(Travel::Previous)),
    also(NONE, K::Char('j'), A::Travel(Travel::Next)),
    row(NONE, K::Home, A::Travel(Travel::First), "Home/End", "first or last step"),
    also(NONE, K::End, A::Travel(Travel::Last)),
    row(NONE, K::PageUp, A::Travel(Travel::PageUp), "PageUp/PageDown", "scroll"),
    also(NONE, K::PageDown, A::Travel(Travel::PageDown)),
    row(NONE, K::Char('a'), A::InPlan(P::Add), "a", "add a step behind the selected one"),
    row(NONE, K::Enter, A::InPlan(P::Edit), "Enter  e", "change its words, in the message"),
    also(NONE, K::Char('e'), A::InPlan(P::Edit)),
    row(NONE, K::Char(' '), A::InPlan(P::Check), "Space", "check it as done, or take that back"),
    row(NONE, K::Char('x'), A::InPlan(P::StrikeOut), "x", "strike it out, or take that back"),
    row(NONE, K::Char('K'), A::InPlan(P::MoveUp), "K/J  Alt+Up/Down", "move it up or down"),
    also(NONE, K::Char('J'), A::InPlan(P::MoveDown)),
    also(ALT, K::Up, A::InPlan(P::MoveUp)),
    also(ALT, K::Down, A::InPlan(P::MoveDown)),
    also(SHIFT, K::Up, A::InPlan(P::MoveUp)),
    also(SHIFT, K::Down, A::InPlan(P::MoveDown)),
    row(NONE, K::Tab, A::InPlan(P::NextAgent), "Tab", "the plan of the next agent that has one"),
    row(NONE, K::Char('?'), A::Help, "?", "help"),
];
