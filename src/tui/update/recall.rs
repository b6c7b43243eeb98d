//! Texts of the history in the message: older ones and newer ones, and what becomes of the draft meanwhile.
//!
//! Always holds: the draft from before comes back when the recalled text is sent or left; a recalled text that was
//! changed is in the message, or can be brought back.

use crate::text::is_blank;
use crate::tui::msg::Effect;
use crate::tui::state::App;
use crate::tui::state::composer::Composer;
use crate::tui::state::history::{Recall, Sent};
use crate::tui::state::removed::Removed;

/// Remembers what was sent. What begins with a blank is not remembered, as in a shell.
pub fn remember(app: &mut App, text: &str) -> Vec<Effect> {
    if is_blank(text) || text.starts_with(char::is_whitespace) {
        return Vec::new();
    }
    app.history.add(Sent::new(text));
    vec![Effect::Remember(text.to_owned())]
}

/// Says once that nothing is remembered beyond the session.
pub fn unwritable(app: &mut App, reason: &str) {
    if !std::mem::replace(&mut app.history.complained, true) {
        app.status.say(format!("what you send is not remembered for the next session: {reason}"), app.now);
    }
}

/// Takes what earlier sessions sent; an Up that was too early for it counts now.
pub fn begin(app: &mut App, older_texts: Vec<Sent>) {
    app.history.begin(older_texts);
    if app.history.awaited {
        older(app);
    }
}

/// Goes to the next older text.
pub fn older(app: &mut App) {
    app.history.awaited = app.recall.is_none() && app.history.is_loading();
    if app.history.awaited && app.history.get(0).is_none() {
        return;
    }
    app.history.awaited = false;
    go(app, app.recall.as_ref().map_or(0, |recall| recall.age + 1));
}

/// Goes to the next newer text, and from the newest to the draft.
pub fn newer(app: &mut App) {
    match app.recall.as_ref().map(|recall| recall.age.checked_sub(1)) {
        Some(Some(age)) => go(app, age),
        Some(None) => {
            if let Some(mut recall) = app.recall.take() {
                let present = std::mem::replace(&mut app.composer, std::mem::take(&mut recall.draft));
                leave_behind(app, &mut recall, present);
                forget(app, recall);
            }
        }
        None => {}
    }
}

/// Puts the text of this age into the message.
pub fn go(app: &mut App, age: usize) {
    let Some(sent) = app.history.get(age).filter(|_| app.is_writing_draft()) else { return };
    let mut composer = Composer::default();
    composer.load(&sent.text);
    let present = std::mem::take(&mut app.composer);
    let mut recall = match app.recall.take() {
        None => Recall { age, draft: present, changed: Vec::new() },
        Some(mut recall) => {
            leave_behind(app, &mut recall, present);
            recall
        }
    };
    recall.age = age;
    let known = recall.changed.iter().position(|(changed, _)| *changed == age);
    app.composer = known.map_or(composer, |place| recall.changed.remove(place).1);
    app.recall = Some(recall);
}

/// Ends the walk because the recalled text is gone: the draft from before comes back.
pub fn gone(app: &mut App) {
    if let Some(mut recall) = app.recall.take() {
        app.composer = std::mem::take(&mut recall.draft);
        forget(app, recall);
    }
}

/// Ends the walk because something else needs the message: a text that was changed stays, and the draft can be brought
/// back; one as it was sent gives way to the draft.
pub fn leave(app: &mut App) {
    let Some(mut recall) = app.recall.take() else { return };
    let draft = std::mem::take(&mut recall.draft);
    if is_as_sent(app, &recall, &app.composer) {
        app.composer = draft;
    } else if !is_blank(&draft.shown()) {
        app.removed.push(Removed::Draft(draft.text()), &app.composer.text());
    }
    forget(app, recall);
}

/// Puts a recalled text away, as a key clears a message; false when there is none.
pub fn put_away(app: &mut App) -> bool {
    let Some(recall) = &app.recall else { return false };
    let text = app.composer.text();
    let is_new = !is_as_sent(app, recall, &app.composer) && !is_blank(&text);
    gone(app);
    if is_new {
        app.removed.push(Removed::Draft(text), &app.composer.text());
    }
    true
}

fn leave_behind(app: &App, recall: &mut Recall, present: Composer) {
    if !is_as_sent(app, recall, &present) && !is_blank(&present.shown()) {
        recall.changed.push((recall.age, present));
    }
}

fn is_as_sent(app: &App, recall: &Recall, composer: &Composer) -> bool {
    app.history.get(recall.age).is_some_and(|sent| *sent.text == *composer.text())
}

fn forget(app: &mut App, recall: Recall) {
    for (_, changed) in recall.changed {
        app.removed.push(Removed::Draft(changed.text()), &app.composer.text());
    }
}
