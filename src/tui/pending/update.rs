//! What keys do in the list of pending texts, and what became of each operation.
//!
//! The agent takes texts while the user acts. Each operation names its text by id and is one step of the queue, so it comes
//! wholly before the delivery or wholly after it, and the reply says which.

use super::PendingPane;
use crate::effect::{Outcome, PaneEffect};
use crate::keymap::{PendingKey, Travel};
use crate::message::{edit_entry, end_first};
use crate::state::{Cause, Pane};
use crate::ui_context::UiContext;
use steersman_base::event::Delivery;
use steersman_base::id::{AgentId, MessageId};
use steersman_base::protocol::{QueueOperation, QueueOutcome, Request, Shift, Withdrawn};
use steersman_base::target::name_of;
use steersman_session::model::{PendingStage, PendingText, PendingTexts};

/// Gives the list the focus, with the newest text selected when none is.
pub fn focus(pane: &mut PendingPane, texts: &PendingTexts) -> Outcome {
    if texts.is_empty() {
        return Outcome::one(PaneEffect::SayWhile(Some(Cause::NothingPending), "nothing is pending".to_owned()));
    }
    if pane.selected(texts).is_none() {
        pane.select(usize::MAX, texts);
    }
    Outcome::one(PaneEffect::Focus(Pane::Pending))
}

/// Carries out a key of the list; `edited` is the text that is being edited.
pub fn act(pane: &mut PendingPane, key: PendingKey, edited: Option<&MessageId>, ui: &UiContext) -> Outcome {
    Outcome::one(change(pane, key, edited, &ui.run.pending))
}

/// Selects another text.
pub fn travel(pane: &mut PendingPane, to: Travel, texts: &PendingTexts) {
    let index = match (to, pane.place()) {
        (Travel::First, _) => 0,
        (Travel::Last, _) | (_, None) => usize::MAX,
        // Behind the one that has left stands now the one at its place.
        (Travel::Next, Some(place)) if pane.lost().is_some() => place,
        (to, Some(place)) => to.from(place, 1),
    };
    pane.select(index, texts);
}

/// Asks for a change of the selected text, or says why not.
fn change(pane: &mut PendingPane, key: PendingKey, edited: Option<&MessageId>, texts: &PendingTexts) -> PaneEffect {
    let Some(PendingText { agent, message, stage }) = pane.selected(texts).cloned() else {
        return PaneEffect::Say(select_next(pane, texts));
    };
    let (id, kind) = (message.id.clone(), message.kind);
    if stage == PendingStage::Delivering {
        return PaneEffect::Say(format!("{id} is being delivered, it cannot be changed any more"));
    }
    let is_edited = edited == Some(&id);
    let operation = match key {
        PendingKey::Edit => return edit_entry(agent, id),
        PendingKey::Delete | PendingKey::Merge | PendingKey::DeliverNow | PendingKey::NextKind if is_edited => {
            return end_first();
        }
        PendingKey::Delete => withdrawal(texts, &id, Withdrawn::Removed),
        PendingKey::MoveEarlier => QueueOperation::Move { shift: Shift::Earlier },
        PendingKey::MoveLater => QueueOperation::Move { shift: Shift::Later },
        PendingKey::AsFollowUp => QueueOperation::Deliver { delivery: Delivery::FollowUp },
        PendingKey::AsSteer => QueueOperation::Deliver { delivery: Delivery::Steer },
        PendingKey::NextKind => QueueOperation::SetKind { kind: kind.next(), scope: message.scope },
        PendingKey::DeliverNow => QueueOperation::Deliver { delivery: Delivery::Now },
        PendingKey::Merge if message.trigger.is_some() => {
            return PaneEffect::Say(format!("{id} waits for a condition, it cannot be joined with another text"));
        }
        PendingKey::Merge => match texts.behind(&id) {
            None => return PaneEffect::Say(format!("there is no text after {id} to join it with")),
            Some(next) if edited == Some(&next.message.id) => return end_first(),
            Some(next) if next.message.trigger.is_some() => {
                let next = &next.message.id;
                return PaneEffect::Say(format!("{next} waits for a condition, it cannot be joined with another text"));
            }
            Some(_) => QueueOperation::Merge,
        },
    };
    Request::Queue { agent, id, operation }.into()
}

/// Delivers what is pending at once: the selected text, else all that the agents have not been asked about, in order.
pub fn deliver_now(pane: &PendingPane, edited: Option<&MessageId>, ui: &UiContext) -> Outcome {
    let texts = &ui.run.pending;
    if texts.is_held_back() && !ui.run.agents.main().running() {
        return Outcome::request(Request::Resume);
    }
    let selected = pane.selected(texts).map(|entry| &entry.message.id);
    let is_wanted = |entry: &&PendingText| {
        let id = &entry.message.id;
        let goes = !entry.message.stale && entry.message.trigger.is_none();
        selected.map_or(goes, |selected| selected == id) && edited != Some(id)
    };
    let requests = texts.waiting().filter(is_wanted).map(|entry| {
        let operation = QueueOperation::Deliver { delivery: Delivery::Now };
        Request::Queue { agent: entry.agent.clone(), id: entry.message.id.clone(), operation }.into()
    });
    let effects: Vec<PaneEffect> = requests.collect();
    if effects.is_empty() {
        return Outcome::say("nothing is pending");
    }
    Outcome::Consumed(effects)
}

