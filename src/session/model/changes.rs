//! What the tools of a session changed, change by change: whose, in which turn, and what was undone.
//!
//! Folded from events, so that a resumed session, a replay and a screen that joined later know it too. What commands changed
//! is not among it.

use std::sync::Arc;

use steersman_base::details::{Details, FileDiff, UndoneFile};
use steersman_base::event::{Envelope, Event};
use steersman_base::id::AgentId;
use steersman_base::target::name_of;

/// One change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The agent whose tool made it.
    pub agent: AgentId,
    /// The number of the main agent's turn.
    pub turn: u32,
    /// What changed (untrusted).
    pub diff: FileDiff,
}

/// The changes of a session that were not undone, the oldest first.
#[derive(Debug, Clone, Default)]
pub struct FileChanges {
    turn: u32,
    list: Vec<Arc<FileChange>>,
}

/// A file with its changes.
#[derive(Debug)]
pub struct ChangedFile<'a> {
    /// Its path (untrusted).
    pub path: &'a str,
    /// Its changes, the oldest first.
    pub changes: Vec<&'a FileChange>,
}

impl FileChanges {
    /// Applies one event.
    pub fn apply(&mut self, envelope: &Envelope) {
        match &envelope.event {
            Event::TurnStarted { turn, .. } if envelope.agent.is_main() => self.turn = *turn,
            Event::ToolDetails { details: Details::Diff(diff), .. } => {
                let change = FileChange { agent: envelope.agent.clone(), turn: self.turn, diff: diff.clone() };
                self.list.push(Arc::new(change));
            }
            Event::ChangesUndone { turn, files } => self.undo(*turn, files),
            _ => {}
        }
    }

    /// Removes the changes of these files: those of a turn, or all.
    fn undo(&mut self, turn: Option<u32>, files: &[UndoneFile]) {
        let undone = |path: &str| files.iter().any(|file| file.undo.is_done() && file.path == path);
        self.list.retain(|change| turn.is_some_and(|turn| change.turn != turn) || !undone(&change.diff.path));
    }

    /// Returns the turns that changed files, in order.
    pub fn turns(&self) -> Vec<u32> {
        let mut turns: Vec<u32> = self.list.iter().map(|change| change.turn).collect();
        turns.dedup();
        turns
    }

    /// Returns the agents that changed files, in the order of their first change.
    pub fn agents(&self) -> Vec<&AgentId> {
        let mut agents = Vec::new();
        for change in &self.list {
            if !agents.contains(&&change.agent) {
                agents.push(&change.agent);
            }
        }
        agents
    }

    /// Returns the changed files of one turn or all, and of one agent or all; the newest change last.
    pub fn files(&self, turn: Option<u32>, agent: Option<&AgentId>) -> Vec<ChangedFile<'_>> {
        let mut files: Vec<ChangedFile<'_>> = Vec::new();
        let is_wanted = |change: &&FileChange| {
            turn.is_none_or(|turn| change.turn == turn) && agent.is_none_or(|agent| change.agent == *agent)
        };
        for change in self.list.iter().map(AsRef::as_ref).filter(is_wanted) {
            let path = change.diff.path.as_str();
            let known = files.iter().position(|file| file.path == path).map(|at| files.remove(at));
            let mut file = known.unwrap_or(ChangedFile { path, changes: Vec::new() });
            file.changes.push(change);
            files.push(file);
        }
        files
    }
}

impl ChangedFile<'_> {
    /// Returns whether the file is new.
    pub fn is_new(&self) -> bool {
        self.changes.first().is_some_and(|change| change.diff.created)
    }

    /// Returns the added and the removed lines, all changes together.
    pub fn lines(&self) -> (u64, u64) {
        let sum = |count: fn(&FileDiff) -> u32| self.changes.iter().map(|change| u64::from(count(&change.diff))).sum();
        (sum(|diff| diff.added), sum(|diff| diff.removed))
    }

    /// Returns the turns that changed it, in order.
    pub fn turns(&self) -> Vec<u32> {
        let mut turns: Vec<u32> = self.changes.iter().map(|change| change.turn).collect();
        turns.dedup();
        turns
    }

    /// Returns the names of the agents that changed it, each once.
    pub fn agents(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for name in self.changes.iter().map(|change| name_of(&change.agent)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}
