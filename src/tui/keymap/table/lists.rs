//! The keys of the lists over the screen, and of the pending texts.

use super::{TableRow, also, key, row};
use crate::keymap::{Action as A, LookKey, PendingKey, Travel, WriteKey};

/// The keys of the pending list.
pub const PENDING: &[TableRow] = &[
    row("Up  k", A::Travel(Travel::Previous), "Up/Down  k/j", "select a pending text"),
    also("Down  j", A::Travel(Travel::Next)),
    row("Home", A::Travel(Travel::First), "Home/End", "first or last"),
    also("End", A::Travel(Travel::Last)),
    key("Enter  e", A::Pending(PendingKey::Edit), "edit it; it is not delivered meanwhile"),
    key("d", A::Pending(PendingKey::Delete), "delete it"),
    key("u", A::BringBack, "bring back what a key removed"),
    row("K", A::Pending(PendingKey::MoveEarlier), "K/J", "move it up or down"),
    also("J", A::Pending(PendingKey::MoveLater)),
    row("f", A::Pending(PendingKey::AsFollowUp), "f/s", "make it a follow-up, or a steer"),
    also("s", A::Pending(PendingKey::AsSteer)),
    key("v", A::Pending(PendingKey::NextKind), "what it is: add to the task, instead of it, a note, a rule"),
    key("m", A::Pending(PendingKey::Merge), "join it with the next"),
    key("z", A::Look(LookKey::Zoom), "let it fill the screen above the message; again: back"),
    key("F5", A::Pending(PendingKey::DeliverNow), "deliver it now, in place of the answer being written"),
    key("?", A::Help, "help"),
];

/// The keys of help; letters filter its list.
pub const HELP: &[TableRow] = &[
    row("Up", A::Travel(Travel::Previous), "Up/Down  PageUp/PageDown", "select an entry; scroll"),
    also("Down", A::Travel(Travel::Next)),
    row("Home", A::Travel(Travel::First), "Home/End", "first or last; the pages of the manual are the last"),
    also("End", A::Travel(Travel::Last)),
    key("Enter", A::Jump, "open the manual where it tells of the entry"),
    row(
        "Backspace  Ctrl+H",
        A::Write(WriteKey::RubOut),
        "Backspace  Ctrl+W  Ctrl+U",
        "delete a character, a word, or all; on a page Backspace goes back to the list",
    ),
    also("Ctrl+W", A::Write(WriteKey::RubOutWord)),
    also("Ctrl+U", A::Write(WriteKey::RubOutAll)),
];

/// The keys of a list of sessions, messages or servers; letters filter it.
pub const CHOICES: &[TableRow] = &[
    row("Up", A::Travel(Travel::Previous), "Up/Down  PageUp/PageDown", "select a session, a message or a server"),
    also("Down", A::Travel(Travel::Next)),
    row("Home", A::Travel(Travel::First), "Home/End", "first or last"),
    also("End", A::Travel(Travel::Last)),
    key("Enter", A::Jump, "go on with the session; branch from just before the message; start the MCP server"),
    row(
        "Backspace  Ctrl+H",
        A::Write(WriteKey::RubOut),
        "Backspace  Ctrl+W  Ctrl+U",
        "delete a character, a word, or all of the filter",
    ),
    also("Ctrl+W", A::Write(WriteKey::RubOutWord)),
    also("Ctrl+U", A::Write(WriteKey::RubOutAll)),
];
