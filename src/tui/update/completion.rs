//! The keys of the completion list, while it is open; every other key goes on to where it belongs. And what the list
//! needs from outside: the paths of the working directory, and which of them match.

use super::history_search;
use crate::protocol::Request;
use crate::tui::keymap::{Action, Edit};
use crate::tui::message::completion::Offer;
use crate::tui::message::paths::{PathList, Token};
use crate::tui::msg::Effect;
use crate::tui::state::App;

/// Carries out a key that is for the list; false when it is not.
pub fn press(app: &mut App, action: Action) -> bool {
    if !app.message.completion.is_open() {
        return false;
    }
    match action {
        Action::Edit(Edit::Up) => app.message.completion.previous(),
        Action::Edit(Edit::Down) => app.message.completion.next(),
        Action::FollowUp => return take(app, app.message.completion.taken(&app.message.shown()).cloned()),
        Action::Send => return take(app, app.message.completion.taken_by_enter(&app.message.shown()).cloned()),
        _ => return false,
    }
    true
}

/// Takes the offer at this place of the list.
pub fn take_offer(app: &mut App, place: usize) {
    if app.message.search.is_some() {
        return history_search::take_at(app, place);
    }
    app.message.completion.choose(place);
    take(app, app.message.completion.taken(&app.message.shown()).cloned());
}

/// Closes the list for what is being typed.
pub fn close(app: &mut App) {
    app.message.paths.close();
    if app.message.completion.is_about_whole() {
        app.message.completion.close(app.message.shown());
    }
}

/// Makes the offers for what is typed now; returns what has to be found out for them.
pub fn refresh(app: &mut App) -> Vec<Effect> {
    let mut effects = Vec::new();
    let (row, before) = app.message.before_cursor();
    let token = if app.is_drafting() { Token::of(row, before) } else { None };
    let is_new = app.message.paths.token() != token.as_ref();
    if app.message.paths.type_token(token, app.now) {
        effects.push(Effect::ListPaths);
    }
    if is_new {
        effects.extend(app.message.path_query().map(Effect::Match));
    }
    if app.is_naming_model() && app.message.completion.ask_models() {
        effects.push(Effect::Request(Request::ListModels));
    }
    app.refresh_completion();
    effects
}

/// Takes a list of paths.
pub fn listed(app: &mut App, list: PathList) -> Vec<Effect> {
    app.message.paths.take_list(list, app.now);
    app.message.path_query().map(Effect::Match).into_iter().collect()
}

fn take(app: &mut App, offer: Option<Offer>) -> bool {
    match offer {
        Some(Offer { text, replaces: Some(chars), .. }) => app.message.complete(chars, &text),
        Some(Offer { text, replaces: None, .. }) => app.message.load(&text),
        None => return false,
    }
    true
}
