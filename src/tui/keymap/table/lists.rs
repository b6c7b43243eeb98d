//! The keys of the lists over the screen, and of the pending texts.

use crate::tui::keymap::{
    ALT, Action as A, Binding, CTRL, ChangesKey, ContextKey, JobsKey, LookKey, NONE, PendingKey, PlanKey, SHIFT,
    Travel, WriteKey, also, row,
};
use crossterm::event::KeyCode as K;

/// The keys of the pending list.
pub const PENDING: &[Binding] = &[
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

pub const LEDGER: &[Binding] = &[
    row(NONE, K::Up, A::Travel(Travel::Previous), "Up/Down  k/j", "select a text"),
    also(NONE, K::Down, A::Travel(Travel::Next)),
    also(NONE, K::Char('k'), A::Travel(Travel::Previous)),
    also(NONE, K::Char('j'), A::Travel(Travel::Next)),
    row(NONE, K::Home, A::Travel(Travel::First), "Home/End", "first or last"),
    also(NONE, K::End, A::Travel(Travel::Last)),
    row(NONE, K::Enter, A::Jump, "Enter", "show the text in the transcript"),
    row(NONE, K::Char('a'), A::JumpToAnswer, "a", "show the reply in which the model says what it did with the text"),
];

/// The keys of the list of changed files.
pub const CHANGES: &[Binding] = &[
    row(NONE, K::Up, A::Travel(Travel::Previous), "Up/Down  k/j", "select a file"),
    also(NONE, K::Down, A::Travel(Travel::Next)),
    also(NONE, K::Char('k'), A::Travel(Travel::Previous)),
    also(NONE, K::Char('j'), A::Travel(Travel::Next)),
    row(NONE, K::Home, A::Travel(Travel::First), "Home/End", "first or last file"),
    also(NONE, K::End, A::Travel(Travel::Last)),
    row(NONE, K::PageUp, A::Travel(Travel::PageUp), "PageUp/PageDown", "scroll the change"),
    also(NONE, K::PageDown, A::Travel(Travel::PageDown)),
    row(NONE, K::Left, A::InChanges(ChangesKey::EarlierTurn), "Left/Right  h/l", "one turn, or the whole session"),
    also(NONE, K::Right, A::InChanges(ChangesKey::LaterTurn)),
    also(NONE, K::Char('h'), A::InChanges(ChangesKey::EarlierTurn)),
    also(NONE, K::Char('l'), A::InChanges(ChangesKey::LaterTurn)),
    row(NONE, K::Char('a'), A::InChanges(ChangesKey::NextAgent), "a", "the changes of one agent, or of all"),
    row(NONE, K::Enter, A::InChanges(ChangesKey::Open), "Enter  o", "open the change in the editor"),
    also(NONE, K::Char('o'), A::InChanges(ChangesKey::Open)),
    row(NONE, K::Char('u'), A::InChanges(ChangesKey::UndoFile), "u", "take the file's changes back; asks first"),
    row(NONE, K::Char('U'), A::InChanges(ChangesKey::UndoTurn), "U", "take the shown turn back; asks first"),
];

pub const PLAN: &[Binding] = &[
    row(NONE, K::Up, A::Travel(Travel::Previous), "Up/Down  k/j", "select a step"),
    also(NONE, K::Down, A::Travel(Travel::Next)),
    also(NONE, K::Char('k'), A::Travel(Travel::Previous)),
    also(NONE, K::Char('j'), A::Travel(Travel::Next)),
    row(NONE, K::Home, A::Travel(Travel::First), "Home/End", "first or last step"),
    also(NONE, K::End, A::Travel(Travel::Last)),
    row(NONE, K::PageUp, A::Travel(Travel::PageUp), "PageUp/PageDown", "scroll"),
    also(NONE, K::PageDown, A::Travel(Travel::PageDown)),
    row(NONE, K::Char('a'), A::InPlan(PlanKey::Add), "a", "add a step behind the selected one"),
    row(NONE, K::Enter, A::InPlan(PlanKey::Edit), "Enter  e", "change its words, in the message"),
    also(NONE, K::Char('e'), A::InPlan(PlanKey::Edit)),
    row(NONE, K::Char(' '), A::InPlan(PlanKey::Check), "Space", "check it as done, or take that back"),
    row(NONE, K::Char('x'), A::InPlan(PlanKey::StrikeOut), "x", "strike it out, or take that back"),
    row(NONE, K::Char('K'), A::InPlan(PlanKey::MoveUp), "K/J  Alt+Up/Down", "move it up or down"),
    also(NONE, K::Char('J'), A::InPlan(PlanKey::MoveDown)),
    also(ALT, K::Up, A::InPlan(PlanKey::MoveUp)),
    also(ALT, K::Down, A::InPlan(PlanKey::MoveDown)),
    also(SHIFT, K::Up, A::InPlan(PlanKey::MoveUp)),
    also(SHIFT, K::Down, A::InPlan(PlanKey::MoveDown)),
    row(NONE, K::Tab, A::InPlan(PlanKey::NextAgent), "Tab", "the plan of the next agent that has one"),
    row(NONE, K::Char('?'), A::Help, "?", "help"),
];

/// The keys of the list of what fills a context window.
pub const WINDOW: &[Binding] = &[
    row(NONE, K::Up, A::Travel(Travel::Previous), "Up/Down  k/j", "select a part"),
    also(NONE, K::Down, A::Travel(Travel::Next)),
    also(NONE, K::Char('k'), A::Travel(Travel::Previous)),
    also(NONE, K::Char('j'), A::Travel(Travel::Next)),
    row(NONE, K::Home, A::Travel(Travel::First), "Home/End", "largest or smallest part"),
    also(NONE, K::End, A::Travel(Travel::Last)),
    row(NONE, K::PageUp, A::Travel(Travel::PageUp), "PageUp/PageDown", "a page up or down"),
    also(NONE, K::PageDown, A::Travel(Travel::PageDown)),
    row(
        NONE,
        K::Char('d'),
        A::InWindow(ContextKey::Drop),
        "d",
        "take the result out at the next boundary; again: leave it",
    ),
    row(NONE, K::Char('p'), A::InWindow(ContextKey::Pin), "p", "pin the result, a compaction keeps it; again: no more"),
    row(NONE, K::Char('a'), A::InWindow(ContextKey::NextAgent), "a", "the next agent"),
];

/// The keys of the list of jobs.
pub const JOBS: &[Binding] = &[
    row(NONE, K::Up, A::Travel(Travel::Previous), "Up/Down  k/j", "select a job; in its output: scroll"),
    also(NONE, K::Down, A::Travel(Travel::Next)),
    also(NONE, K::Char('k'), A::Travel(Travel::Previous)),
    also(NONE, K::Char('j'), A::Travel(Travel::Next)),
    row(
        NONE,
        K::Home,
        A::Travel(Travel::First),
        "Home/End",
        "first or last job; in its output: top, or follow the end",
    ),
    also(NONE, K::End, A::Travel(Travel::Last)),
    row(NONE, K::PageUp, A::Travel(Travel::PageUp), "PageUp/PageDown", "scroll the output"),
    also(NONE, K::PageDown, A::Travel(Travel::PageDown)),
    row(NONE, K::Enter, A::InJobs(JobsKey::Show), "Enter  o", "show the output alone, while it comes; again: the list"),
    also(NONE, K::Char('o'), A::InJobs(JobsKey::Show)),
    row(NONE, K::Char('x'), A::InJobs(JobsKey::Stop), "x", "stop the job; asks first"),
];

/// The keys of help; letters filter its list.
pub const HELP: &[Binding] = &[
    row(NONE, K::Up, A::Travel(Travel::Previous), "Up/Down  PageUp/PageDown", "select an entry; scroll"),
    also(NONE, K::Down, A::Travel(Travel::Next)),
    row(NONE, K::Home, A::Travel(Travel::First), "Home/End", "first or last; the pages of the manual are the last"),
    also(NONE, K::End, A::Travel(Travel::Last)),
    row(NONE, K::Enter, A::Jump, "Enter", "open the manual where it tells of the entry"),
    row(
        NONE,
        K::Backspace,
        A::Write(WriteKey::RubOut),
        "Backspace  Ctrl+W  Ctrl+U",
        "delete a character, a word, or all; on a page Backspace goes back to the list",
    ),
    also(CTRL, K::Char('h'), A::Write(WriteKey::RubOut)),
    also(CTRL, K::Char('w'), A::Write(WriteKey::RubOutWord)),
    also(CTRL, K::Char('u'), A::Write(WriteKey::RubOutAll)),
];

/// The keys of a list of sessions, messages or servers; letters filter it.
pub const CHOICES: &[Binding] = &[
    row(
        NONE,
        K::Up,
        A::Travel(Travel::Previous),
        "Up/Down  PageUp/PageDown",
        "select a session, a message or a server",
    ),
    also(NONE, K::Down, A::Travel(Travel::Next)),
    row(NONE, K::Home, A::Travel(Travel::First), "Home/End", "first or last"),
    also(NONE, K::End, A::Travel(Travel::Last)),
    row(
        NONE,
        K::Enter,
        A::Jump,
        "Enter",
        "go on with the session; branch from just before the message; start the MCP server",
    ),
    row(
        NONE,
        K::Backspace,
        A::Write(WriteKey::RubOut),
        "Backspace  Ctrl+W  Ctrl+U",
        "delete a character, a word, or all of the filter",
    ),
    also(CTRL, K::Char('h'), A::Write(WriteKey::RubOut)),
    also(CTRL, K::Char('w'), A::Write(WriteKey::RubOutWord)),
    also(CTRL, K::Char('u'), A::Write(WriteKey::RubOutAll)),
];
