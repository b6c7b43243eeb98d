//! Listeners: consumers of the event stream. Only the agent emits events; a listener never answers.
//!
//! Called on the agent's task, in registration order; they must not block. A panicking listener is caught and
//! logged, and the others still get the event (D17).
//!
//! # Where things are
//!
//! - plain output, `--json`, token lines, slow sinks: `terminal.rs`, `jsonl.rs`, `token_log.rs`,
//!   `rate_limited.rs`; tests: `plain_output.rs`, `listeners.rs`
//! - the list of listeners of one agent; stamps each event with its agent, its time and its number: `list.rs`
//! - a text that is printed while it still grows, sanitised as if it had been whole: `live.rs`
//! - the writers of plain output: the answer and the notes on one writer, or each on its own: `plain_out.rs`
//! - the recorder: keeps every event of a tree in memory: `recorder.rs`
//! - one-line forms of events, for listeners that write lines of text: `summary.rs`

mod jsonl;
mod list;
mod live;
mod plain_out;
mod rate_limited;
mod recorder;
mod summary;
mod terminal;
mod token_log;

use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;

use steersman_base::event::{Envelope, EventContext};
use steersman_base::id::AgentId;
use steersman_base::message::Message;

pub use jsonl::{Deltas, JsonLines};
pub use list::ListenerList;
pub use rate_limited::{Clock, RateLimited};
pub use recorder::InMemoryEventList;
pub use terminal::Terminal;
pub use token_log::TokenLog;

/// A change of an agent's conversation, as the next request will carry it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum HistoryChange<'a> {
    /// This message was appended.
    Appended(&'a Message),
    /// The whole conversation is this from here on: after a reset and a compaction.
    Replaced(&'a [Message]),
}

/// A consumer of events.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// use steersman_base::event::{Envelope, Event};
/// use steersman_core::listener::Listener;
///
/// /// Counts the calls of an agent and its sub-agents.
/// #[derive(Default)]
/// struct Calls(AtomicUsize);
///
/// impl Listener for Calls {
///     fn on_event(&self, envelope: &Envelope) {
///         if let Event::ToolCall { .. } = envelope.event {
///             self.0.fetch_add(1, Ordering::Relaxed);
///         }
///     }
///
///     fn label(&self) -> String {
///         "Calls".to_owned()
///     }
/// }
/// ```
pub trait Listener: Send + Sync {
    /// Takes one event.
    fn on_event(&self, envelope: &Envelope);

    /// Takes one change of an agent's conversation; it comes behind the events that tell of it.
    fn on_history(&self, agent: &AgentId, change: HistoryChange<'_>) {
        let _ = (agent, change);
    }

    /// Takes what the next event of this agent does not say by itself.
    fn on_facts(&self, agent: &AgentId, facts: &EventContext) {
        let _ = (agent, facts);
    }

    /// Returns what ends when everything heard so far is kept for good; `None` when there is nothing to wait for. Asked
    /// before a request that carries what a person typed and before a call that has effects; both wait for it.
    fn kept(&self) -> Option<BoxFuture<'static, ()>> {
        None
    }

    /// Returns the listener that a sub-agent's events go to; `None` means this same instance.
    fn for_sub_agent(&self, id: &AgentId) -> Option<Arc<dyn Listener>> {
        let _ = id;
        None
    }

    /// Returns whether it can take more events; when it cannot, it wakes the task once it can. Asked before an
    /// agent reads on in a reply, so that a slow reader slows the server down. Nothing else waits for it, and no
    /// event is held back.
    fn poll_ready(&self, context: &mut Context<'_>) -> Poll<()> {
        let _ = context;
        Poll::Ready(())
    }

    /// Returns the short name shown in banners, e.g. `Terminal`.
    fn label(&self) -> String;
}

impl<L: Listener + ?Sized> Listener for Arc<L> {
    fn on_event(&self, envelope: &Envelope) {
        (**self).on_event(envelope);
    }

    fn on_history(&self, agent: &AgentId, change: HistoryChange<'_>) {
        (**self).on_history(agent, change);
    }

    fn on_facts(&self, agent: &AgentId, facts: &EventContext) {
        (**self).on_facts(agent, facts);
    }

    fn kept(&self) -> Option<BoxFuture<'static, ()>> {
        (**self).kept()
    }

    fn for_sub_agent(&self, id: &AgentId) -> Option<Arc<dyn Listener>> {
        (**self).for_sub_agent(id)
    }

    fn poll_ready(&self, context: &mut Context<'_>) -> Poll<()> {
        (**self).poll_ready(context)
    }

    fn label(&self) -> String {
        (**self).label()
    }
}
