//! Editing a pending text in the message: from the hold to its end, whichever way it ends.
//!
//! Always holds: the draft that was there before comes back when the edit ends; what was written is in the queue, in the
//! message, or can be brought back.

use super::purpose::{Editing, Purpose};
use super::{Message, MessageContext};
use crate::effect::PaneEffect;
use crate::pending;
use crate::state::{Cause, Pane};
use crate::status::HostState;
use steersman_base::event::{Delivery, Pending};
use steersman_base::id::{AgentId, MessageId};
use steersman_base::protocol::{QueueOperation, QueueOutcome, Request, TriggerChange};
use steersman_base::steering::{Recurrence, TextKind, conditional};

impl Message {
    /// Asks for the hold of an entry that is to be edited; only then its text is loaded.
    pub fn ask_edit(&self, agent: AgentId, id: MessageId) -> Vec<PaneEffect> {
        if self.is_edited(&id) {
            return vec![PaneEffect::Focus(Pane::Composer)];
        }
        if let Some(busy) = self.blocked() {
            return vec![busy];
        }
        vec![Request::Queue { agent, id, operation: QueueOperation::Hold { text: None } }.into()]
    }

    /// Takes the answer to a hold: the edit begins, or the screen says why not.
    pub fn held(
        &mut self,
        id: &MessageId,
        text: Option<&String>,
        outcome: &QueueOutcome,
        known: &MessageContext<'_>,
    ) -> Vec<PaneEffect> {
        let entry = known.run.pending.get(id).filter(|_| *outcome == QueueOutcome::Done);
        let Some(entry) = entry.cloned() else {
            let kept = if text.is_some() { "; what you had written is in the message" } else { "" };
            let sentence = if *outcome == QueueOutcome::Ended {
                format!("{id} cannot be edited, its agent has ended{kept}")
            } else {
                format!("{id} was delivered before it could be edited{kept}")
            };
            self.put_before(text.map(std::slice::from_ref).unwrap_or_default());
            return vec![PaneEffect::Say(sentence)];
        };
        let text = text.cloned().unwrap_or_else(|| written(&entry.message));
        let kind = entry.message.kind;
        let from_list = known.focus.is_on(Pane::Pending);
        self.begin(Purpose::Edit(Editing { agent: entry.agent, entry: entry.message, from_list }), &text);
        self.top_mut().set_kind(kind);
        vec![PaneEffect::Focus(Pane::Composer)]
    }

    /// Asks for the end of the edit with the new text in the old place.
    pub fn commit_edit(&self, delivery: Option<Delivery>) -> Vec<PaneEffect> {
        let Some(editing) = self.editing() else { return Vec::new() };
        let kind = Some(self.kind()).filter(|kind| *kind != editing.entry.kind);
        let written = self.text();
        let (text, trigger) = match parse(&written) {
            Ok((text, TriggerChange::Clear)) => (text, editing.entry.trigger.as_ref().map(|_| TriggerChange::Clear)),
            Ok((text, TriggerChange::Set(trigger))) => {
                let is_new = editing.entry.trigger.as_ref() != Some(&trigger);
                (text, is_new.then_some(TriggerChange::Set(trigger)))
            }
            Err(why) => return vec![PaneEffect::SayWhile(Some(Cause::Message(written.clone())), why)],
        };
        let images = self.images_after_edit(&editing.entry);
        let operation = QueueOperation::Commit { text: text.to_owned(), delivery, kind, trigger, images };
        vec![Request::Queue { agent: editing.agent.clone(), id: editing.entry.id.clone(), operation }.into()]
    }

