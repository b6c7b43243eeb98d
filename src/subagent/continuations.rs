//! The conversations of finished sub-agents, kept so that the user or the main agent can continue them.
//!
//! Filled by the `agent` tool when a child ends; a host asks for one with [`Continuations::ask`] and runs what
//! [`Continuations::take_asked`] returns. Short locks. Always holds: number and bytes are limited, the oldest give way; an
//! agent that runs is not among them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, Weak};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::Notify;

use crate::agent::Agent;
use crate::approval::Taint;
use crate::control::{Cancellable, Controls, Crew};
use crate::id::AgentId;
use crate::limits;
use crate::message::Message;
use crate::subagent::temp_workspace::Workshop;
use crate::subagent::tool::SubAgentTool;
use crate::sync::lock;

/// A finished sub-agent.
pub(super) struct KeptAgent {
    pub(super) id: AgentId,
    pub(super) persona: String,
    pub(super) messages: Vec<Message>,
    pub(super) turns: u32,
    /// What its conversation holds.
    pub(super) taint: Taint,
    /// Its own directory, where its persona has one.
    pub(super) workshop: Option<Workshop>,
    pub(super) bytes: usize,
}

impl KeptAgent {
    /// Keeps what an agent needs to go on.
    pub(super) fn of(agent: &Agent, persona: &str, taint: Taint, workshop: Option<Workshop>) -> Self {
        let messages = agent.history().messages().to_vec();
        let bytes = serde_json::to_vec(&messages).map_or(usize::MAX, |written| written.len());
        let (id, persona, turns) = (agent.id().clone(), persona.to_owned(), agent.turns());
        Self { id, persona, messages, turns, taint, workshop, bytes }
    }
}

/// The finished sub-agents of a session that can be continued.
#[derive(Default)]
pub struct Continuations {
    inner: Mutex<Inner>,
    tool: OnceLock<Weak<SubAgentTool>>,
    wake: Notify,
    watcher: OnceLock<Box<Watch>>,
}

type Watch = dyn Fn(Vec<AgentId>) + Send + Sync;

#[derive(Default)]
struct Inner {
    kept: VecDeque<KeptAgent>,
    asked: Vec<(KeptAgent, Arc<Crew>, Controls)>,
}

impl Continuations {
    /// Calls `watcher` with the agents that can be continued after each change; the first one stays.
    pub fn watch(&self, watcher: impl Fn(Vec<AgentId>) + Send + Sync + 'static) {
        let _ = self.watcher.set(Box::new(watcher));
    }

    /// Returns the agents that can be continued, the one that ended first at the front.
    pub fn ids(&self) -> Vec<AgentId> {
        lock(&self.inner).kept.iter().map(|agent| agent.id.clone()).collect()
    }

    /// Takes a finished agent back into the crew, so that its queue takes texts; its turn begins when the host runs it.
    /// `None` when its conversation is not kept.
    pub fn ask(&self, id: &AgentId, crew: &Arc<Crew>) -> Option<Controls> {
        let controls = {
            let mut inner = lock(&self.inner);
            let kept = inner.take(id)?;
            // The turn is no part of the main agent's: it has a flag of its own, which a stop of everything sets too.
            let controls = crew.enroll(id, &Cancellable::new());
            inner.asked.push((kept, Arc::clone(crew), controls.clone()));
            controls
        };
        self.changed();
        Some(controls)
    }

    /// Lets the host run what was asked for.
    pub fn wake(&self) {
        self.wake.notify_one();
    }

    /// Waits for a wake since the last one.
    pub async fn woken(&self) {
        self.wake.notified().await;
    }

    /// Returns the turns that were asked for, each to be run to its end beside everything else.
    pub fn take_asked(&self) -> Vec<BoxFuture<'static, ()>> {
        let asked = std::mem::take(&mut lock(&self.inner).asked);
        let tool = self.tool.get().and_then(Weak::upgrade);
        let run = |(kept, crew, controls)| {
            let tool = Arc::clone(tool.as_ref()?);
            Some(async move { tool.continue_for_user(kept, crew, controls).await }.boxed())
        };
        asked.into_iter().filter_map(run).collect()
    }

    /// Forgets all of them, because the conversation that they belong to is gone.
    pub fn clear(&self) {
        let kept = std::mem::take(&mut lock(&self.inner).kept);
        if !kept.is_empty() {
            self.changed();
        }
    }

    pub(super) fn run_by(&self, tool: &Arc<SubAgentTool>) {
        let _ = self.tool.set(Arc::downgrade(tool));
    }

    /// Keeps a finished agent, unless it alone is too large; the oldest give way.
    pub(super) fn keep(&self, agent: KeptAgent) {
        {
            let mut inner = lock(&self.inner);
            inner.kept.retain(|other| other.id != agent.id);
            if agent.bytes > limits::KEPT_AGENT_BYTES {
                return;
            }
            inner.kept.push_back(agent);
            let total = |inner: &Inner| inner.kept.iter().map(|agent| agent.bytes).sum::<usize>();
            while inner.kept.len() > limits::KEPT_AGENTS || total(&inner) > limits::KEPT_AGENT_BYTES {
                inner.kept.pop_front();
            }
        }
        self.changed();
    }

    /// Takes an agent that the model continues; the error names those that can be.
    pub(super) fn take(&self, id: &str) -> Result<KeptAgent, String> {
        let taken = lock(&self.inner).take(&AgentId::new(id));
        self.changed();
        taken.ok_or_else(|| {
            let known: Vec<String> = self.ids().iter().map(ToString::to_string).collect();
            if known.is_empty() {
                format!("no finished agent can be continued, also not '{id}'; leave `continue` out for a fresh one")
            } else {
                format!("'{id}' cannot be continued; these can: {}", known.join(", "))
            }
        })
    }

    fn changed(&self) {
        if let Some(watcher) = self.watcher.get() {
            watcher(self.ids());
        }
    }
}

impl Inner {
    fn take(&mut self, id: &AgentId) -> Option<KeptAgent> {
        let place = self.kept.iter().position(|agent| agent.id == *id)?;
        self.kept.remove(place)
    }
}
