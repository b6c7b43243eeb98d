//! The one place where texts come back to the message, and go from it to where they can be brought back from.
//!
//! Always holds: a text comes back to one place once, before the draft; what is written first stays as it is. The text in
//! the external editor is a copy; what comes back from there takes the place of the original.

use super::entry::{addressed, written};
use super::purpose::{Editing, Purpose};
use super::removed::{Removed, RemovedEntry, RemovedTexts};
use super::{Message, MessageContext};
use crate::effect::PaneEffect;
use steersman_base::event::Pending;
use steersman_base::id::{AgentId, MessageId};
use steersman_base::protocol::{QueueOperation, QueueOutcome, Withdrawn};
use steersman_base::steering::TextKind;
use steersman_base::target::{MAIN, name_of};
use steersman_base::text::is_blank;

/// Where a text from the external editor went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TakenOver {
    InPlace,
    /// Before a message that was changed meanwhile.
    Before,
}

impl Message {
    /// Puts texts that left their queue undelivered before the draft, in order. One that is being edited stays as it is
    /// now, and becomes a draft between the others.
    pub fn give_back(&mut self, entries: &[Pending]) {
        self.take_kind_of(entries);
        let texts: Vec<String> = entries.iter().map(written).collect();
        match entries.iter().position(|entry| self.is_edited(&entry.id)) {
            Some(index) => {
                let (before, after) = texts.split_at(index);
                self.edit_becomes_draft(before, after.get(1..).unwrap_or_default());
            }
            None => self.put_before_draft(&texts),
        }
    }

    /// Lets the draft be what texts are that come back to it, where it is empty and they are all the same.
    pub(super) fn take_kind_of(&mut self, entries: &[Pending]) {
        let kind = entries.first().map(|entry| entry.kind).unwrap_or_default();
        if self.draft.is_empty() && entries.iter().all(|entry| entry.kind == kind) {
            self.draft.set_kind(kind);
        }
    }

    /// Returns the kind of those of these texts that come back into the message: that of the draft, else of the newest.
    pub(super) fn kind_of_return(&self, entries: &[Pending]) -> Option<TextKind> {
        if self.draft.is_empty() { entries.last().map(|entry| entry.kind) } else { Some(self.draft.kind()) }
    }

    /// Returns how many of these texts are of other kinds than those that come back into the message.
    pub(super) fn of_other_kinds(&self, entries: &[Pending]) -> usize {
        let kind = self.kind_of_return(entries);
        let is_edited = entries.iter().any(|entry| self.is_edited(&entry.id));
        entries.iter().filter(|entry| !is_edited && Some(entry.kind) != kind).count()
    }

    /// Puts texts before the draft, also while something else is written first.
    pub fn put_before_draft(&mut self, texts: &[String]) {
        self.leave_recalled();
        self.draft.put_before(texts);
    }

    /// Puts texts before the one that the keys change.
    pub fn put_before(&mut self, texts: &[String]) {
        self.leave_recalled();
        self.top_mut().put_before(texts);
    }

    /// Puts the name of an agent before the draft, which is for that agent then.
    pub fn name_draft(&mut self, agent: &str) {
        self.draft.put_at_start(0, &format!("@{agent} "));
    }

    /// Takes a text off the draft again that was put before it; false when it does not stand there any more.
    pub fn take_front(&mut self, text: &str) -> bool {
        self.leave_recalled();
        self.draft.take_front(text)
    }

    /// Ends an edit whose entry is gone: what is written stays, between these texts, and the draft comes behind it. What is
    /// for a sub-agent names it, and no draft for another agent comes behind that.
    pub fn edit_becomes_draft(&mut self, before: &[String], behind: &[String]) {
        let Some((purpose, mut composer)) = self.end(|purpose| matches!(purpose, Purpose::Edit(_))) else { return };
        composer.put_before(before);
        composer.put_behind(behind);
        let draft = self.draft.text();
        match purpose {
            Purpose::Edit(Editing { agent, .. }) if !agent.is_main() && self.bound() != Some(&agent) => {
                self.draft = composer;
                self.name_draft(agent.as_str());
                if !is_blank(&draft) {
                    self.set_aside(Removed::Draft(draft));
                }
            }
            _ => {
                composer.put_behind(&[draft]);
                self.draft = composer;
            }
        }
    }

    /// Empties the text that the keys change; it can be brought back.
    pub fn clear(&mut self) {
        if self.put_away() {
            return;
        }
        let text = self.text();
        self.top_mut().forget();
        if is_blank(&text) {
            return;
        }
        // The queue still has the text that is edited: what was written comes back to the edit, not as a text of its own.
        let removed = match self.editing() {
            Some(Editing { agent, entry, .. }) => {
                Removed::Edit { agent: agent.clone(), id: entry.id.clone(), text, was: written(entry) }
            }
            None => Removed::Draft(text),
        };
        self.set_aside(removed);
    }

    /// Remembers what was removed just now, so that one key brings it back.
    pub fn set_aside(&mut self, removed: Removed) {
        let text = self.text();
        self.removed.push(removed, &text);
    }

    /// Takes off what was removed last.
    pub fn take_removed(&mut self) -> Option<Removed> {
        self.removed.pop()
    }

    /// Returns what can be brought back.
    pub fn removed(&self) -> &RemovedTexts {
        &self.removed
    }

