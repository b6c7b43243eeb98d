//! Finished sub-agents that can be continued.

use std::sync::Arc;

use futures_util::future::join_all;
use steersman_agent::Agent;
use steersman_agent::subagent::{Persona, SubAgents};
use steersman_base::error::Refused;
use steersman_base::event::Delivery;
use steersman_base::id::AgentId;
use steersman_core::control::{AgentControls, Controls, PauseGate};
use steersman_core::listener::Listener;
use steersman_core::provider::Played;
use steersman_session::host::Handle;

use crate::doubles::{Rig, tool};

/// A rig whose finished children are kept.
pub struct Kept {
    pub rig: Rig,
    pub handle: Handle,
    /// Who hears of everything beside the rig.
    pub listeners: Vec<Arc<dyn Listener>>,
}

impl Kept {
    pub fn new(script: impl IntoIterator<Item = Played>) -> Self {
        let rig = Rig::new(script);
        let (interloper, cancellable) = (Arc::clone(&rig.interloper), rig.cancellable.clone());
        let crew = Arc::new(AgentControls::new(Controls { interloper, cancellable, gate: Arc::new(PauseGate::new()) }));
        Self { rig, handle: Handle::new(crew, Arc::default()), listeners: Vec::new() }
    }

    pub async fn parent(&self, personas: Vec<Persona>) -> Agent {
        let (crew, kept) = (Arc::clone(self.handle.agent_controls()), Arc::clone(self.handle.continuations()));
        let built = self.rig.try_build(self.rig.builder(), |c| {
            self.listeners.iter().for_each(|listener| c.add_listener(Arc::clone(listener)));
            c.add_tool(tool("look", "seen"))?;
            c.add_extension(Arc::new(SubAgents::new(personas)?.agent_controls(crew).continuations(kept)))
        });
        built.await.unwrap()
    }

    pub fn tell(&self, agent: &str, text: &str) -> Result<String, Refused> {
        self.handle
            .inject_user_message(&AgentId::new(agent), (text, Delivery::Steer))
            .map(|pending| pending.id.to_string())
    }

    /// Runs what the user asked for to its end, as the worker does.
    pub async fn run_begun(&self) {
        join_all(self.handle.continuations().take_begun()).await;
    }

    pub fn kept(&self) -> Vec<String> {
        self.handle.continuations().ids().iter().map(ToString::to_string).collect()
    }
}
