//! A child from its spawn to its end: the controls through which a host steers it, and what is said when it ends.
//!
//! Used by the `agent` tool. Always holds: with a crew, the child is in it from before it is announced until it ended;
//! what was pending by then is given back before the end is told; both happen also when the future is dropped.

use std::sync::Arc;

use futures_util::FutureExt;
use tokio::sync::Notify;

use crate::control::{Cancellable, Controls, Crew, Watcher};
use crate::event::{Event, Outcome};
use crate::id::AgentId;
use crate::listener::ListenerList;

/// Is a child's place in the crew; leaving it is the matter of [`Member`].
pub(super) struct Place {
    crew: Arc<Crew>,
    controls: Controls,
    changed: Arc<Notify>,
}

impl Place {
    /// Takes a place; the child's cancel flag is also set by `cancellable`.
    pub(super) fn take(crew: &Arc<Crew>, id: &AgentId, cancellable: &Cancellable) -> Self {
        let controls = crew.enroll(id, cancellable);
        let changed = Arc::new(Notify::new());
        let wake = Arc::clone(&changed);
        let watcher: Watcher = Arc::new(move || wake.notify_one());
        controls.interloper.watch(watcher);
        Self { crew: Arc::clone(crew), controls, changed }
    }
}

/// Is a child that was announced. Its drop says that it ended, cancelled.
pub(super) struct Member<'a> {
    id: AgentId,
    spawner: &'a ListenerList,
    listeners: ListenerList,
    place: Option<Place>,
    end: (Outcome, Option<String>),
}

impl<'a> Member<'a> {
    /// Makes the member out of its spawner's listeners, and its place when there is a crew.
    pub(super) fn new(id: AgentId, spawner: &'a ListenerList, place: Option<Place>) -> Self {
        let listeners = spawner.for_sub_agent(&id);
        Self { id, spawner, listeners, place, end: (Outcome::Cancelled, None) }
    }

    /// Returns its id.
    pub(super) fn id(&self) -> &AgentId {
        &self.id
    }

    /// Returns the listeners that were derived for it.
    pub(super) fn listeners(&self) -> &ListenerList {
        &self.listeners
    }

    /// Returns its controls; `None` without a crew.
    pub(super) fn controls(&self) -> Option<&Controls> {
        self.place.as_ref().map(|place| &place.controls)
    }

    /// Runs the child's work and tells of each change of its queue meanwhile, between whatever the child emits.
    pub(super) async fn accompany<T>(&self, work: impl Future<Output = T>) -> T {
        let Some(place) = &self.place else { return work.await };
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                biased;
                () = place.changed.notified() => {
                    self.listeners.emit(Event::Pending { entries: place.controls.interloper.peek() });
                }
                result = &mut work => return result,
            }
        }
    }

    /// Leaves the crew and says how the child ended.
    pub(super) fn ended(mut self, outcome: Outcome, message: Option<String>) {
        self.end = (outcome, message);
    }
}

impl Drop for Member<'_> {
    fn drop(&mut self) {
        if let Some(place) = self.place.take() {
            let entries = place.crew.dismiss(&self.id);
            if place.changed.notified().now_or_never().is_some() {
                self.listeners.emit(Event::Pending { entries: Vec::new() });
            }
            if !entries.is_empty() {
                self.listeners.emit(Event::Returned { entries });
            }
        }
        let (outcome, message) = (self.end.0, self.end.1.take());
        self.spawner.emit(Event::AgentFinished { child: self.id.clone(), outcome, message });
    }
}
