//! The keys of the lists over the screen, and of the pending texts.

use super::{TableRow, also, key, row};
use crate::keymap::{Action as A, ChangesKey, ContextKey, LookKey, PendingKey, PlanKey, Travel, WriteKey};

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

pub const LEDGER: &[TableRow] = &[
    row("Up  k", A::Travel(Travel::Previous), "Up/Down  k/j", "select a text"),
    also("Down  j", A::Travel(Travel::Next)),
    row("Home", A::Travel(Travel::First), "Home/End", "first or last"),
    also("End", A::Travel(Travel::Last)),
    key("Enter", A::Jump, "show the text in the transcript"),
    key("a", A::JumpToAnswer, "show the reply in which the model says what it did with the text"),
];

/// The keys of the list of changed files.
pub const CHANGES: &[TableRow] = &[
    row("Up  k", A::Travel(Travel::Previous), "Up/Down  k/j", "select a file"),
    also("Down  j", A::Travel(Travel::Next)),
    row("Home", A::Travel(Travel::First), "Home/End", "first or last file"),
    also("End", A::Travel(Travel::Last)),
    row("PageUp", A::Travel(Travel::PageUp), "PageUp/PageDown", "scroll the change"),
    also("PageDown", A::Travel(Travel::PageDown)),
    row("Left  h", A::InChanges(ChangesKey::EarlierTurn), "Left/Right  h/l", "one turn, or the whole session"),
    also("Right  l", A::InChanges(ChangesKey::LaterTurn)),
    key("a", A::InChanges(ChangesKey::NextAgent), "the changes of one agent, or of all"),
    key("Enter  o", A::InChanges(ChangesKey::Open), "open the change in the editor"),
    key("u", A::InChanges(ChangesKey::UndoFile), "take the file's changes back; asks first"),
    key("U", A::InChanges(ChangesKey::UndoTurn), "take the shown turn back; asks first"),
];

pub const PLAN: &[TableRow] = &[
    row("Up  k", A::Travel(Travel::Previous), "Up/Down  k/j", "select a step"),
    also("Down  j", A::Travel(Travel::Next)),
    row("Home", A::Travel(Travel::First), "Home/End", "first or last step"),
    also("End", A::Travel(Travel::Last)),
    row("PageUp", A::Travel(Travel::PageUp), "PageUp/PageDown", "scroll"),
    also("PageDown", A::Travel(Travel::PageDown)),
    key("a", A::InPlan(PlanKey::Add), "add a step behind the selected one"),
    key("Enter  e", A::InPlan(PlanKey::Edit), "change its words, in the message"),
    key("Space", A::InPlan(PlanKey::Check), "check it as done, or take that back"),
    key("x", A::InPlan(PlanKey::StrikeOut), "strike it out, or take that back"),
    row("K  Alt+Up  Shift+Up", A::InPlan(PlanKey::MoveUp), "K/J  Alt+Up/Down", "move it up or down"),
    also("J  Alt+Down  Shift+Down", A::InPlan(PlanKey::MoveDown)),
    key("Tab", A::InPlan(PlanKey::NextAgent), "the plan of the next agent that has one"),
    key("?", A::Help, "help"),
];

/// The keys of the list of what fills a context window.
pub const WINDOW: &[TableRow] = &[
    row("Up  k", A::Travel(Travel::Previous), "Up/Down  k/j", "select a part"),
    also("Down  j", A::Travel(Travel::Next)),
    row("Home", A::Travel(Travel::First), "Home/End", "largest or smallest part"),
    also("End", A::Travel(Travel::Last)),
    row("PageUp", A::Travel(Travel::PageUp), "PageUp/PageDown", "a page up or down"),
    also("PageDown", A::Travel(Travel::PageDown)),
    key("d", A::InWindow(ContextKey::Drop), "take the result out at the next boundary; again: leave it"),
    key("p", A::InWindow(ContextKey::Pin), "pin the result, a compaction keeps it; again: no more"),
    key("a", A::InWindow(ContextKey::NextAgent), "the next agent"),
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
