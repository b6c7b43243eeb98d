//! Texts in the message in place of the draft: older ones and newer ones of the history, a command that a key begins.
//!
//! Always holds: the draft from before comes back when such a text is sent or left; one that was changed is in the
//! message, or can be brought back.

use crate::text::is_blank;
use crate::tui::msg::Effect;
use crate::tui::state::App;
use crate::tui::state::composer::Composer;
use crate::tui::state::history::{Origin, Recall, Sent};
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
    go(app, age(app).map_or(0, |age| age + 1));
}

/// Goes to the next newer text, and from the newest to the draft.
pub fn newer(app: &mut App) {
    if let Some(newer) = age(app).and_then(|age| age.checked_sub(1)) {
        go(app, newer);
    } else if let Some(mut recall) = app.recall.take() {
        let present = std::mem::replace(&mut app.composer, std::mem::take(&mut recall.draft));
        leave_behind(app, &mut recall, present);
        forget(app, recall);
    }
}

/// Returns how far back the text is that the message holds; `None` when it holds none of the history.
fn age(app: &App) -> Option<usize> {
    match app.recall.as_ref()?.origin {
        Origin::History(age) => Some(age),
        Origin::Key(_) => None,
    }
}

/// Puts a command into the message; what stands there comes back when the command is sent or left.
pub fn begin_command(app: &mut App, command: &'static str) {
    let mut composer = Composer::default();
    composer.load(command);
    if app.composer.is_empty() && app.recall.is_none() {
        app.composer = composer;
        return;
    }
    replace(app, Origin::Key(command), composer);
    app.status.say("what you were writing comes back after the command; Esc brings it back now", app.now);
}

/// Puts the text of this age into the message.
pub fn go(app: &mut App, age: usize) {
    let Some(sent) = app.history.get(age).filter(|_| app.is_writing_draft()) else { return };
    let mut composer = Composer::default();
    composer.load(&sent.text);
    replace(app, Origin::History(age), composer);
}

fn replace(app: &mut App, origin: Origin, composer: Composer) {
    let present = std::mem::take(&mut app.composer);
    let mut recall = match app.recall.take() {
        None => Recall { origin, draft: present, changed: Vec::new() },
        Some(mut recall) => {
            leave_behind(app, &mut recall, present);
            recall
        }
    };
    recall.origin = origin;
    let known = recall.changed.iter().position(|(changed, _)| *changed == origin);
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
        recall.changed.push((recall.origin, present));
    }
}

fn is_as_sent(app: &App, recall: &Recall, composer: &Composer) -> bool {
    match recall.origin {
        Origin::History(age) => app.history.get(age).is_some_and(|sent| *sent.text == *composer.text()),
        Origin::Key(command) => composer.text().trim_end() == command.trim_end(),
    }
}

fn forget(app: &mut App, recall: Recall) {
    for (_, changed) in recall.changed {
        app.removed.push(Removed::Draft(changed.text()), &app.composer.text());
    }
}
