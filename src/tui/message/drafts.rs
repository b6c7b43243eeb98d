//! The drafts of the agents that are not shown, each with its cursor, its chips and its undo; and what the session's journal
//! keeps of the message: every text that was typed and not sent, with whom it is for.
//!
//! Always holds: a draft is here or in the message, never in both; nothing but the user's choice of an agent changes which.
//! A kept text comes back to the same place when the session is resumed; nothing is sent by that.

use super::Message;
use super::composer::Composer;
use super::entry::written;
use super::purpose::{Editing, Purpose};
use steersman_base::id::AgentId;
use steersman_base::protocol::DraftText;
use steersman_base::steering::TextKind;
use steersman_base::text::is_blank;

/// The drafts that are set aside, with whom they are for.
#[derive(Debug, Default)]
pub(super) struct Drafts {
    kept: Vec<(AgentId, Composer)>,
    /// The agent that was selected when the draft in the message was chosen.
    shown: AgentId,
}

impl Drafts {
    pub(super) fn keep(&mut self, to: AgentId, composer: Composer) {
        match self.kept.iter_mut().find(|(agent, _)| *agent == to) {
            Some((_, known)) => known.put_before(&[composer.text()]),
            None => self.kept.push((to, composer)),
        }
    }

    fn take_draft(&mut self, to: &AgentId) -> Option<Composer> {
        let place = self.kept.iter().position(|(agent, _)| agent == to)?;
        Some(self.kept.remove(place).1)
    }

    /// Takes the drafts back for which this holds of their agent.
    pub(super) fn take_where(&mut self, is_gone: impl Fn(&AgentId) -> bool) -> Vec<(AgentId, Composer)> {
        self.kept.extract_if(.., |(agent, _)| is_gone(agent)).collect()
    }

    /// Returns all drafts that are set aside, with whom they are for.
    pub(super) fn each(&self) -> impl Iterator<Item = (&AgentId, String, TextKind)> {
        self.kept.iter().map(|(agent, composer)| (agent, composer.text(), composer.kind()))
    }

    /// Returns the texts of all drafts that are set aside.
    pub(super) fn texts(&self) -> impl Iterator<Item = String> {
        self.kept.iter().map(|(_, composer)| composer.text())
    }
}

impl Message {
    /// Notes which agent is shown; tells whether it is another one, whose draft belongs into the message now.
    pub fn shows_other(&mut self, selected: &AgentId) -> bool {
        let is_other = self.drafts.shown != *selected;
        if is_other {
            self.drafts.shown = selected.clone();
        }
        is_other
    }

    /// Brings the draft for another agent into the message, and keeps the one that was there.
    pub fn switch(&mut self, to: &AgentId) {
        self.leave_recalled();
        let other = self.drafts.take_draft(to);
        match self.bound.take() {
            // It is for this agent already, which ended or came back meanwhile.
            Some(bound) if bound == *to => {
                self.bound = Some(bound);
                if let Some(other) = other {
                    self.draft.put_behind(&[other.text()]);
                }
            }
            bound => {
                self.bound = other.as_ref().map(|_| to.clone());
                let composer = std::mem::replace(&mut self.draft, other.unwrap_or_default());
                if let Some(bound) = bound.filter(|_| !composer.is_empty()) {
                    self.drafts.keep(bound, composer);
                }
            }
        }
    }

    /// Tells whether there is nothing in the draft, or in the text that stands in its place; whatever is written first.
    pub fn is_draft_empty(&self) -> bool {
        self.recall().map_or(&self.draft, |(_, composer)| composer).is_empty()
    }
}

impl Message {
    /// Returns every text that was typed and neither sent nor removed; the one in the message first.
    pub fn unsent(&self) -> Vec<DraftText> {
        let written_in = |to: AgentId, composer: &Composer| self.unsent_text(to, composer.text(), composer.kind());
        let draft = written_in(self.bound.clone().unwrap_or_default(), &self.draft);
        let above = self.above.iter().flat_map(|(purpose, composer)| match purpose {
            Purpose::Recall(recall) => {
                let changed = recall.changed.iter().map(|(_, changed)| written_in(AgentId::main(), changed));
                let is_new = !self.is_as_sent(recall.origin, composer);
                let shown = is_new.then(|| written_in(AgentId::main(), composer));
                shown.into_iter().chain(changed).collect::<Vec<_>>()
            }
            Purpose::Edit(Editing { entry, .. }) if composer.text() == written(entry) => Vec::new(),
            Purpose::Edit(Editing { agent, entry, .. }) => {
                vec![DraftText { edits: Some(entry.id.clone()), ..written_in(agent.clone(), composer) }]
            }
            Purpose::AboutStep(about) if composer.text() == about.before => Vec::new(),
            Purpose::AboutCall(_) | Purpose::AboutQuestion(_) | Purpose::AboutStep(_) | Purpose::Line => {
                vec![self.unsent_text(AgentId::main(), composer.text(), TextKind::default())]
            }
        });
        let others = self.drafts.each().map(|(agent, text, kind)| self.unsent_text(agent.clone(), text, kind));
        let lines = self.lines.texts().map(|text| self.unsent_text(AgentId::main(), text, TextKind::default()));
        let all = std::iter::once(draft).chain(above).chain(others).chain(lines);
        all.filter(|draft| !is_blank(&draft.text)).collect()
    }

    fn unsent_text(&self, to: AgentId, text: String, kind: TextKind) -> DraftText {
        DraftText { to, kind, edits: None, images: self.files_in(&text), text, sender: None }
    }

    /// Tells whether the draft is what an earlier process of the session left, and nothing was typed since.
    pub fn is_as_restored(&self) -> bool {
        self.is_draft() && self.restored.as_ref().is_some_and(|restored| *restored == self.text())
    }

    /// Puts back what an earlier process of the session kept: into the message what was for the main agent, the rest to
    /// the drafts of the other agents.
    pub fn restore_drafts(&mut self, drafts: &[DraftText]) {
        let (main, others): (Vec<_>, Vec<_>) = drafts.iter().partition(|draft| draft.to.is_main());
        if let ([one], true) = (main.as_slice(), self.draft.is_empty()) {
            self.draft.set_kind(one.kind);
        }
        let main: Vec<String> = main.into_iter().map(|draft| draft.text.clone()).collect();
        self.put_before_draft(&main);
        self.restored = Some(self.draft.text()).filter(|text| !text.is_empty());
        for DraftText { to, text, kind, .. } in others {
            let mut composer = Composer::default();
            composer.load(text);
            composer.set_kind(*kind);
            self.drafts.keep(to.clone(), composer);
        }
    }
}
