//! The finished sub-agents of a session that the user or the main agent can continue, the turns that the user gave them, and the
//! sub-agents in the background.
//!
//! Filled by the `agent` tool when a child ends; a host takes one with [`Continuations::enroll`] and runs what
//! [`Continuations::take_begun`] returns, beside everything else. Short locks. Always holds: an agent that runs is not among them.

use std::sync::{Arc, Mutex, OnceLock, Weak};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::Notify;

use crate::subagent::finished::{FinishedAgent, FinishedAgents};
use crate::subagent::tool::SubAgentTool;
use steersman_base::id::AgentId;
use steersman_base::sync::lock;
use steersman_core::control::{AgentControls, Cancellable, Controls};

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
    kept: FinishedAgents,
    /// The turns that the host has not taken yet.
    begun: Vec<BoxFuture<'static, ()>>,
    /// True while a host runs such turns.
    is_attended: bool,
}

/// A finished sub-agent that is in the agent tree again.
pub struct Continuation {
    agent: FinishedAgent,
    agent_controls: Arc<AgentControls>,
    controls: Controls,
}

impl Continuation {
    /// Returns what it is steered with.
    pub fn controls(&self) -> &Controls {
        &self.controls
    }
}

impl Continuations {
    /// Calls `watcher` with the agents that can be continued, now if there are any, and after each change; the first one
    /// stays.
    pub fn watch(&self, watcher: impl Fn(Vec<AgentId>) + Send + Sync + 'static) {
        let _ = self.watcher.set(Box::new(watcher));
        if !self.ids().is_empty() {
            self.changed();
        }
    }

    /// Returns the agents that can be continued, the one that ended first at the front.
    pub fn ids(&self) -> Vec<AgentId> {
        lock(&self.inner).kept.ids()
    }

    /// Takes a finished agent back into the agent tree, so that its queue takes texts; [`Continuations::begin`] must
    /// follow. `None` when its conversation is not kept.
    pub fn enroll(&self, id: &AgentId, agent_controls: &Arc<AgentControls>) -> Option<Continuation> {
        let agent = lock(&self.inner).kept.take_agent(id)?;
        self.changed();
        // The turn is no part of the main agent's: it has a flag of its own, which a stop of everything sets too.
        let controls = agent_controls.enroll(id, &Cancellable::new());
        Some(Continuation { agent, agent_controls: Arc::clone(agent_controls), controls })
    }

    /// Lets the host run the turn of an agent whose queue has its first text.
    pub fn begin(&self, continuation: Continuation) {
        let Continuation { agent, agent_controls, controls } = continuation;
        let Some(tool) = self.tool.get().and_then(Weak::upgrade) else { return };
        self.run_beside(async move { tool.continue_for_user(agent, agent_controls, controls).await }.boxed());
    }

    /// Lets the host run this beside everything else.
    pub(super) fn run_beside(&self, work: BoxFuture<'static, ()>) {
        lock(&self.inner).begun.push(work);
        self.wake.notify_one();
    }

    /// Notes that a host runs what [`Continuations::take_begun`] returns from now on, or no longer.
    pub fn attend(&self, is_attended: bool) {
        lock(&self.inner).is_attended = is_attended;
    }

    /// Tells whether a host runs what goes on without its call.
    pub fn is_attended(&self) -> bool {
        lock(&self.inner).is_attended
    }

    /// Waits until a turn is to begin.
    pub async fn woken(&self) {
        self.wake.notified().await;
    }

    /// Returns the turns that are to begin, each to be run to its end beside everything else.
    pub fn take_begun(&self) -> Vec<BoxFuture<'static, ()>> {
        std::mem::take(&mut lock(&self.inner).begun)
    }

    /// Tells whether turns are to begin that the host has not taken yet.
    pub fn has_begun(&self) -> bool {
        !lock(&self.inner).begun.is_empty()
    }

    /// Forgets all of them, because the conversation that they belong to is gone.
    pub fn clear(&self) {
        let kept = std::mem::take(&mut lock(&self.inner).kept);
        if !kept.ids().is_empty() {
            self.changed();
        }
    }

    pub(super) fn run_by(&self, tool: &Arc<SubAgentTool>) {
        let _ = self.tool.set(Arc::downgrade(tool));
    }

    /// Keeps a finished agent, as [`FinishedAgents::keep`] does.
    pub(super) fn keep(&self, agent: FinishedAgent) {
        lock(&self.inner).kept.keep(agent);
        self.changed();
    }

    /// Takes over the agents of a session that goes on, as far as their personas are there.
    pub fn take_over(&self, mut agents: FinishedAgents) {
        let tool = self.tool.get().and_then(Weak::upgrade);
        agents.retain(|persona| tool.as_ref().is_some_and(|tool| tool.has_persona(persona)));
        lock(&self.inner).kept = agents;
        self.changed();
    }

    /// Takes an agent that the model continues; the error names those that can be.
    pub(super) fn take_agent(&self, id: &str) -> Result<FinishedAgent, String> {
        let taken = lock(&self.inner).kept.take_agent(&AgentId::new(id));
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
