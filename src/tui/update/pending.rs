//! The pending list as a list: moving in it, acting on the selected entry, and saying what became of each act.
//!
//! The agent takes entries while the user acts. Each act names its entry by id and is one step of the queue, so it
//! comes wholly before the delivery or wholly after it, and the answer says which.

use super::editing;
use crate::event::Delivery;
use crate::id::{AgentId, MessageId};
use crate::protocol::{QueueAct, QueueOutcome, Request, Shift, Withdrawn};
use crate::session::fold::{PendingStage, PendingText};
use crate::tui::keymap::Action;
use crate::tui::message::removed::{Removed, Taken};
use crate::tui::msg::Effect;
use crate::tui::state::App;
use crate::tui::state::cause::Cause;
use crate::tui::state::focus::Pane;

/// Gives the list the focus, with the newest entry selected when none is.
pub fn focus(app: &mut App) {
    if app.run.pending.is_empty() {
        app.status.say_while(Cause::NothingPending, "nothing is pending", app.now);
        return;
    }
    if app.pending.selected(&app.run.pending).is_none() {
        app.pending.select(usize::MAX, &app.run.pending);
    }
    app.focus.go(Pane::Pending);
}

/// Selects another entry.
pub fn travel(app: &mut App, action: Action) {
    let place = app.pending.place();
    let lost = app.pending.lost().is_some();
    let index = match (action, place) {
        (Action::First, _) => 0,
        (Action::Last, _) | (_, None) => usize::MAX,
        (Action::Previous, Some(place)) => place.saturating_sub(1),
        // Behind the one that has left stands now the one at its place.
        (Action::Next, Some(place)) if lost => place,
        (_, Some(place)) => place.saturating_add(1),
    };
    app.pending.select(index, &app.run.pending);
}

/// Acts on the selected entry.
pub fn act(app: &mut App, action: Action) -> Vec<Effect> {
    let Some(PendingText { agent, message, stage }) = chosen(app) else { return Vec::new() };
    let id = message.id;
    if stage == PendingStage::Delivering {
        app.status.say(format!("{id} is being delivered, it cannot be changed any more"), app.now);
        return Vec::new();
    }
    let edited = app.message.is_edited(&id);
    let act = match action {
        Action::EditEntry => return editing::ask(app, agent, id),
        Action::DeleteEntry | Action::Merge | Action::DeliverNow if edited => {
            editing::blocked(app);
            return Vec::new();
        }
        Action::DeleteEntry => return delete(app, &id),
        Action::MoveEarlier => QueueAct::Move { shift: Shift::Earlier },
        Action::MoveLater => QueueAct::Move { shift: Shift::Later },
        Action::AsFollowUp => QueueAct::Deliver { delivery: Delivery::FollowUp },
        Action::AsSteer => QueueAct::Deliver { delivery: Delivery::Steer },
        Action::DeliverNow => QueueAct::Deliver { delivery: Delivery::Now },
        Action::Merge => {
            let Some(next) = behind(app, &agent, &id) else {
                app.status.say(format!("there is no text after {id} to join it with"), app.now);
                return Vec::new();
            };
            if app.message.is_edited(&next) {
                editing::blocked(app);
                return Vec::new();
            }
            QueueAct::Merge
        }
        _ => return Vec::new(),
    };
    vec![Effect::Request(Request::Queue { agent, id, act })]
}

/// Delivers what is pending at once: the selected entry, else all that the agents have not been asked about, in order.
pub fn deliver_now(app: &mut App) -> Vec<Effect> {
    if app.run.pending.is_held_back() && !app.tree.main().running() {
        return vec![Effect::Request(Request::Resume)];
    }
    let selected = app.pending.selected(&app.run.pending).map(|entry| entry.message.id.clone());
    let is_wanted = |entry: &&PendingText| {
        let id = &entry.message.id;
        entry.stage == PendingStage::Waiting
            && selected.as_ref().map_or(!entry.message.stale, |selected| selected == id)
            && !app.message.is_edited(id)
    };
    let act = |entry: &PendingText| {
        Effect::Request(Request::Queue {
            agent: entry.agent.clone(),
            id: entry.message.id.clone(),
            act: QueueAct::Deliver { delivery: Delivery::Now },
        })
    };
    let effects: Vec<Effect> = app.run.pending.entries().iter().filter(is_wanted).map(act).collect();
    if effects.is_empty() {
        app.status.say("nothing is pending", app.now);
    }
    effects
}

/// Asks for the deletion of an entry; it can be brought back.
pub fn delete(app: &App, id: &MessageId) -> Vec<Effect> {
    withdraw(app, id, Withdrawn::Removed)
}

/// Asks for the newest entry of all, to be put into the message.
pub fn take_back(app: &mut App) -> Vec<Effect> {
    if editing::blocked(app) {
        return Vec::new();
    }
    let waiting = app.run.pending.entries().iter().filter(|entry| entry.stage == PendingStage::Waiting);
    let Some(newest) = waiting.max_by_key(|entry| entry.message.at).map(|entry| entry.message.id.clone()) else {
        app.status.say("nothing is pending", app.now);
        return Vec::new();
    };
    withdraw(app, &newest, Withdrawn::Message)
}