    /// Takes the answer to [`Message::commit_edit`].
    pub fn committed(&mut self, id: &MessageId, outcome: &QueueOutcome, known: &MessageContext<'_>) -> Vec<PaneEffect> {
        let Some(from_list) = self.editing().filter(|editing| editing.entry.id == *id).map(|edit| edit.from_list)
        else {
            return Vec::new();
        };
        let mut effects = Vec::new();
        let sentence = match outcome {
            QueueOutcome::Done => {
                let is_sent = self.edit_starts_turn(known);
                self.finish_edit();
                if from_list && !is_sent {
                    effects.push(PaneEffect::Focus(Pane::Pending));
                }
                if is_sent { format!("{id} is sent") } else { format!("{id} is back in its place") }
            }
            QueueOutcome::Refused(refused) => format!("{id} was not put back: {refused}"),
            QueueOutcome::Ended => {
                // What the queue returns is the text before the edit; the user has the one after it.
                effects.push(pending::keep_entry(id.clone()));
                self.edit_becomes_draft(&[], &[]);
                format!("{id} was not put back, its agent has ended: the text is a draft now")
            }
            QueueOutcome::Gone | QueueOutcome::Withdrawn(_) | QueueOutcome::Merged(..) => {
                self.edit_becomes_draft(&[], &[]);
                format!("{id} was not put back, it is not pending any more: the text is a draft now")
            }
        };
        effects.push(PaneEffect::Say(sentence));
        effects
    }

    /// Tells whether the end of the edit starts a turn with the text: nothing runs, and nothing else holds it.
    pub fn edit_starts_turn(&self, known: &MessageContext<'_>) -> bool {
        let Some(Editing { agent, entry, .. }) = self.editing() else { return false };
        let is_idle = known.run.agents.get(agent).is_none_or(|agent| !agent.running());
        let asks = entry.trigger.is_none() && self.kind().asks_for_work();
        agent.is_main() && is_idle && asks && !known.run.pending.paused && *known.host == HostState::Ready
    }

    /// Says what is written first and has to be ended; `None` when nothing is.
    pub fn blocked(&self) -> Option<PaneEffect> {
        let words = match self.first_purpose()? {
            Purpose::Edit(editing) => format!("{} is being edited: first Enter, or Esc", editing.entry.id),
            Purpose::AboutCall(_) | Purpose::AboutQuestion(_) => {
                "finish what you write about the call: first Enter, or Esc".to_owned()
            }
            Purpose::AboutStep(_) => "finish the step of the plan: first Enter, or Esc".to_owned(),
            Purpose::Recall(_) | Purpose::Line => return None,
        };
        Some(PaneEffect::SayWhile(Some(Cause::NoDraft), words))
    }
}

/// Returns a pending text as the user writes it: behind its condition.
pub fn written(entry: &Pending) -> String {
    match &entry.trigger {
        Some(trigger) => format!("{}{}", trigger.command(), entry.text),
        None if recurrence(entry.text.trim_start_matches('/')).is_some() => format!("/{}", entry.text),
        None => entry.text.clone(),
    }
}

/// Returns a pending text as the user writes it where nothing else says what it is and for whom. One with a condition says
/// itself what it is.
pub fn addressed(agent: &AgentId, entry: &Pending) -> String {
    let written = written(entry);
    let to = if agent.is_main() { String::new() } else { format!("@{agent} ") };
    match entry.kind {
        TextKind::Instead | TextKind::Note | TextKind::Rule if entry.trigger.is_none() => {
            format!("/{} {to}{written}", entry.kind)
        }
        TextKind::Add | TextKind::Instead | TextKind::Note | TextKind::Rule => format!("{to}{written}"),
    }
}

/// Reads a pending text as the user writes it.
///
/// # Errors
/// Why its condition cannot be read.
pub fn parse(written: &str) -> Result<(&str, TriggerChange), String> {
    let Some(rest) = written.strip_prefix('/') else { return Ok((written, TriggerChange::Clear)) };
    match recurrence(rest) {
        Some((recurrence, words)) => {
            let (trigger, text) = conditional(words, recurrence).map_err(|why| why.to_string())?;
            Ok((text, TriggerChange::Set(trigger)))
        }
        None if recurrence(rest.trim_start_matches('/')).is_some() => Ok((rest, TriggerChange::Clear)),
        None => Ok((written, TriggerChange::Clear)),
    }
}

fn recurrence(command: &str) -> Option<(Recurrence, &str)> {
    let once = command.strip_prefix("when ").map(|words| (Recurrence::Once, words));
    once.or_else(|| command.strip_prefix("every ").map(|words| (Recurrence::Every, words)))
}
