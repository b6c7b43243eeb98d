//! The undo of what tools changed: marks where each turn of the main agent begins (one step back is one turn, its
//! sub-agents' work included) and where each message entered (for a branch from just before it), and tells the model with
//! the next message what the user took back.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};

use steersman_agent::{AgentContext, Extension, ExtensionError};
use steersman_base::event::{Envelope, Event};
use steersman_core::listener::Listener;
use steersman_tools::workspace::Changes;

/// Adds a sentence to the message behind an undo.
pub(super) struct UndoNotes {
    pub(super) changes: Arc<Changes>,
}

impl Extension for UndoNotes {
    fn name(&self) -> &'static str {
        "undo_notes"
    }

    fn on_user_message<'a>(
        &'a self,
        context: &'a AgentContext<'_>,
        _: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, ExtensionError>> {
        ready(Ok(context.id().is_main().then(|| self.changes.take_note()).flatten())).boxed()
    }
}

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
