//! The drafts of the agents that are not shown, each with its cursor, its chips and its undo.
//!
//! Always holds: a draft is here or in the message, never in both; nothing but the user's choice of an agent changes which.

use super::Message;
use super::composer::Composer;
use crate::id::AgentId;
use crate::steering::TextKind;

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

    fn take(&mut self, to: &AgentId) -> Option<Composer> {
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
        let other = self.drafts.take(to);
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
