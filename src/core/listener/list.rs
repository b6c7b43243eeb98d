//! The list of listeners of one agent; stamps each event with its agent, its time and its number.

use std::fmt;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::task::Poll;

use crate::listener::{HistoryChange, Listener};
use steersman_base::clock;
use steersman_base::event::{Envelope, Event, EventContext};
use steersman_base::id::AgentId;

type Listeners = Arc<[Arc<dyn Listener>]>;

/// The listeners of one agent, to which it emits its events. Cheap to clone; clones emit as the same agent.
#[derive(Clone)]
pub struct ListenerList {
    agent: AgentId,
    parent: Option<AgentId>,
    /// One counter for the whole tree (D12).
    seq: Arc<AtomicU64>,
    listeners: Listeners,
    /// Those that came while the tree ran already.
    attached: Arc<RwLock<Listeners>>,
}

impl ListenerList {
    /// Makes the list of a main agent; copies its input.
    pub fn new(listeners: &[Arc<dyn Listener>]) -> Self {
        let listeners = Arc::from(listeners.to_vec());
        let attached = Arc::new(RwLock::new(Arc::from(Vec::new())));
        Self { agent: AgentId::main(), parent: None, seq: Arc::default(), listeners, attached }
    }

    /// Returns a new list for a child of this agent, each listener mapped through its own hook.
    #[must_use]
    pub fn for_sub_agent(&self, id: &AgentId) -> Self {
        // A listener that panics here counts as one that does not derive: it gets the child's events itself.
        let derive = |listener: &Arc<dyn Listener>| {
            let derived = guarded(listener, || listener.for_sub_agent(id)).flatten();
            derived.unwrap_or_else(|| Arc::clone(listener))
        };
        Self {
            agent: id.clone(),
            parent: Some(self.agent.clone()),
            seq: Arc::clone(&self.seq),
            listeners: self.listeners.iter().map(derive).collect(),
            attached: Arc::clone(&self.attached),
        }
    }

    /// Adds a listener that gets every event of the whole tree from here on, itself.
    pub fn attach(&self, listener: Arc<dyn Listener>) {
        let mut attached = self.attached.write().unwrap_or_else(PoisonError::into_inner);
        *attached = attached.iter().cloned().chain([listener]).collect();
    }

    /// Removes a listener that was attached; it may still get an event that is being emitted.
    pub fn detach(&self, listener: &Arc<dyn Listener>) {
        let mut attached = self.attached.write().unwrap_or_else(PoisonError::into_inner);
        *attached = attached.iter().filter(|other| !Arc::ptr_eq(other, listener)).cloned().collect();
    }

    /// Returns those that came while the tree ran already.
    fn attached(&self) -> Listeners {
        Arc::clone(&self.attached.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the same list with more listeners appended.
    #[must_use]
    pub fn with(&self, more: &[Arc<dyn Listener>]) -> Self {
        Self { listeners: self.listeners.iter().chain(more).cloned().collect(), ..self.clone() }
    }

    /// Returns the same list for an agent that has this id but was not spawned by another.
    #[must_use]
    pub fn with_id(&self, id: AgentId) -> Self {
        Self { agent: id, ..self.clone() }
    }

    /// Returns the same list, whose events are numbered behind this one.
    #[must_use]
    pub fn behind(self, seq: u64) -> Self {
        self.seq.fetch_max(seq, Ordering::SeqCst);
        self
    }

    /// Returns the agent whose events go through this list.
    pub fn agent(&self) -> &AgentId {
        &self.agent
    }

    /// Returns the agent that spawned that one.
    pub fn parent(&self) -> Option<&AgentId> {
        self.parent.as_ref()
    }

    /// Returns the listeners, in order.
    pub fn listeners(&self) -> &[Arc<dyn Listener>] {
        &self.listeners
    }

    /// Stamps one event and passes it to every listener.
    pub fn emit(&self, event: Event) {
        self.emit_as(self.agent.clone(), self.parent.clone(), event);
    }

    /// As [`ListenerList::emit`], in the name of an agent that no longer runs.
    pub fn emit_as(&self, agent: AgentId, parent: Option<AgentId>, event: Event) {
        let attached = self.attached();
        let envelope =
            Envelope { seq: self.seq.fetch_add(1, Ordering::SeqCst) + 1, at: clock::now(), agent, parent, event };
        for listener in self.listeners.iter().chain(attached.iter()) {
            guarded(listener, || listener.on_event(&envelope));
        }
    }
}

impl ListenerList {
    /// Passes a change of the agent's conversation to every listener.
    pub fn notify_history(&self, change: HistoryChange<'_>) {
        let attached = self.attached();
        for listener in self.listeners.iter().chain(attached.iter()) {
            guarded(listener, || listener.on_history(&self.agent, change));
        }
    }

    /// Passes what the next event of the agent does not say by itself to every listener.
    pub fn notify_facts(&self, facts: &EventContext) {
        let attached = self.attached();
        for listener in self.listeners.iter().chain(attached.iter()) {
            guarded(listener, || listener.on_facts(&self.agent, facts));
        }
    }

    /// Waits until every listener has kept for good what it heard so far.
    pub async fn kept(&self) {
        let attached = self.attached();
        for listener in self.listeners.iter().chain(attached.iter()) {
            if let Some(kept) = guarded(listener, || listener.kept()).flatten() {
                kept.await;
            }
        }
    }
}

/// Calls a listener, which must not break a turn (D17); `None` when it panicked.
fn guarded<T>(listener: &Arc<dyn Listener>, ask: impl FnOnce() -> T) -> Option<T> {
    let answer = catch_unwind(AssertUnwindSafe(ask)).ok();
    if answer.is_none() {
        let label = catch_unwind(AssertUnwindSafe(|| listener.label())).unwrap_or_default();
        tracing::error!(listener = %label, "a listener panicked; the run goes on");
    }
    answer
}

impl ListenerList {
    /// Polls `reading` only while every listener can take more events.
    pub async fn pace<T>(&self, reading: impl Future<Output = T>) -> T {
        let attached = self.attached();
        let mut reading = std::pin::pin!(reading);
        poll_fn(|context| {
            for listener in self.listeners.iter().chain(attached.iter()) {
                if let Some(Poll::Pending) = guarded(listener, || listener.poll_ready(context)) {
                    return Poll::Pending;
                }
            }
            reading.as_mut().poll(context)
        })
        .await
    }
}

impl Default for ListenerList {
    fn default() -> Self {
        Self::new(&[])
    }
}

impl fmt::Display for ListenerList {
    /// Writes the labels in brackets: `[Terminal, TokenLog]`; a listener without one belongs to an agent itself.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let labels = self.listeners.iter().map(Listener::label);
        let labels: Vec<String> = labels.filter(|label| !label.is_empty()).collect();
        write!(f, "[{}]", labels.join(", "))
    }
}

impl fmt::Debug for ListenerList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