/// Takes the answer to an act: carries it over to the screen, and says what happened where the list does not show it.
pub fn answered(app: &mut App, agent: &AgentId, id: &MessageId, act: QueueAct, outcome: QueueOutcome) {
    match (act, outcome) {
        (QueueAct::Hold { text }, outcome) => editing::held(app, id, text.as_ref(), &outcome),
        (QueueAct::Commit { .. }, outcome) => editing::committed(app, id, &outcome),
        (QueueAct::Withdraw { to, before }, QueueOutcome::Withdrawn(entry)) => {
            app.pending.removed(id, &app.run.pending);
            let text = entry.text.clone();
            let taken = Taken { agent: agent.clone(), entry, before };
            match to {
                Withdrawn::Removed => {
                    app.message.set_aside(Removed::Deleted(taken));
                    app.status.say(format!("{id} is deleted; u or Ctrl+_ brings it back"), app.now);
                }
                Withdrawn::Message => {
                    app.message.put_before_draft(&[text]);
                    app.message.set_aside(Removed::TakenBack(taken));
                }
            }
        }
        (QueueAct::Restore { .. }, QueueOutcome::Done) => {
            app.status.say(format!("{id} is back in its place"), app.now);
        }
        (QueueAct::Restore { entry, .. }, _) => {
            app.message.put_before_draft(&[entry.text]);
            app.status.say(format!("{} has ended: {id} is back in the message", name(agent)), app.now);
        }
        (QueueAct::Merge, QueueOutcome::Merged(first, second)) => {
            app.pending.removed(&second.id, &app.run.pending);
            app.status.say(format!("{id} and {} are one text; u or Ctrl+_ parts them", second.id), app.now);
            let text = format!("{}\n\n{}", first.text, second.text);
            let merged = Removed::Merged { agent: agent.clone(), first, second, text };
            app.message.set_aside(merged);
        }
        (QueueAct::Split { second, .. }, QueueOutcome::Done) => {
            app.status.say(format!("{id} and {} are two texts again", second.id), app.now);
        }
        (QueueAct::Split { second, .. }, QueueOutcome::Withdrawn(_)) => {
            let sentence = format!("{} has ended: {} is back in the message", name(agent), second.id);
            app.message.put_before_draft(&[second.text]);
            app.status.say(sentence, app.now);
        }
        (QueueAct::Release, _)
        | (QueueAct::Move { .. } | QueueAct::Deliver { .. } | QueueAct::Confirm, QueueOutcome::Done) => {}
        (act, QueueOutcome::Refused(refused)) => {
            app.status.say(format!("{id} was not {}: {refused}", past(&act)), app.now);
        }
        (act, QueueOutcome::Ended) => {
            app.status.say(format!("{id} was not {}: {} has ended", past(&act), name(agent)), app.now);
        }
        (QueueAct::Deliver { delivery: Delivery::Now }, _) => {
            app.status.say(format!("{id} was delivered already"), app.now);
        }
        (act, _) => app.status.say(format!("{id} was delivered before it could be {}", past(&act)), app.now),
    }
}

/// Returns how an agent is called in a sentence.
pub fn name(agent: &AgentId) -> &str {
    if agent.is_main() { "main" } else { agent.as_str() }
}

fn withdraw(app: &App, id: &MessageId, to: Withdrawn) -> Vec<Effect> {
    let Some(entry) = app.run.pending.get(id) else { return Vec::new() };
    let act = QueueAct::Withdraw { to, before: app.run.pending.before(id) };
    vec![Effect::Request(Request::Queue { agent: entry.agent.clone(), id: id.clone(), act })]
}

/// Returns the selected entry. When it has left by itself, nothing is acted on: the next one is shown first.
fn chosen(app: &mut App) -> Option<PendingText> {
    if let Some(entry) = app.pending.selected(&app.run.pending) {
        return Some(entry.clone());
    }
    let lost = app.pending.lost().cloned();
    app.pending.select(app.pending.place().unwrap_or(usize::MAX), &app.run.pending);
    let sentence = match (lost, app.pending.selected(&app.run.pending)) {
        (Some(lost), Some(entry)) => format!("{lost} is delivered; {} is selected now", entry.message.id),
        (Some(lost), None) => format!("{lost} is delivered; nothing else is pending"),
        (None, Some(entry)) => format!("{} is selected now", entry.message.id),
        (None, None) => "nothing is pending".to_owned(),
    };
    app.status.say(sentence, app.now);
    None
}

/// Returns the entry behind this one in the same queue.
fn behind(app: &App, agent: &AgentId, id: &MessageId) -> Option<MessageId> {
    let mut queue =
        app.run.pending.entries().iter().filter(|entry| entry.agent == *agent && entry.stage == PendingStage::Waiting);
    queue.find(|entry| entry.message.id == *id)?;
    queue.next().map(|entry| entry.message.id.clone())
}

fn past(act: &QueueAct) -> &'static str {
    match act {
        QueueAct::Hold { .. } | QueueAct::Release => "edited",
        QueueAct::Commit { .. } | QueueAct::Restore { .. } => "put back",
        QueueAct::Withdraw { to: Withdrawn::Removed, .. } => "deleted",
        QueueAct::Withdraw { to: Withdrawn::Message, .. } => "taken back",
        QueueAct::Move { .. } => "moved",
        QueueAct::Deliver { delivery: Delivery::Steer } => "made a steer",
        QueueAct::Deliver { delivery: Delivery::FollowUp } => "made a follow-up",
        QueueAct::Deliver { delivery: Delivery::Now } => "delivered now",
        QueueAct::Merge => "joined with the next",
        QueueAct::Split { .. } => "parted",
        QueueAct::Confirm => "confirmed",
    }
}
