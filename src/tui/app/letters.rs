//! Letters that were keys of a pane and turn out to be the start of a text: all of them are text then.
//!
//! Called by `tui::update` with each character that is a key outside the message. Always holds: what is remembered has
//! shown something and changed nothing else.

use jiff::{SignedDuration, Timestamp};

use crate::agents::AgentsPlace;
use crate::app::App;
use crate::keymap::Action;
use crate::state::Pane;
use steersman_base::limits;

/// Characters that came fast one after the other, each a key of a pane.
#[derive(Debug)]
pub struct LetterRun {
    letters: String,
    last: Timestamp,
    /// What the list of agents showed before the first.
    agents: AgentsPlace,
    zoom: Option<Pane>,
}

/// Remembers a character that is a key of a pane, before that is carried out; returns what it does: nothing but text where
/// it comes fast behind another and would do more than show something. A cancel is one, wherever it comes.
pub fn note(app: &mut App, letter: char, action: Option<Action>) -> Option<Action> {
    let wanted = action?;
    let going_on = app.letters.take().filter(|run| is_going_on(run, app.ui.now));
    let may_begin = wanted.only_shows() || wanted == Action::BringBack;
    if !may_begin {
        return action;
    }
    // A key that is pressed again and again is a key.
    let is_behind_others = going_on.as_ref().is_some_and(|run| run.letters.chars().any(|other| other != letter));
    if is_behind_others && !wanted.only_shows() {
        app.letters = going_on;
        return None;
    }
    let begun =
        || LetterRun { letters: String::new(), last: app.ui.now, agents: app.tree.place(), zoom: app.focus.zoom };
    let mut run = going_on.unwrap_or_else(begun);
    run.letters.push(letter);
    run.last = app.ui.now;
    app.letters = Some(run);
    action
}

/// Puts the characters before one that is no key into the message, and takes back what they did to the list of agents.
pub fn make_text(app: &mut App) {
    let Some(run) = app.letters.take().filter(|run| is_going_on(run, app.ui.now)) else { return };
    app.tree.go_back(run.agents, &app.ui.run.agents);
    app.focus.zoom = run.zoom;
    app.focus.go(Pane::Composer);
    for letter in run.letters.chars() {
        app.message.type_char(letter);
    }
}

fn is_going_on(run: &LetterRun, now: Timestamp) -> bool {
    let most = SignedDuration::try_from(limits::LETTER_PAUSE).unwrap_or(SignedDuration::ZERO);
    now.duration_since(run.last) <= most
}
