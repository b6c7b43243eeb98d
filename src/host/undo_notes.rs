//! Tells the model with the next message what the user took back of its tools' changes.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};

use crate::agent::{AgentContext, Extension, ExtensionError};
use crate::workspace::Changes;

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
