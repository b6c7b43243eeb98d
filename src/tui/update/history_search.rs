//! The keys of the search of the history. Always holds: the message is as it was until a text is taken.

use super::editing;
use crate::tui::fuzzy::Hits;
use crate::tui::keymap::{Action, WriteKey};
use crate::tui::message::history_search::HistorySearch;
use crate::tui::msg::Effect;
use crate::tui::state::App;
use crate::tui::state::focus::Pane;
use crate::tui::state::lines::Medium;

/// Opens the search; where it is open, goes to the next match.
pub fn open(app: &mut App, query: &str) -> Vec<Effect> {
    if let Some(search) = &mut app.message.search {
        search.next();
        return Vec::new();
    }
    if app.medium == Medium::Lines || editing::blocked(app) {
        return Vec::new();
    }
    app.focus.go(Pane::History);
    app.message.search = Some(HistorySearch::new(app.message.history.newest_first(), query.to_owned()));
    seek(app)
}

/// Types into the search.
pub fn type_text(app: &mut App, text: &str) -> Vec<Effect> {
    let Some(search) = &mut app.message.search else { return Vec::new() };
    search.query.extend(text.chars().map(|c| if c.is_control() { ' ' } else { c }));
    seek(app)
}

/// Carries out a key of the search.
pub fn act(app: &mut App, key: WriteKey) -> Vec<Effect> {
    use unicode_segmentation::UnicodeSegmentation;

    let Some(search) = &mut app.message.search else { return Vec::new() };
    let query = &search.query;
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
    search.query.truncate(kept);
    seek(app)
}

/// Goes to another match.
pub fn travel(app: &mut App, action: Action) {
    let Some(search) = &mut app.message.search else { return };
    match action {
        Action::Previous => search.previous(),
        Action::Next => search.next(),
        _ => {}
    }
}

/// Takes an answer.
pub fn found(app: &mut App, found: Hits) {
    if let Some(search) = &mut app.message.search {
        search.take(found);
    }
}

/// Ends the search when something else has got the keys.
pub fn settle(app: &mut App) {
    if app.focus.pane != Pane::History {
        app.message.search = None;
    } else if app.message.search.is_none() {
        app.focus.pane = Pane::Composer;
    }
}

/// Takes the match at this place of the list.
pub fn take_at(app: &mut App, place: usize) {
    if let Some(search) = &mut app.message.search {
        search.choose(place);
    }
    take(app);
}

fn take(app: &mut App) {
    let Some(search) = app.message.search.take() else { return };
    app.focus.go(Pane::Composer);
    let age = search.text().and_then(|text| app.message.history.age(text));
    if let Some(age) = age {
        app.message.go(age);
    }
}

fn seek(app: &mut App) -> Vec<Effect> {
    app.message.history_query().map(Effect::Match).into_iter().collect()
}
