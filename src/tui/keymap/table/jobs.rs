//! The keys of the list of jobs.

use crate::tui::keymap::{Action as A, Binding, JobsKey as J, NONE, Travel, also, row};
use crossterm::event::KeyCode as K;

pub const ROWS: &[Binding] = &[
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
    row(NONE, K::Enter, A::InJobs(J::Show), "Enter  o", "show the output alone, while it comes; again: the list"),
    also(NONE, K::Char('o'), A::InJobs(J::Show)),
    row(NONE, K::Char('x'), A::InJobs(J::Stop), "x", "stop the job; asks first"),
];