    /// Ends the conversation: what was removed comes back as a draft from now on, never to a queue.
    pub fn end_conversation(&mut self) {
        self.removed.become_drafts();
    }

    /// Puts the drafts for agents that have ended where one key brings them back; returns whom they were for.
    pub fn give_back_drafts(&mut self, has_ended: impl Fn(&AgentId) -> bool) -> Vec<AgentId> {
        let mut agents = Vec::new();
        for (agent, composer) in self.drafts.take_where(has_ended) {
            self.set_aside(Removed::Draft(composer.text()));
            agents.push(agent);
        }
        agents
    }

    /// Returns the text for the external editor, and remembers it.
    pub fn open(&mut self) -> String {
        let text = self.text();
        self.opened = Some(text.clone());
        text
    }

    /// Puts an edited text where it was taken from. Texts may have come back meanwhile, before it or behind it: they stay.
    pub fn take_over(&mut self, text: &str) -> TakenOver {
        let opened = self.opened.take().unwrap_or_default();
        let present = self.text();
        if *text == *opened {
            return TakenOver::InPlace;
        }
        if let Some(before) = present.strip_suffix(&*opened) {
            self.top_mut().replace(&format!("{before}{text}"));
        } else if let Some(behind) = present.strip_prefix(&*opened) {
            self.top_mut().replace(&format!("{text}{behind}"));
        } else {
            self.top_mut().put_before(&[text.to_owned()]);
            return TakenOver::Before;
        }
        TakenOver::InPlace
    }

    /// Takes what came back from the external editor; returns what is to be said about it.
    pub fn editor_ended(&mut self, outcome: Result<String, String>) -> Option<String> {
        match outcome {
            Ok(text) => (self.take_over(&text) == TakenOver::Before)
                .then(|| "the message was changed meanwhile; the text from the editor stands before it".to_owned()),
            Err(reason) => {
                self.opened = None;
                Some(format!("the message did not change: {reason}"))
            }
        }
    }

    /// Returns every text that was typed and is not among the removed ones, each once.
    pub fn texts(&self) -> Vec<String> {
        let mut texts = vec![self.draft.text()];
        for (purpose, composer) in &self.above {
            match purpose {
                Purpose::Recall(recall) => {
                    if !self.is_as_sent(recall.origin, composer) {
                        texts.push(composer.text());
                    }
                    texts.extend(recall.changed.iter().map(|(_, changed)| changed.text()));
                }
                Purpose::Edit(_)
                | Purpose::AboutCall(_)
                | Purpose::AboutQuestion(_)
                | Purpose::AboutStep(_)
                | Purpose::Line => {
                    texts.push(composer.text());
                }
            }
        }
        texts.extend(self.drafts.texts());
        texts.extend(self.lines.texts());
        texts
    }
}

impl Message {
    /// Takes what became of a change of a pending text. Where its text is the user's now, it goes into the message, or
    /// where it can be brought back from.
    pub fn queue_answered(
        &mut self,
        (agent, id): (&AgentId, &MessageId),
        operation: &QueueOperation,
        outcome: &QueueOutcome,
        known: &MessageContext<'_>,
    ) -> Vec<PaneEffect> {
        match (operation, outcome) {
            (QueueOperation::Hold { text }, _) => return self.held(id, text.as_ref(), outcome, known),
            (QueueOperation::Commit { .. }, _) => return self.committed(id, outcome, known),
            (QueueOperation::Withdraw { to, before }, QueueOutcome::Withdrawn(entry)) => {
                let taken = RemovedEntry { agent: agent.clone(), entry: entry.clone(), before: before.clone() };
                match to {
                    Withdrawn::Removed => self.set_aside(Removed::Deleted(taken)),
                    Withdrawn::Message if self.target(known) == *agent => {
                        self.take_kind_of(std::slice::from_ref(entry));
                        self.put_before_draft(&[written(entry)]);
                        self.set_aside(Removed::TakenBack(taken));
                    }
                    Withdrawn::Message if self.is_draft_empty() => {
                        self.put_before_draft(&[addressed(agent, entry)]);
                        if agent.is_main() {
                            self.name_draft(MAIN);
                        }
                        self.set_aside(Removed::TakenBack(taken));
                    }
                    // One message goes to one agent.
                    Withdrawn::Message => {
                        self.set_aside(Removed::Deleted(taken));
                        let sentence = format!(
                            "{id} was for {}, what you write is not: {id} is removed, Ctrl+_ puts it back",
                            name_of(agent)
                        );
                        return vec![PaneEffect::Say(sentence)];
                    }
                }
            }
            (QueueOperation::Restore { .. } | QueueOperation::Split { .. }, QueueOutcome::Done) => {}
            (QueueOperation::Restore { entry, .. }, _) => self.put_before_draft(&[written(entry)]),
            (QueueOperation::Split { second, .. }, QueueOutcome::Withdrawn(_)) => {
                self.put_before_draft(std::slice::from_ref(&second.text));
            }
            (QueueOperation::Merge, QueueOutcome::Merged(first, second)) => {
                let text = format!("{}\n\n{}", first.text, second.text);
                let (first, second) = (first.clone(), second.as_ref().clone());
                self.set_aside(Removed::Merged { agent: agent.clone(), first, second, text });
            }
            _ => {}
        }
        Vec::new()
    }
}
