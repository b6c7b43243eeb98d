//! The keys of the search of the history. Always holds: the message is as it was until a text is taken.

use super::{editing, recall};
use crate::tui::fuzzy::Hits;
use crate::tui::keymap::{Action, WriteKey};
use crate::tui::msg::Effect;
use crate::tui::state::App;
use crate::tui::state::focus::Pane;
use crate::tui::state::hunt::Hunt;
use crate::tui::state::lines::Medium;

/// Opens the search; where it is open, goes to the next match.
pub fn open(app: &mut App, query: &str) -> Vec<Effect> {
    if let Some(hunt) = &mut app.hunt {
        hunt.next();
        return Vec::new();
    }
    if app.medium == Medium::Lines || editing::blocked(app) {
        return Vec::new();
    }
    app.focus.go(Pane::History);
    app.hunt = Some(Hunt::new(app.history.newest_first(), query.to_owned()));
    seek(app)
}

/// Types into the search.
pub fn type_text(app: &mut App, text: &str) -> Vec<Effect> {
    let Some(hunt) = &mut app.hunt else { return Vec::new() };
    hunt.query.extend(text.chars().map(|c| if c.is_control() { ' ' } else { c }));
    seek(app)
}

/// Carries out a key of the search.
pub fn act(app: &mut App, key: WriteKey) -> Vec<Effect> {
    use unicode_segmentation::UnicodeSegmentation;

    let Some(hunt) = &mut app.hunt else { return Vec::new() };
    let query = &hunt.query;
    let kept = match key {
        WriteKey::RubOut => query.grapheme_indices(true).next_back().map_or(0, |(at, _)| at),
        WriteKey::RubOutWord => query.trim_end().rfind(' ').map_or(0, |at| at + 1),
        WriteKey::RubOutAll => 0,
        WriteKey::TakeText => {
            take(app);
            return Vec::new();
        }
        WriteKey::Redo | WriteKey::Expand | WriteKey::Search => return Vec::new(),
    };
    hunt.query.truncate(kept);
    seek(app)
}

/// Goes to another match.
pub fn travel(app: &mut App, action: Action) {
    let Some(hunt) = &mut app.hunt else { return };
    match action {
        Action::Previous => hunt.previous(),
        Action::Next => hunt.next(),
        _ => {}
    }
}

/// Takes an answer.
pub fn found(app: &mut App, found: Hits) {
    if let Some(hunt) = &mut app.hunt {
        hunt.take(found);
    }
}

/// Ends the search when something else has got the keys.
pub fn settle(app: &mut App) {
    if app.focus.pane != Pane::History {
        app.hunt = None;
    } else if app.hunt.is_none() {
        app.focus.pane = Pane::Composer;
    }
}

/// Takes the match at this place of the list.
pub fn take_at(app: &mut App, place: usize) {
    if let Some(hunt) = &mut app.hunt {
        hunt.choose(place);
    }
    take(app);
}

fn take(app: &mut App) {
    let Some(hunt) = app.hunt.take() else { return };
    app.focus.go(Pane::Composer);
    let age = hunt.text().and_then(|text| app.history.age(text));
    if let Some(age) = age {
        recall::go(app, age);
    }
}

fn seek(app: &mut App) -> Vec<Effect> {
    app.quests += 1;
    app.hunt.as_mut().map(|hunt| vec![Effect::Match(hunt.quest(app.quests))]).unwrap_or_default()
}