/// Asks for the deletion of a text; it can be brought back.
pub fn delete(texts: &PendingTexts, id: &MessageId) -> Option<Request> {
    withdraw(texts, id, Withdrawn::Removed)
}

/// Asks for the newest text of all, to be put into the message.
pub fn take_back(texts: &PendingTexts) -> Outcome {
    let newest = texts.waiting().max_by_key(|entry| entry.message.at);
    match newest.and_then(|newest| withdraw(texts, &newest.message.id, Withdrawn::Message)) {
        Some(request) => Outcome::request(request),
        None => Outcome::say("nothing is pending"),
    }
}

/// Takes the reply to an operation: moves the selection on, and says what happened where the list does not show it. What
/// becomes of the text itself is the message's; an edit says its own sentences.
pub fn answered(
    pane: &mut PendingPane,
    agent: &AgentId,
    id: &MessageId,
    operation: &QueueOperation,
    outcome: &QueueOutcome,
    texts: &PendingTexts,
) -> Option<String> {
    let name = name_of(agent);
    match (operation, outcome) {
        (QueueOperation::Withdraw { to, .. }, QueueOutcome::Withdrawn(_)) => {
            pane.removed(id, texts);
            (*to == Withdrawn::Removed).then(|| format!("{id} is deleted; u or Ctrl+_ brings it back"))
        }
        (QueueOperation::Restore { .. }, QueueOutcome::Done) => Some(format!("{id} is back in its place")),
        (QueueOperation::Restore { .. }, _) => Some(format!("{name} has ended: {id} is back in the message")),
        (QueueOperation::Merge, QueueOutcome::Merged(_, second)) => {
            pane.removed(&second.id, texts);
            Some(format!("{id} and {} are one text; u or Ctrl+_ parts them", second.id))
        }
        (QueueOperation::Split { second, .. }, QueueOutcome::Done) => {
            Some(format!("{id} and {} are two texts again", second.id))
        }
        (QueueOperation::Split { second, .. }, QueueOutcome::Withdrawn(_)) => {
            Some(format!("{name} has ended: {} is back in the message", second.id))
        }
        (QueueOperation::Hold { .. } | QueueOperation::Commit { .. } | QueueOperation::Release, _)
        | (
            QueueOperation::Move { .. }
            | QueueOperation::SetKind { .. }
            | QueueOperation::Deliver { .. }
            | QueueOperation::Confirm,
            QueueOutcome::Done,
        ) => None,
        (operation, QueueOutcome::Refused(refused)) => Some(format!("{id} was not {}: {refused}", past(operation))),
        (operation, QueueOutcome::Ended) => Some(format!("{id} was not {}: {name} has ended", past(operation))),
        (QueueOperation::Deliver { delivery: Delivery::Now }, _) => Some(format!("{id} was delivered already")),
        (operation, _) => Some(format!("{id} was delivered before it could be {}", past(operation))),
    }
}

fn withdraw(texts: &PendingTexts, id: &MessageId, to: Withdrawn) -> Option<Request> {
    let agent = texts.get(id)?.agent.clone();
    Some(Request::Queue { agent, id: id.clone(), operation: withdrawal(texts, id, to) })
}

fn withdrawal(texts: &PendingTexts, id: &MessageId, to: Withdrawn) -> QueueOperation {
    QueueOperation::Withdraw { to, before: texts.before(id) }
}

/// Selects the next text where the selected one has left by itself: nothing is acted on before the user has seen it.
fn select_next(pane: &mut PendingPane, texts: &PendingTexts) -> String {
    let lost = pane.lost().cloned();
    pane.select(pane.place().unwrap_or(usize::MAX), texts);
    match (lost, pane.selected(texts)) {
        (Some(lost), Some(entry)) => format!("{lost} is delivered; {} is selected now", entry.message.id),
        (Some(lost), None) => format!("{lost} is delivered; nothing else is pending"),
        (None, Some(entry)) => format!("{} is selected now", entry.message.id),
        (None, None) => "nothing is pending".to_owned(),
    }
}

fn past(operation: &QueueOperation) -> &'static str {
    match operation {
        QueueOperation::Hold { .. } | QueueOperation::Release => "edited",
        QueueOperation::Commit { .. } | QueueOperation::Restore { .. } => "put back",
        QueueOperation::Withdraw { to: Withdrawn::Removed, .. } => "deleted",
        QueueOperation::Withdraw { to: Withdrawn::Message, .. } => "taken back",
        QueueOperation::Move { .. } => "moved",
        QueueOperation::SetKind { .. } => "given another kind",
        QueueOperation::Deliver { delivery: Delivery::Steer } => "made a steer",
        QueueOperation::Deliver { delivery: Delivery::FollowUp } => "made a follow-up",
        QueueOperation::Deliver { delivery: Delivery::Now } => "delivered now",
        QueueOperation::Merge => "joined with the next",
        QueueOperation::Split { .. } => "parted",
        QueueOperation::Confirm => "confirmed",
    }
}

/// Asks for a pending text to be given up that the user has in newer words: what its queue returns is dropped.
pub fn keep_entry(id: MessageId) -> PaneEffect {
    PaneEffect::change(move |app| app.pending.keep(id.clone()))
}
