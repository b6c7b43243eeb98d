//! The keys of the completion list, while it is open; every other key goes on to where it belongs. And what the list
//! needs from outside: the paths of the working directory, and which of them match.

use super::hunt;
use crate::protocol::Request;
use crate::tui::keymap::{Action, Edit};
use crate::tui::msg::Effect;
use crate::tui::state::App;
use crate::tui::state::completion::Offer;
use crate::tui::state::paths::{PathList, Token};

/// Carries out a key that is for the list; false when it is not.
pub fn press(app: &mut App, action: Action) -> bool {
    if !app.completion.is_open() {
        return false;
    }
    match action {
        Action::Edit(Edit::Up) => app.completion.previous(),
        Action::Edit(Edit::Down) => app.completion.next(),
        Action::FollowUp => return take(app, app.completion.taken(&app.composer.shown()).cloned()),
        Action::Send => return take(app, app.completion.taken_by_enter(&app.composer.shown()).cloned()),
        _ => return false,
    }
    true
}

/// Takes the offer at this place of the list.
pub fn take_offer(app: &mut App, place: usize) {
    if app.hunt.is_some() {
        return hunt::take_at(app, place);
    }
    app.completion.choose(place);
    take(app, app.completion.taken(&app.composer.shown()).cloned());
}

/// Closes the list for what is being typed.
pub fn close(app: &mut App) {
    app.paths.close();
    if app.completion.is_about_whole() {
        app.completion.close(app.composer.shown());
    }
}

/// Makes the offers for what is typed now; returns what has to be found out for them.
pub fn refresh(app: &mut App) -> Vec<Effect> {
    let mut effects = Vec::new();
    let (row, before) = app.composer.before_cursor();
    let token = if app.is_drafting() { Token::of(row, before) } else { None };
    let is_new = app.paths.token() != token.as_ref();
    if app.paths.type_token(token, app.now) {
        effects.push(Effect::ListPaths);
    }
    if is_new {
        effects.extend(seek(app));
    }
    if app.is_naming_model() && app.completion.ask_models() {
        effects.push(Effect::Request(Request::ListModels));
    }
    app.refresh_completion();
    effects
}

/// Takes a list of paths.
pub fn listed(app: &mut App, list: PathList) -> Vec<Effect> {
    app.paths.take_list(list, app.now);
    seek(app)
}

fn seek(app: &mut App) -> Vec<Effect> {
    app.quests += 1;
    app.paths.quest(app.quests).map(Effect::Match).into_iter().collect()
}

fn take(app: &mut App, offer: Option<Offer>) -> bool {
    match offer {
        Some(Offer { text, replaces: Some(chars), .. }) => app.composer.complete(chars, &text),
        Some(Offer { text, replaces: None, .. }) => app.composer.load(&text),
        None => return false,
    }
    true
}
