//! The drafts of the agents that are not shown, each with its cursor, its chips and its undo.
//!
//! Always holds: a draft is here or in the message, never in both.

use super::composer::Composer;
use super::target::Bound;
use crate::id::AgentId;

/// Holds the drafts that are set aside.
#[derive(Debug, Default)]
pub struct Drafts {
    kept: Vec<Kept>,
    /// The agent that was selected when the draft in the message was chosen.
    pub shown: AgentId,
}

/// Is one draft, with whom it is for.
#[derive(Debug)]
pub struct Kept {
    /// Whom it is for, and since when.
    pub bound: Bound,
    /// What was written.
    pub composer: Composer,
}

impl Drafts {
    /// Sets a draft aside.
    pub fn keep(&mut self, kept: Kept) {
        match self.kept.iter_mut().find(|known| known.bound.to == kept.bound.to) {
            Some(known) => known.composer.put_before(&[kept.composer.text()]),
            None => self.kept.push(kept),
        }
    }

    /// Takes the draft for an agent back.
    pub fn take(&mut self, agent: &AgentId) -> Option<Kept> {
        let place = self.kept.iter().position(|kept| kept.bound.to == *agent)?;
        Some(self.kept.remove(place))
    }

    /// Takes the drafts back for which this holds of their agent.
    pub fn take_where(&mut self, gone: impl Fn(&AgentId) -> bool) -> Vec<Kept> {
        self.kept.extract_if(.., |kept| gone(&kept.bound.to)).collect()
    }

    /// Returns whom the drafts are for.
    pub fn agents(&self) -> impl Iterator<Item = &AgentId> {
        self.kept.iter().map(|kept| &kept.bound.to)
    }

    /// Returns the texts of all drafts that are set aside.
    pub fn texts(&self) -> impl Iterator<Item = String> {
        self.kept.iter().map(|kept| kept.composer.text())
    }
}
