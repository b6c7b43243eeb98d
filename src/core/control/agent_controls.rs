//! The controls of every running agent of the tree, so that a host can steer each by itself.
//!
//! Children (D21) have a queue, a cancel flag and a gate of their own only when the host
//! hands agent controls to the part that spawns them. Always holds: an agent is in the list from before its first request until
//! its end; what was pending when it ended goes to whoever dismissed it, never lost.

use std::sync::{Arc, Mutex};

use crate::control::interloper::Watcher;
use crate::control::{Cancellable, Interloper, PauseGate};
use crate::sync::lock;
use steersman_base::error::Refused;
use steersman_base::event::{Pending, UserText};
use steersman_base::id::AgentId;

/// The three handles through which one agent is steered. Clones are the same handles.
#[derive(Debug, Clone)]
pub struct Controls {
    /// Its queue.
    pub interloper: Arc<Interloper>,
    /// Its cancel flag; also set by that of whoever spawned it.
    pub cancellable: Cancellable,
    /// Its gate.
    pub gate: Arc<PauseGate>,
}

impl Default for Controls {
    fn default() -> Self {
        Self { interloper: Arc::default(), cancellable: Cancellable::new(), gate: Arc::new(PauseGate::new()) }
    }
}

impl Controls {
    /// Sends a message to the agent, from any thread: it starts a turn, or enters the one that runs at its next boundary.
    ///
    /// ```
    /// use steersman_core::control::Controls;
    /// use steersman_base::event::Delivery;
    ///
    /// let controls = Controls::default();
    /// controls.send("Only the birds, please.")?;
    /// controls.send(("And a summary at the end.", Delivery::FollowUp))?;
    /// assert_eq!(controls.interloper.peek().len(), 2);
    /// # Ok::<(), steersman_base::error::Refused>(())
    /// ```
    ///
    /// # Errors
    /// [`Refused`]; the caller keeps the text.
    pub fn send(&self, message: impl Into<UserText>) -> Result<Pending, Refused> {
        self.interloper.inject_user_message(message)
    }
}

impl From<Controls> for Arc<AgentControls> {
    /// Makes the agent controls of the main agent alone.
    fn from(main: Controls) -> Self {
        Self::new(AgentControls::new(main))
    }
}

/// The controls of all agents that run.
///
/// Example: "The controls of a tree" in the documentation of `steersman::prelude`.
pub struct AgentControls {
    inner: Mutex<Inner>,
}

struct Inner {
    main: Controls,
    members: Vec<Member>,
    watchers: Vec<Watcher>,
    /// True while the whole tree is paused: who comes later is paused too.
    paused: bool,
}

struct Member {
    id: AgentId,
    controls: Controls,
}

impl Default for AgentControls {
    /// Makes the agent controls of a main agent with controls of its own.
    fn default() -> Self {
        Self::new(Controls::default())
    }
}

impl AgentControls {
    /// Makes the agent controls of the main agent alone.
    pub fn new(main: Controls) -> Self {
        Self { inner: Mutex::new(Inner { main, members: Vec::new(), watchers: Vec::new(), paused: false }) }
    }

    /// Sends a message to one agent, as [`Controls::send`] does.
    ///
    /// # Errors
    /// [`Refused::Ended`] when it does not run (any more), else as [`Controls::send`].
    pub fn send_to(&self, agent: &AgentId, message: impl Into<UserText>) -> Result<Pending, Refused> {
        self.get(agent).ok_or(Refused::Ended)?.send(message)
    }

    /// Returns the controls of the main agent.
    pub fn main(&self) -> Controls {
        lock(&self.inner).main.clone()
    }

    /// Returns the controls of an agent; `None` when it does not run (any more). The main agent is always there.
    pub fn get(&self, id: &AgentId) -> Option<Controls> {
        let inner = lock(&self.inner);
        if id.is_main() {
            return Some(inner.main.clone());
        }
        inner.members.iter().find(|member| member.id == *id).map(|member| member.controls.clone())
    }

    /// Returns the ids of all that run, the main agent first, then in the order of their spawn.
    pub fn ids(&self) -> Vec<AgentId> {
        let inner = lock(&self.inner);
        std::iter::once(AgentId::main()).chain(inner.members.iter().map(|member| member.id.clone())).collect()
    }

    /// Returns what is pending for whom; agents without anything are left out.
    pub fn peek(&self) -> Vec<(AgentId, Vec<Pending>)> {
        let all: Vec<(AgentId, Controls)> = {
            let inner = lock(&self.inner);
            let members = inner.members.iter().map(|member| (member.id.clone(), member.controls.clone()));
            std::iter::once((AgentId::main(), inner.main.clone())).chain(members).collect()
        };
        let queues = all.into_iter().map(|(id, controls)| (id, controls.interloper.peek()));
        queues.filter(|(_, entries)| !entries.is_empty()).collect()
    }

    /// Makes the controls of an agent that is about to run. Its flag is a child of `cancellable`.
    pub fn enroll(&self, id: &AgentId, cancellable: &Cancellable) -> Controls {
        let mut inner = lock(&self.inner);
        let interloper = Arc::new(inner.main.interloper.sibling());
        for watcher in &inner.watchers {
            interloper.watch(Arc::clone(watcher));
        }
        let controls = Controls { interloper, cancellable: cancellable.child(), gate: Arc::new(PauseGate::new()) };
        if inner.paused {
            controls.gate.pause();
        }
        inner.members.push(Member { id: id.clone(), controls: controls.clone() });
        controls
    }

    /// Takes an agent out that has ended and returns what was still pending for it.
    pub fn dismiss(&self, id: &AgentId) -> Vec<Pending> {
        let member = {
            let mut inner = lock(&self.inner);
            let index = inner.members.iter().position(|member| member.id == *id);
            index.map(|index| inner.members.remove(index))
        };
        member.map_or_else(Vec::new, |member| member.controls.interloper.close())
    }

    /// Pauses every agent, also those that come later.
    pub fn pause_all(&self) {
        for controls in self.all(true) {
            controls.gate.pause();
        }
    }

    /// Lets every agent go on.
    pub fn resume_all(&self) {
        for controls in self.all(false) {
            controls.gate.resume();
        }
    }

    /// Stops the running turn and takes every pending entry back, the main agent's first and as one step with the stop,
    /// then those of its sub-agents.
    pub fn stop(&self) -> Vec<Pending> {
        let main = self.main();
        let mut back = main.interloper.stop(&main.cancellable);
        for controls in self.ids().iter().filter(|id| !id.is_main()).filter_map(|id| self.get(id)) {
            back.extend(controls.interloper.stop(&controls.cancellable));
        }
        back
    }

    /// Stops the running turn, that of each sub-agent too; what is pending stays in the lists.
    pub fn halt(&self) {
        for controls in self.ids().iter().filter_map(|id| self.get(id)) {
            controls.interloper.halt(&controls.cancellable);
        }
    }

    /// Calls `watcher` after each change of any queue, now and later. It must not block.
    pub fn watch(&self, watcher: &Watcher) {
        let mut inner = lock(&self.inner);
        inner.main.interloper.watch(Arc::clone(watcher));
        for member in &inner.members {
            member.controls.interloper.watch(Arc::clone(watcher));
        }
        inner.watchers.push(Arc::clone(watcher));
    }

    fn all(&self, paused: bool) -> Vec<Controls> {
        let mut inner = lock(&self.inner);
        inner.paused = paused;
        let members = inner.members.iter().map(|member| member.controls.clone());
        std::iter::once(inner.main.clone()).chain(members).collect()
    }
}
