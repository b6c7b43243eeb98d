//! The keys of the pending list.

use crate::tui::keymap::{Action as A, Binding, LookKey, NONE, also, row};
use crossterm::event::KeyCode as K;

pub const ROWS: &[Binding] = &[
    row(NONE, K::Up, A::Previous, "Up/Down  k/j", "select a pending text"),
    also(NONE, K::Down, A::Next),
    also(NONE, K::Char('k'), A::Previous),
    also(NONE, K::Char('j'), A::Next),
    row(NONE, K::Home, A::First, "Home/End", "first or last"),
    also(NONE, K::End, A::Last),
    row(NONE, K::Enter, A::EditEntry, "Enter  e", "edit it; it is not delivered meanwhile"),
    also(NONE, K::Char('e'), A::EditEntry),
    row(NONE, K::Char('d'), A::DeleteEntry, "d", "delete it"),
    row(NONE, K::Char('u'), A::BringBack, "u", "bring back what a key removed"),
    row(NONE, K::Char('K'), A::MoveEarlier, "K/J", "move it up or down"),
    also(NONE, K::Char('J'), A::MoveLater),
    row(NONE, K::Char('f'), A::AsFollowUp, "f/s", "make it a follow-up, or a steer"),
    also(NONE, K::Char('s'), A::AsSteer),
    row(NONE, K::Char('v'), A::NextKind, "v", "what it is: add to the task, instead of it, a note, a rule"),
    row(NONE, K::Char('m'), A::Merge, "m", "join it with the next"),
    row(NONE, K::Char('z'), A::Look(LookKey::Zoom), "z", "let it fill the screen above the message; again: back"),
    row(NONE, K::F(5), A::DeliverNow, "F5", "deliver it now, in place of the answer being written"),
    row(NONE, K::Char('?'), A::Help, "?", "help"),
];
