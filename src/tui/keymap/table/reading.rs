//! The keys of what is read: the transcript, its search, a replay, the history.

use crate::tui::keymap::{
    Action as A, Binding, CTRL, LookKey, NONE, ReadKey, ReplayKey, SHIFT, SearchKey, Travel, TreeKey, WriteKey, also,
    row,
};
use crossterm::event::KeyCode as K;

pub const TRANSCRIPT: &[Binding] = &[
    row(
        NONE,
        K::Up,
        A::Travel(Travel::Previous),
        "Up/Down",
        "select a block; while lines are selected: move their end",
    ),
    also(NONE, K::Down, A::Travel(Travel::Next)),
    row(NONE, K::Enter, A::Read(ReadKey::Fold), "Enter  Space", "fold or open the block"),
    also(NONE, K::Char(' '), A::Read(ReadKey::Fold)),
    row(NONE, K::Char('/'), A::Read(ReadKey::Search), "/", "search the whole transcript, folded blocks too"),
    row(NONE, K::Char('n'), A::Read(ReadKey::NextFound), "n/N", "the next place that was found, the previous one"),
    also(NONE, K::Char('N'), A::Read(ReadKey::PreviousFound)),
    row(NONE, K::Char('['), A::Read(ReadKey::PreviousMessage), "[  ]", "your previous message, your next one"),
    also(NONE, K::Char(']'), A::Read(ReadKey::NextMessage)),
    row(NONE, K::Char('{'), A::Read(ReadKey::PreviousFailure), "{  }", "the previous failure, the next one"),
    also(NONE, K::Char('}'), A::Read(ReadKey::NextFailure)),
    row(NONE, K::Char('v'), A::Read(ReadKey::Select), "v", "select lines; Up, Down, PageUp, Home, [ … move their end"),
    row(NONE, K::Char('y'), A::Read(ReadKey::Copy), "y", "copy what is selected, else the text of the block"),
    row(NONE, K::Char('e'), A::Read(ReadKey::Open), "e  o", "open the whole block in $EDITOR"),
    also(NONE, K::Char('o'), A::Read(ReadKey::Open)),
    row(NONE, K::Char('w'), A::Read(ReadKey::Write), "w", "write the transcript into a file, as Markdown"),
    row(NONE, K::Char('t'), A::Read(ReadKey::Times), "t", "show when each block came and how long it took, or hide it"),
    row(
        NONE,
        K::Char('b'),
        A::Read(ReadKey::Branch),
        "b",
        "branch: a new session from just before the selected message, its text to be edited; asks first",
    ),
    row(NONE, K::Home, A::Travel(Travel::First), "Home/End", "top, or follow the end"),
    also(NONE, K::End, A::Travel(Travel::Last)),
    row(NONE, K::Char('z'), A::Look(LookKey::Zoom), "z", "let it fill the screen above the message; again: back"),
    row(NONE, K::Char('u'), A::BringBack, "u", "bring back what a key removed"),
    row(NONE, K::Char('!'), A::Tree(TreeKey::NextWarned), "!", "next agent that needs attention"),
    row(NONE, K::Char('i'), A::Tree(TreeKey::Details), "i", "task, persona, model, tools and budget of the agent"),
    row(NONE, K::Char('?'), A::Help, "?", "help"),
];

