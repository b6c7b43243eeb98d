//! Editing a pending text in the message: from the hold to its end, whichever way it ends.
//!
//! Always holds: the draft that was there before comes back when the edit ends; what was written is in the queue, in the
//! message, or can be brought back.

use crate::event::Delivery;
use crate::id::{AgentId, MessageId};
use crate::protocol::{QueueAct, QueueOutcome, Request};
use crate::tui::message::purpose::{Editing, Purpose};
use crate::tui::msg::Effect;
use crate::tui::state::App;
use crate::tui::state::cause::Cause;
use crate::tui::state::focus::Pane;

/// Asks for the hold of an entry that is to be edited; only then its text is loaded.
pub fn ask(app: &mut App, agent: AgentId, id: MessageId) -> Vec<Effect> {
    if app.message.is_edited(&id) {
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
    let entry = app.run.pending.get(id).filter(|_| *outcome == QueueOutcome::Done).cloned();
    let Some(entry) = entry else {
        let kept = if text.is_some() { "; what you had written is in the message" } else { "" };
        let sentence = match outcome {
            QueueOutcome::Ended => format!("{id} cannot be edited, its agent has ended{kept}"),
            _ => format!("{id} was delivered before it could be edited{kept}"),
        };
        app.status.say(sentence, app.now);
        app.message.put_before(text.map(std::slice::from_ref).unwrap_or_default());
        return;
    };
    let text = text.unwrap_or(&entry.message.text).clone();
    app.message.begin(Purpose::Edit(Editing { agent: entry.agent, entry: entry.message }), &text);
    app.focus.go(Pane::Composer);
}

/// Asks for the end of the edit with the new text in the old place.
pub fn commit(app: &App, delivery: Option<Delivery>) -> Vec<Effect> {
    let Some(editing) = app.message.editing() else { return Vec::new() };
    let act = QueueAct::Commit { text: app.message.text(), delivery };
    vec![Effect::Request(Request::Queue { agent: editing.agent.clone(), id: editing.entry.id.clone(), act })]
}

/// Takes the answer to [`commit`].
pub fn committed(app: &mut App, id: &MessageId, outcome: &QueueOutcome) {
    if !app.message.is_edited(id) {
        return;
    }
    match outcome {
        QueueOutcome::Done => {
            app.message.finish_edit();
            app.status.say(format!("{id} is back in its place"), app.now);
        }
        QueueOutcome::Refused(refused) => app.status.say(format!("{id} was not put back: {refused}"), app.now),
        QueueOutcome::Ended => {
            // What the queue returns is the text before the edit; the user has the one after it.
            app.pending.keep(id.clone());
            app.message.edit_becomes_draft(&[], &[]);
            app.status.say(format!("{id} was not put back, its agent has ended: the text is a draft now"), app.now);
        }
        QueueOutcome::Gone | QueueOutcome::Withdrawn(_) | QueueOutcome::Merged(..) => {
            app.message.edit_becomes_draft(&[], &[]);
            app.status
                .say(format!("{id} was not put back, it is not pending any more: the text is a draft now"), app.now);
        }
    }
}

/// Tells whether something is written first, and says so: it has to be ended.
pub fn blocked(app: &mut App) -> bool {
    let words = match app.message.first_purpose() {
        Some(Purpose::Edit(editing)) => format!("{} is being edited: first Enter, or Esc", editing.entry.id),
        Some(Purpose::AboutCall(_) | Purpose::Decline(_)) => {
            "finish what you write about the call: first Enter, or Esc".to_owned()
        }
        Some(Purpose::Recall(_) | Purpose::Line) | None => return false,
    };
    app.status.say_while(Cause::NoDraft, words, app.now);
    true
}
