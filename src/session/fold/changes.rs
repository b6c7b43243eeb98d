//! What the tools of a session changed, change by change: whose, in which turn, and what was taken back.
//!
//! Folded from events, so that a resumed session, a replay and a screen that joined later know it too. Commands are not
//! among it.

use crate::details::{Details, FileDiff};
use crate::event::{Envelope, Event};
use crate::id::AgentId;

/// One change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The agent whose tool made it.
    pub agent: AgentId,
    /// The number of the main agent's turn.
    pub turn: u32,
    /// What changed (untrusted).
    pub diff: FileDiff,
    /// Whether the user has taken it back.
    pub is_undone: bool,
}

/// The changes of a session, the oldest first.
#[derive(Debug, Clone, Default)]
pub struct FileChanges {
    turn: u32,
    list: Vec<FileChange>,
}

impl FileChanges {
    /// Folds one event in.
    pub fn apply(&mut self, envelope: &Envelope) {
        match &envelope.event {
            Event::TurnStarted { turn, .. } if envelope.agent.is_main() => self.turn = *turn,
            Event::ToolDetails { details: Details::Diff(diff), .. } => {
                let (agent, turn) = (envelope.agent.clone(), self.turn);
                self.list.push(FileChange { agent, turn, diff: diff.clone(), is_undone: false });
            }
            Event::ChangesUndone { turn, files } => {
                let done = |path: &str| files.iter().any(|file| file.path == path && file.undo.is_done());
                for change in &mut self.list {
                    change.is_undone |= turn.is_none_or(|turn| change.turn == turn) && done(&change.diff.path);
                }
            }
            _ => {}
        }
    }

    /// Returns the changes that still stand.
    pub fn standing(&self) -> impl DoubleEndedIterator<Item = &FileChange> {
        self.list.iter().filter(|change| !change.is_undone)
    }
}
