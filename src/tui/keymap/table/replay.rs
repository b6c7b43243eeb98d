//! The keys of a replay.

use crate::tui::keymap::{Action as A, Binding, CTRL, NONE, ReplayKey as R, SHIFT, also, row};
use crossterm::event::KeyCode as K;

pub const ROWS: &[Binding] = &[
    row(NONE, K::Left, A::InReplay(R::EventBack), "Left/Right", "the event before or after"),
    also(NONE, K::Right, A::InReplay(R::EventOn)),
    row(SHIFT, K::Left, A::InReplay(R::RoundBack), "Shift+Left/Right", "the round before or after"),
    also(SHIFT, K::Right, A::InReplay(R::RoundOn)),
    row(CTRL, K::Left, A::InReplay(R::TurnBack), "Ctrl+Left/Right", "the turn before or after"),
    also(CTRL, K::Right, A::InReplay(R::TurnOn)),
    row(NONE, K::Char('['), A::InReplay(R::MarkBack), "[ ]", "the message, failure or new agent before or after"),
    also(NONE, K::Char(']'), A::InReplay(R::MarkOn)),
    row(NONE, K::Home, A::InReplay(R::First), "Home/End", "the beginning or the end"),
    also(NONE, K::End, A::InReplay(R::Last)),
    row(NONE, K::Char(' '), A::InReplay(R::Play), "Space", "play, or pause"),
    row(NONE, K::Char('+'), A::InReplay(R::Faster), "+/-", "twice or half as fast, 1x to 64x"),
    also(NONE, K::Char('-'), A::InReplay(R::Slower)),
    row(
        NONE,
        K::Char('g'),
        A::InReplay(R::Time),
        "g",
        "type a time since the beginning, such as 2:30; Enter goes there",
    ),
    row(NONE, K::Char('q'), A::InReplay(R::End), "q", "end the replay, as Esc"),
];
