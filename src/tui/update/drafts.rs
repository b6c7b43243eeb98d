//! Each agent has a draft of its own: another agent that is shown brings its own into the message.
//!
//! Always holds: nothing but the user's choice of an agent changes the draft; what was begun for an agent that has ended
//! can be brought back.

use super::{bring_back, pending, recall};
use crate::tui::state::App;
use crate::tui::state::drafts::Kept;
use crate::tui::state::lines::Medium;
use crate::tui::state::removed::Removed;

/// Follows the choice of the agent that is shown.
pub fn follow(app: &mut App) {
    // A line that is typed stays where it is seen.
    if app.medium == Medium::Lines {
        return;
    }
    let selected = app.tree.selected().clone();
    if app.drafts.shown != selected {
        app.drafts.shown = selected;
        switch(app);
    }
    give_back_orphans(app);
}

fn switch(app: &mut App) {
    recall::leave(app);
    let to = app.shown_or_main();
    let other = app.drafts.take(&to);
    match app.take_bound() {
        // It is for this agent already, which ended or came back meanwhile.
        Some(bound) if bound.to == to => {
            app.bind(Some(bound));
            if let Some(other) = other {
                bring_back::draft(app).put_behind(&[other.composer.text()]);
            }
        }
        bound => {
            let (composer, next) = other.map_or_else(Default::default, |kept| (kept.composer, Some(kept.bound)));
            let composer = std::mem::replace(bring_back::draft(app), composer);
            app.bind(next);
            if let Some(bound) = bound.filter(|_| !composer.is_empty()) {
                app.drafts.keep(Kept { bound, composer });
            }
        }
    }
}

/// Puts the drafts for agents that have ended where one key brings them back.
fn give_back_orphans(app: &mut App) {
    if app.drafts.agents().all(|agent| app.takes_texts(agent)) {
        return;
    }
    let mut drafts = std::mem::take(&mut app.drafts);
    for Kept { bound, composer } in drafts.take_where(|agent| !app.takes_texts(agent)) {
        let name = pending::name(&bound.to).to_owned();
        app.removed.push(Removed::Draft(composer.text()), &app.composer.text());
        app.status.say(format!("{name} has ended: Ctrl+_ brings your draft for it into the message"), app.now);
    }
    app.drafts = drafts;
}
