//! The keys of the completion list, while it is open; every other key goes on to where it belongs.

use crate::tui::keymap::{Action, Edit};
use crate::tui::state::App;

/// Carries out a key that is for the list; false when it is not.
pub fn press(app: &mut App, action: Action) -> bool {
    if !app.completion.is_open() {
        return false;
    }
    match action {
        Action::Edit(Edit::Up) => app.completion.previous(),
        Action::Edit(Edit::Down) => app.completion.next(),
        Action::FollowUp => return take(app, app.completion.taken(&app.composer.text())),
        Action::Send => return take(app, app.completion.taken_by_enter(&app.composer.text())),
        _ => return false,
    }
    true
}

/// Takes the offer at this place of the list.
pub fn take_offer(app: &mut App, place: usize) {
    app.completion.choose(place);
    take(app, app.completion.taken(&app.composer.text()));
}

fn take(app: &mut App, text: Option<String>) -> bool {
    let Some(text) = text else { return false };
    app.composer.load(&text);
    true
}
