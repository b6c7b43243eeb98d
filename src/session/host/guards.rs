//! What keeps tools within bounds, as the event that tells of it: at the start, and again when the mode changes.
//!
//! Used by the worker. The mode lives at the desk of approvals; here is only what was last said about it.

use std::sync::Arc;

use tokio::sync::Notify;

use steersman_base::event::Event;
use steersman_core::approval::{Approvals, Mode};
use steersman_core::listener::ListenerList;

/// Follows the mode of one session.
pub(super) struct Guards {
    approvals: Arc<Approvals>,
    sandbox: Option<String>,
    context_files: Vec<String>,
    announced: Mode,
    changed: Arc<Notify>,
}

impl Guards {
    /// Tells the listeners how things stand, and follows the desk from here on.
    pub(super) fn start(
        approvals: Arc<Approvals>,
        sandbox: Option<String>,
        context_files: Vec<String>,
        listeners: &ListenerList,
    ) -> Self {
        let changed = Arc::new(Notify::new());
        let wake = Arc::clone(&changed);
        approvals.watch(Arc::new(move || wake.notify_one()));
        let guards = Self { announced: approvals.mode(), approvals, sandbox, context_files, changed };
        listeners.emit(guards.event());
        guards
    }

    /// Waits for a change at the desk; dropping the future loses none.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Tells the listeners of another mode than the one last told.
    pub(super) fn say_change(&mut self, listeners: &ListenerList) {
        let mode = self.approvals.mode();
        if mode != self.announced {
            self.announced = mode;
            listeners.emit(self.event());
        }
    }

    fn event(&self) -> Event {
        Event::Guards {
            mode: self.announced.name().to_owned(),
            sandbox: self.sandbox.clone(),
            context_files: self.context_files.clone(),
        }
    }
}
