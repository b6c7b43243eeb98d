//! Marks where each turn of the main agent begins, for undo: one step back is one turn, its sub-agents' work included.

use std::sync::Arc;

use crate::event::{Envelope, Event};
use crate::listener::Listener;
use crate::workspace::Changes;

/// Tells the changes when a turn begins.
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
        if envelope.agent.is_main() && matches!(envelope.event, Event::TurnStarted { .. }) {
            self.changes.begin_turn();
        }
    }

    fn label(&self) -> String {
        "TurnMarks".to_owned()
    }
}
