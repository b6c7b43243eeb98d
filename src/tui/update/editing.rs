//! Editing a pending text in the composer: from the hold to its end, whichever way it ends.
//!
//! Always holds: the draft that was there before comes back when the edit ends; what was written is in the queue, in the
//! composer or on the stack of removals.

use crate::event::Delivery;
use crate::id::{AgentId, MessageId};
use crate::protocol::{QueueAct, QueueOutcome, Request};
use crate::text::is_blank;
use crate::tui::msg::Effect;
use crate::tui::state::App;
use crate::tui::state::cause::Cause;
use crate::tui::state::editing::Editing;
use crate::tui::state::focus::Pane;
use crate::tui::state::removed::Removed;
use crate::tui::update::recall;

/// Asks for the hold of an entry that is to be edited; only then its text is loaded.
pub fn ask(app: &mut App, agent: AgentId, id: MessageId) -> Vec<Effect> {
    if is_edited(app, &id) {
        app.focus.go(Pane::Composer);
        return Vec::new();
    }
    if blocked(app) {
        return Vec::new();
    }
    vec![Effect::Request(Request::Queue { agent, id, act: QueueAct::Hold { text: None } })]
}

/// Takes the answer to a hold: the edit begins, or the screen says why not.
pub fn held(app: &mut App, id: &MessageId, text: Option<&String>, outcome: &QueueOutcome) {
    let entry = app.pending.get(id).filter(|_| *outcome == QueueOutcome::Done).cloned();
    let Some(entry) = entry else {
        let kept = if text.is_some() { "; what you had written is in the message" } else { "" };
        let sentence = match outcome {
            QueueOutcome::Ended => format!("{id} cannot be edited, its agent has ended{kept}"),
            _ => format!("{id} was delivered before it could be edited{kept}"),
        };
        app.status.say(sentence, app.now);
        recall::leave(app);
        app.composer.put_before(text.map(std::slice::from_ref).unwrap_or_default());
        return;
    };
    recall::leave(app);
    let draft = std::mem::take(&mut app.composer);
    app.composer.load(text.unwrap_or(&entry.message.text));
    app.editing = Some(Editing { agent: entry.agent, entry: entry.message, draft });
    app.focus.go(Pane::Composer);
}

/// Asks for the end of the edit with the new text in the old place.
pub fn commit(app: &App, delivery: Option<Delivery>) -> Vec<Effect> {
    let Some(editing) = &app.editing else { return Vec::new() };
    let act = QueueAct::Commit { text: app.composer.text(), delivery };
    vec![Effect::Request(Request::Queue { agent: editing.agent.clone(), id: editing.entry.id.clone(), act })]
}

/// Takes the answer to [`commit`].
pub fn committed(app: &mut App, id: &MessageId, outcome: &QueueOutcome) {
    if !is_edited(app, id) {
        return;
    }
    match outcome {
        QueueOutcome::Done => {
            if let Some(editing) = app.editing.take() {
                app.composer = editing.draft;
            }
            app.status.say(format!("{id} is back in its place"), app.now);
        }
        QueueOutcome::Refused(refused) => app.status.say(format!("{id} was not put back: {refused}"), app.now),
        QueueOutcome::Ended => {
            // What the queue returns is the text before the edit; the user has the one after it.
            app.pending.keep(id.clone());
            become_draft(app);
            app.status.say(format!("{id} was not put back, its agent has ended: the text is a draft now"), app.now);
        }
        QueueOutcome::Gone | QueueOutcome::Withdrawn(_) | QueueOutcome::Merged(..) => {
            become_draft(app);
            app.status
                .say(format!("{id} was not put back, it is not pending any more: the text is a draft now"), app.now);
        }
    }
}

/// Leaves the edit; the entry stays as it was, and what was written can be brought back.
pub fn leave(app: &mut App) -> Vec<Effect> {
    let Some(Editing { agent, entry, draft }) = app.editing.take() else { return Vec::new() };
    let text = std::mem::replace(&mut app.composer, draft).text();
    app.focus.go(Pane::Composer);
    if text != entry.text && !is_blank(&text) {
        app.status.say(format!("{} is as it was; Ctrl+_ brings the edit back", entry.id), app.now);
        let edit = Removed::Edit { agent: agent.clone(), id: entry.id.clone(), text, was: entry.text };
        app.removed.push(edit, &app.composer.text());
    }
    vec![Effect::Request(Request::Queue { agent, id: entry.id, act: QueueAct::Release })]
}

/// Ends the edit without its entry: what is written stays in the composer, with the draft from before behind it.
pub fn become_draft(app: &mut App) {
    if let Some(editing) = app.editing.take() {
        app.composer.put_behind(&[editing.draft.text()]);
    }
}

/// Tells whether this entry is being edited.
pub fn is_edited(app: &App, id: &MessageId) -> bool {
    app.editing.as_ref().is_some_and(|editing| editing.entry.id == *id)
}

/// Tells whether an edit is on, and says so: first it has to be ended.
pub fn blocked(app: &mut App) -> bool {
    if app.is_writing_aside() {
        let words = "finish what you write about the call: first Enter, or Esc";
        app.status.say_while(Cause::NoDraft, words, app.now);
        return true;
    }
    let Some(editing) = &app.editing else { return false };
    let sentence = format!("{} is being edited: first Enter, or Esc", editing.entry.id);
    app.status.say_while(Cause::NoDraft, sentence, app.now);
    true
}
