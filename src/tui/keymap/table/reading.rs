//! The keys of what is read: the transcript, its search, a replay, the history.

use super::{TableRow, also, key, row};
use crate::keymap::{Action as A, LookKey, ReadKey, ReplayKey, SearchKey, Travel, TreeKey, WriteKey};

pub const TRANSCRIPT: &[TableRow] = &[
    row("Up", A::Travel(Travel::Previous), "Up/Down", "select a block; while lines are selected: move their end"),
    also("Down", A::Travel(Travel::Next)),
    key("Enter  Space", A::Read(ReadKey::Fold), "fold or open the block"),
    key("/", A::Read(ReadKey::Search), "search the whole transcript, folded blocks too"),
    row("n", A::Read(ReadKey::NextFound), "n/N", "the next place that was found, the previous one"),
    also("N", A::Read(ReadKey::PreviousFound)),
    row("[", A::Read(ReadKey::PreviousMessage), "[  ]", "your previous message, your next one"),
    also("]", A::Read(ReadKey::NextMessage)),
    row("{", A::Read(ReadKey::PreviousFailure), "{  }", "the previous failure, the next one"),
    also("}", A::Read(ReadKey::NextFailure)),
    key("v", A::Read(ReadKey::Select), "select lines; Up, Down, PageUp, Home, [ … move their end"),
    key("y", A::Read(ReadKey::Copy), "copy what is selected, else the text of the block"),
    key("e  o", A::Read(ReadKey::Open), "open the whole block in $EDITOR"),
    key("w", A::Read(ReadKey::Write), "write the transcript into a file, as Markdown"),
    key("t", A::Read(ReadKey::Times), "show when each block came and how long it took, or hide it"),
    key(
        "b",
        A::Read(ReadKey::Branch),
        "branch: a new session from just before the selected message, its text to be edited; asks first",
    ),
    row("Home", A::Travel(Travel::First), "Home/End", "top, or follow the end"),
    also("End", A::Travel(Travel::Last)),
    key("z", A::Look(LookKey::Zoom), "let it fill the screen above the message; again: back"),
    key("u", A::BringBack, "bring back what a key removed"),
    key("!", A::Tree(TreeKey::NextWarned), "next agent that needs attention"),
    key("i", A::Tree(TreeKey::Details), "task, persona, model, tools and budget of the agent"),
    key("?", A::Help, "help"),
];

/// The keys of the search in a transcript.
pub const SEARCH: &[TableRow] = &[
    key("Enter", A::Read(ReadKey::KeepSearch), "stay where it led; n and N go on from there"),
    row("Tab", A::Read(ReadKey::NextFound), "Tab  Shift+Tab", "the next place, the previous one"),
    also("Shift+Tab", A::Read(ReadKey::PreviousFound)),
    row("Up", A::Read(ReadKey::Type(SearchKey::EarlierSearch)), "Up/Down", "earlier searches"),
    also("Down", A::Read(ReadKey::Type(SearchKey::LaterSearch))),
    row(
        "Backspace  Ctrl+H",
        A::Read(ReadKey::Type(SearchKey::RubOut)),
        "Backspace  Ctrl+W/U",
        "delete a character, a word, or all before it",
    ),
    also("Ctrl+W", A::Read(ReadKey::Type(SearchKey::RubOutWord))),
    also("Ctrl+U", A::Read(ReadKey::Type(SearchKey::RubOutAll))),
    row("Left", A::Read(ReadKey::Type(SearchKey::Left)), "Left/Right", "move the cursor; Home and End to the ends"),
    also("Right", A::Read(ReadKey::Type(SearchKey::Right))),
    also("Home", A::Read(ReadKey::Type(SearchKey::Start))),
    also("End", A::Read(ReadKey::Type(SearchKey::End))),
];

/// The keys of the search of what was sent before.
pub const HISTORY: &[TableRow] = &[
    row("Enter  Tab", A::Write(WriteKey::TakeText), "Enter", "take the text into the message; nothing is sent"),
    row("Up", A::Travel(Travel::Previous), "Up/Down  Ctrl+R", "choose"),
    also("Down", A::Travel(Travel::Next)),
    also("Ctrl+R", A::Write(WriteKey::Search)),
    row(
        "Backspace  Ctrl+H",
        A::Write(WriteKey::RubOut),
        "Backspace  Ctrl+W  Ctrl+U",
        "delete a character, a word, or all",
    ),
    also("Ctrl+W", A::Write(WriteKey::RubOutWord)),
    also("Ctrl+U", A::Write(WriteKey::RubOutAll)),
];

pub const REPLAY: &[TableRow] = &[
    row("Left", A::InReplay(ReplayKey::EventBack), "Left/Right", "the event before or after"),
    also("Right", A::InReplay(ReplayKey::EventOn)),
    row("Shift+Left", A::InReplay(ReplayKey::RoundBack), "Shift+Left/Right", "the round before or after"),
    also("Shift+Right", A::InReplay(ReplayKey::RoundOn)),
    row("Ctrl+Left", A::InReplay(ReplayKey::TurnBack), "Ctrl+Left/Right", "the turn before or after"),
    also("Ctrl+Right", A::InReplay(ReplayKey::TurnOn)),
    row("[", A::InReplay(ReplayKey::MarkBack), "[ ]", "the message, failure or new agent before or after"),
    also("]", A::InReplay(ReplayKey::MarkOn)),
    row("Home", A::InReplay(ReplayKey::First), "Home/End", "the beginning or the end"),
    also("End", A::InReplay(ReplayKey::Last)),
    key("Space", A::InReplay(ReplayKey::Play), "play, or pause"),
    row("+", A::InReplay(ReplayKey::Faster), "+/-", "twice or half as fast, 1x to 64x"),
    also("-", A::InReplay(ReplayKey::Slower)),
    key("g", A::InReplay(ReplayKey::Time), "type a time since the beginning, such as 2:30; Enter goes there"),
    key("q", A::InReplay(ReplayKey::End), "end the replay, as Esc"),
];
