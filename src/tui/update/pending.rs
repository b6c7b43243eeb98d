//! Brings the list of pending texts together with the message, where a text can be edited or comes back to.

use super::{carry_out_outcome, message as editing};
use crate::id::{AgentId, MessageId};
use crate::protocol::{QueueAct, QueueOutcome};
use crate::tui::keymap::Action;
use crate::tui::msg::Effect;
use crate::tui::pending::{self, Turn};
use crate::tui::state::App;

/// Gives the list the focus.
pub fn focus(app: &mut App) {
    let outcome = pending::focus(&mut app.pending, &app.facts.run.pending);
    carry_out_outcome(app, outcome);
}

/// Carries out a key of the list.
pub fn act(app: &mut App, action: Action) -> Vec<Effect> {
    let edited = app.message.editing().map(|editing| &editing.entry.id);
    let outcome = pending::act(&mut app.pending, action, edited, &app.facts);
    carry_out_outcome(app, outcome)
}

/// Delivers what is pending at once.
pub fn deliver_now(app: &mut App) -> Vec<Effect> {
    let edited = app.message.editing().map(|editing| &editing.entry.id);
    let turn = if app.run.agents.main().running() { Turn::Running } else { Turn::None };
    let outcome = pending::deliver_now(&app.pending, edited, &app.facts, turn);
    carry_out_outcome(app, outcome)
}

/// Asks for the newest text, to be put into the message.
pub fn take_back(app: &mut App) -> Vec<Effect> {
    if editing::blocked(app) {
        return Vec::new();
    }
    let outcome = pending::take_back(&app.run.pending);
    carry_out_outcome(app, outcome)
}

/// Takes the reply to a change of a pending text.
pub fn answered(app: &mut App, agent: &AgentId, id: &MessageId, act: &QueueAct, outcome: &QueueOutcome) {
    match act {
        QueueAct::Hold { text } => editing::held(app, id, text.as_ref(), outcome),
        QueueAct::Commit { .. } => editing::committed(app, id, outcome),
        _ => app.message.queue_answered(agent, act, outcome),
    }
    if let Some(sentence) = pending::answered(&mut app.pending, agent, id, act, outcome, &app.facts.run.pending) {
        app.status.say(sentence, app.now);
    }
}