/// The keys of the search in a transcript.
pub const SEARCH: &[Binding] = &[
    row(NONE, K::Enter, A::Read(ReadKey::KeepSearch), "Enter", "stay where it led; n and N go on from there"),
    row(NONE, K::Tab, A::Read(ReadKey::NextFound), "Tab  Shift+Tab", "the next place, the previous one"),
    also(SHIFT, K::Tab, A::Read(ReadKey::PreviousFound)),
    row(NONE, K::Up, A::Read(ReadKey::Type(SearchKey::EarlierSearch)), "Up/Down", "earlier searches"),
    also(NONE, K::Down, A::Read(ReadKey::Type(SearchKey::LaterSearch))),
    row(
        NONE,
        K::Backspace,
        A::Read(ReadKey::Type(SearchKey::RubOut)),
        "Backspace  Ctrl+W/U",
        "delete a character, a word, or all before it",
    ),
    also(CTRL, K::Char('h'), A::Read(ReadKey::Type(SearchKey::RubOut))),
    also(CTRL, K::Char('w'), A::Read(ReadKey::Type(SearchKey::RubOutWord))),
    also(CTRL, K::Char('u'), A::Read(ReadKey::Type(SearchKey::RubOutAll))),
    row(
        NONE,
        K::Left,
        A::Read(ReadKey::Type(SearchKey::Left)),
        "Left/Right",
        "move the cursor; Home and End to the ends",
    ),
    also(NONE, K::Right, A::Read(ReadKey::Type(SearchKey::Right))),
    also(NONE, K::Home, A::Read(ReadKey::Type(SearchKey::Start))),
    also(NONE, K::End, A::Read(ReadKey::Type(SearchKey::End))),
];

/// The keys of the search of what was sent before.
pub const HISTORY: &[Binding] = &[
    row(NONE, K::Enter, A::Write(WriteKey::TakeText), "Enter", "take the text into the message; nothing is sent"),
    also(NONE, K::Tab, A::Write(WriteKey::TakeText)),
    row(NONE, K::Up, A::Travel(Travel::Previous), "Up/Down  Ctrl+R", "choose"),
    also(NONE, K::Down, A::Travel(Travel::Next)),
    also(CTRL, K::Char('r'), A::Write(WriteKey::Search)),
    row(
        NONE,
        K::Backspace,
        A::Write(WriteKey::RubOut),
        "Backspace  Ctrl+W  Ctrl+U",
        "delete a character, a word, or all",
    ),
    also(CTRL, K::Char('h'), A::Write(WriteKey::RubOut)),
    also(CTRL, K::Char('w'), A::Write(WriteKey::RubOutWord)),
    also(CTRL, K::Char('u'), A::Write(WriteKey::RubOutAll)),
];

pub const REPLAY: &[Binding] = &[
    row(NONE, K::Left, A::InReplay(ReplayKey::EventBack), "Left/Right", "the event before or after"),
    also(NONE, K::Right, A::InReplay(ReplayKey::EventOn)),
    row(SHIFT, K::Left, A::InReplay(ReplayKey::RoundBack), "Shift+Left/Right", "the round before or after"),
    also(SHIFT, K::Right, A::InReplay(ReplayKey::RoundOn)),
    row(CTRL, K::Left, A::InReplay(ReplayKey::TurnBack), "Ctrl+Left/Right", "the turn before or after"),
    also(CTRL, K::Right, A::InReplay(ReplayKey::TurnOn)),
    row(
        NONE,
        K::Char('['),
        A::InReplay(ReplayKey::MarkBack),
        "[ ]",
        "the message, failure or new agent before or after",
    ),
    also(NONE, K::Char(']'), A::InReplay(ReplayKey::MarkOn)),
    row(NONE, K::Home, A::InReplay(ReplayKey::First), "Home/End", "the beginning or the end"),
    also(NONE, K::End, A::InReplay(ReplayKey::Last)),
    row(NONE, K::Char(' '), A::InReplay(ReplayKey::Play), "Space", "play, or pause"),
    row(NONE, K::Char('+'), A::InReplay(ReplayKey::Faster), "+/-", "twice or half as fast, 1x to 64x"),
    also(NONE, K::Char('-'), A::InReplay(ReplayKey::Slower)),
    row(
        NONE,
        K::Char('g'),
        A::InReplay(ReplayKey::Time),
        "g",
        "type a time since the beginning, such as 2:30; Enter goes there",
    ),
    row(NONE, K::Char('q'), A::InReplay(ReplayKey::End), "q", "end the replay, as Esc"),
];
