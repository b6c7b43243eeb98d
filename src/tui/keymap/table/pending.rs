//! The keys of the pending list.

use crate::tui::keymap::{Action as A, Binding, LookKey, NONE, PendingKey, Travel, also, row};
use crossterm::event::KeyCode as K;

pub const ROWS: &[Binding] = &[
    row(NONE, K::Up, A::Travel(Travel::Previous), "Up/Down  k/j", "select a pending text"),
    also(NONE, K::Down, A::Travel(Travel::Next)),
    also(NONE, K::Char('k'), A::Travel(Travel::Previous)),
    also(NONE, K::Char('j'), A::Travel(Travel::Next)),
    row(NONE, K::Home, A::Travel(Travel::First), "Home/End", "first or last"),
    also(NONE, K::End, A::Travel(Travel::Last)),
    row(NONE, K::Enter, A::Pending(PendingKey::Edit), "Enter  e", "edit it; it is not delivered meanwhile"),
    also(NONE, K::Char('e'), A::Pending(PendingKey::Edit)),
    row(NONE, K::Char('d'), A::Pending(PendingKey::Delete), "d", "delete it"),
    row(NONE, K::Char('u'), A::BringBack, "u", "bring back what a key removed"),
    row(NONE, K::Char('K'), A::Pending(PendingKey::MoveEarlier), "K/J", "move it up or down"),
    also(NONE, K::Char('J'), A::Pending(PendingKey::MoveLater)),
    row(NONE, K::Char('f'), A::Pending(PendingKey::AsFollowUp), "f/s", "make it a follow-up, or a steer"),
    also(NONE, K::Char('s'), A::Pending(PendingKey::AsSteer)),
    row(
        NONE,
        K::Char('v'),
        A::Pending(PendingKey::NextKind),
        "v",
        "what it is: add to the task, instead of it, a note, a rule",
    ),
    row(NONE, K::Char('m'), A::Pending(PendingKey::Merge), "m", "join it with the next"),
    row(NONE, K::Char('z'), A::Look(LookKey::Zoom), "z", "let it fill the screen above the message; again: back"),
    row(
        NONE,
        K::F(5),
        A::Pending(PendingKey::DeliverNow),
        "F5",
        "deliver it now, in place of the answer being written",
    ),
    row(NONE, K::Char('?'), A::Help, "?", "help"),
];
