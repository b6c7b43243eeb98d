//! A child from its spawn to its end: the controls through which a host steers it, and the events of its end.
//!
//! Used by the `agent` tool. Always holds: with agent controls, the child is in it from before its announcement until its end;
//! pending messages are returned before the end is emitted; both happen also when the future is dropped.

use std::sync::Arc;

use futures_util::FutureExt;
use tokio::sync::Notify;

use steersman_base::event::{Event, Outcome};
use steersman_base::id::AgentId;
use steersman_core::control::{AgentControls, Cancellable, Controls, Watcher};
use steersman_core::listener::ListenerList;

/// A child's membership in the agent tree, which ends when its [`RunningChild`] is dropped.
pub(super) struct TreeMembership {
    agent_controls: Arc<AgentControls>,
    controls: Controls,
    changed: Arc<Notify>,
}

impl TreeMembership {
    /// Enrolls a child; its cancel flag is also set by `cancellable`.
    pub(super) fn enroll(agent_controls: &Arc<AgentControls>, id: &AgentId, cancellable: &Cancellable) -> Self {
        Self::new(agent_controls, agent_controls.enroll(id, cancellable))
    }

    /// Takes over the controls of a child that is enrolled.
    pub(super) fn new(agent_controls: &Arc<AgentControls>, controls: Controls) -> Self {
        let changed = Arc::new(Notify::new());
        let wake = Arc::clone(&changed);
        let watcher: Watcher = Arc::new(move || wake.notify_one());
        controls.interloper.watch(watcher);
        Self { agent_controls: Arc::clone(agent_controls), controls, changed }
    }
}

/// A child that waits for its turn or runs. Dropping it emits its end, once it was announced: cancelled, unless another outcome
/// was set.
pub(super) struct RunningChild<'a> {
    id: AgentId,
    spawner: &'a ListenerList,
    listeners: ListenerList,
    membership: Option<TreeMembership>,
    is_announced: bool,
    end: (Outcome, Option<String>),
}

impl<'a> RunningChild<'a> {
    /// Makes the child out of its spawner's listeners and its membership, if there is one.
    pub(super) fn new(id: AgentId, spawner: &'a ListenerList, membership: Option<TreeMembership>) -> Self {
        let listeners = spawner.for_sub_agent(&id);
        Self { id, spawner, listeners, membership, is_announced: false, end: (Outcome::Cancelled, None) }
    }

    pub(super) fn id(&self) -> &AgentId {
        &self.id
    }

    pub(super) fn listeners(&self) -> &ListenerList {
        &self.listeners
    }

    /// Returns its controls; `None` without a membership.
    pub(super) fn controls(&self) -> Option<&Controls> {
        self.membership.as_ref().map(|membership| &membership.controls)
    }

    /// Notes that the child was announced, so that its end is emitted too.
    pub(super) fn announced(&mut self) {
        self.is_announced = true;
    }

    /// Runs the child's work and emits each change of its queue meanwhile.
    pub(super) async fn accompany<T>(&self, work: impl Future<Output = T>) -> T {
        let Some(membership) = &self.membership else { return work.await };
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                biased;
                () = membership.changed.notified() => {
                    self.listeners.emit(Event::Pending { entries: membership.controls.interloper.undelivered() });
                }
                () = membership.controls.interloper.keep_time() => {}
                result = &mut work => return result,
            }
        }
    }

    /// Leaves the agent tree and emits how the child ended.
    pub(super) fn ended(mut self, outcome: Outcome, message: Option<String>) {
        self.end = (outcome, message);
    }
}

impl Drop for RunningChild<'_> {
    fn drop(&mut self) {
        if let Some(membership) = self.membership.take() {
            let entries = membership.agent_controls.dismiss(&self.id);
            // First: a journal that ends between the two events must not lose the texts.
            if !entries.is_empty() {
                self.listeners.emit(Event::Returned { entries });
            }
            if membership.changed.notified().now_or_never().is_some() {
                self.listeners.emit(Event::Pending { entries: Vec::new() });
            }
        }
        if self.is_announced {
            let (outcome, message) = (self.end.0, self.end.1.take());
            self.spawner.emit(Event::AgentFinished { child: self.id.clone(), outcome, message });
        }
    }
}
