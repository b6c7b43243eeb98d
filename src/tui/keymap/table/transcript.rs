//! The keys of the transcript.

use crate::tui::keymap::{Action as A, Binding, LookKey, NONE, ReadKey as R, Travel, TreeKey, also, row};
use crossterm::event::KeyCode as K;

pub const ROWS: &[Binding] = &[
    row(
        NONE,
        K::Up,
        A::Travel(Travel::Previous),
        "Up/Down",
        "select a block; while lines are selected: move their end",
    ),
    also(NONE, K::Down, A::Travel(Travel::Next)),
    row(NONE, K::Enter, A::Read(R::Fold), "Enter  Space", "fold or open the block"),
    also(NONE, K::Char(' '), A::Read(R::Fold)),
    row(NONE, K::Char('/'), A::Read(R::Search), "/", "search the whole transcript, folded blocks too"),
    row(NONE, K::Char('n'), A::Read(R::NextFound), "n/N", "the next place that was found, the previous one"),
    also(NONE, K::Char('N'), A::Read(R::PreviousFound)),
    row(NONE, K::Char('['), A::Read(R::PreviousMessage), "[  ]", "your previous message, your next one"),
    also(NONE, K::Char(']'), A::Read(R::NextMessage)),
    row(NONE, K::Char('{'), A::Read(R::PreviousFailure), "{  }", "the previous failure, the next one"),
    also(NONE, K::Char('}'), A::Read(R::NextFailure)),
    row(NONE, K::Char('v'), A::Read(R::Select), "v", "select lines; Up, Down, PageUp, Home, [ … move their end"),
    row(NONE, K::Char('y'), A::Read(R::Copy), "y", "copy what is selected, else the text of the block"),
    row(NONE, K::Char('e'), A::Read(R::Open), "e  o", "open the whole block in $EDITOR"),
    also(NONE, K::Char('o'), A::Read(R::Open)),
    row(NONE, K::Char('w'), A::Read(R::Write), "w", "write the transcript into a file, as Markdown"),
    row(NONE, K::Char('t'), A::Read(R::Times), "t", "show when each block came and how long it took, or hide it"),
    row(
        NONE,
        K::Char('b'),
        A::Read(R::Branch),
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
