//! The decorator for slow sinks: deltas wait and merge, so that the inner listener gets few and large ones.
//!
//! Nothing is dropped and the order stays: waiting deltas are passed on before any other event. Called on the
//! agent's task only, like every listener; it owns no timer, so waiting deltas are passed on with the next event
//! after the interval.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crate::listener::Listener;
use steersman_base::event::Envelope;
use steersman_base::id::AgentId;
use steersman_base::sync::lock;

/// A function that returns the time since some fixed moment.
pub type Clock = Arc<dyn Fn() -> Duration + Send + Sync>;

/// A listener that passes deltas on at most once per interval, everything else at once.
pub struct RateLimited {
    inner: Arc<dyn Listener>,
    interval: Duration,
    clock: Clock,
    waiting: Mutex<WaitingDeltas>,
}

#[derive(Default)]
struct WaitingDeltas {
    /// Adjacent deltas of one agent and kind are merged.
    deltas: Vec<Envelope>,
    /// When deltas were last passed on.
    passed: Option<Duration>,
}

impl RateLimited {
    /// Wraps a listener; deltas reach it at most once per `interval`.
    pub fn new(inner: Arc<dyn Listener>, interval: Duration) -> Self {
        let start = Instant::now();
        Self::with_clock(inner, interval, Arc::new(move || start.elapsed()))
    }

    /// Wraps a listener, with the caller's clock.
    pub fn with_clock(inner: Arc<dyn Listener>, interval: Duration, clock: Clock) -> Self {
        Self { inner, interval, clock, waiting: Mutex::default() }
    }

    /// Takes the events that are to be passed on now, in order.
    fn due(&self, envelope: &Envelope) -> Vec<Envelope> {
        let now = (self.clock)();
        let mut waiting = lock(&self.waiting);
        if !waiting.deltas.last_mut().is_some_and(|last| last.merge(envelope)) {
            waiting.deltas.push(envelope.clone());
        }
        let early = waiting.passed.is_some_and(|passed| now.saturating_sub(passed) < self.interval);
        if envelope.event.is_piece() {
            if early {
                return Vec::new();
            }
            waiting.passed = Some(now);
        }
        std::mem::take(&mut waiting.deltas)
    }
}

impl Listener for RateLimited {
    fn on_event(&self, envelope: &Envelope) {
        for due in self.due(envelope) {
            self.inner.on_event(&due);
        }
    }

    /// Wraps the inner listener's child. One that is shared stays behind this same instance, so that its order stays.
    fn for_sub_agent(&self, id: &AgentId) -> Option<Arc<dyn Listener>> {
        let inner = self.inner.for_sub_agent(id)?;
        Some(Arc::new(Self::with_clock(inner, self.interval, Arc::clone(&self.clock))))
    }

    fn poll_ready(&self, context: &mut Context<'_>) -> Poll<()> {
        self.inner.poll_ready(context)
    }

    fn label(&self) -> String {
        format!("RateLimited({})", self.inner.label())
    }
}

impl Drop for RateLimited {
    /// Passes on the deltas that still wait.
    fn drop(&mut self) {
        let waiting = self.waiting.get_mut().unwrap_or_else(PoisonError::into_inner);
        for delta in std::mem::take(&mut waiting.deltas) {
            self.inner.on_event(&delta);
        }
    }
}
