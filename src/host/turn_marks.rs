//! Marks where each turn of the main agent begins, for undo: one step back is one turn, its sub-agents' work included;
//! and where each message entered, for a branch from just before it.

use std::sync::Arc;

use crate::event::{Envelope, Event};
use crate::listener::Listener;
use crate::workspace::Changes;

/// Tells the changes when a turn begins and when a message enters.
pub(super) struct TurnMarks {
    changes: Arc<Changes>,
}

impl TurnMarks {
    pub(super) fn new(changes: Arc<Changes>) -> Self {
        Self { changes }
    }
}

impl Listener for TurnMarks {
    fn on_event(&self, envelope: &Envelope) {
        if !envelope.agent.is_main() {
            return;
        }
        if let Event::TurnStarted { turn, .. } = envelope.event {
            self.changes.begin_turn(turn);
        } else if let Event::UserTurn { injection: Some(id), .. } = &envelope.event {
            self.changes.mark(id.as_str());
        }
    }

    fn label(&self) -> String {
        "TurnMarks".to_owned()
    }
}
