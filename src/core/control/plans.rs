//! The plans of a whole tree of agents, each shared by its model and the user.
//!
//! Beside each plan stands what the agent's model knows of it. What differs is told before the next request as one text;
//! when the model rewrites its plan first, the user's changes are applied to what it wrote. So no change of the user is
//! ever lost or silent. Always holds: the lock is held for a few lines, and never while somebody is told.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, OnceLock};

use crate::sync::lock;
use steersman_base::id::{AgentId, ClientId};
use steersman_base::plan::{
    Plan, PlanAuthor, PlanChange, PlanChanged, PlanEdit, PlanRefused, WrittenStep, changes_between, reapply, summary,
};

/// The plans of a tree.
///
/// Example: "A plan that the user changes" in the documentation of `steersman::prelude`.
#[derive(Default)]
pub struct Plans {
    inner: Mutex<Inner>,
    /// Gets the user's changes, on the thread that makes them.
    listener: OnceLock<Box<EditListener>>,
}

type EditListener = dyn Fn(&AgentId, PlanChanged) + Send + Sync;

#[derive(Default)]
struct Inner {
    plans: HashMap<AgentId, SharedPlan>,
    /// Counts the changes of all of them.
    version: u64,
    /// Submitted plans that nobody was there to accept: each is the answer of its turn.
    unread: HashMap<AgentId, Plan>,
}

/// A plan and what its model knows of it.
#[derive(Debug, Clone, Default)]
struct SharedPlan {
    plan: Plan,
    known: Plan,
    version: u64,
}

/// What came of a plan that a model wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenPlan {
    /// The change, if it was one.
    pub changed: Option<PlanChanged>,
    /// The plan as it is now.
    pub plan: Plan,
    /// What the user changed that the model does not know yet.
    pub by_user: Vec<PlanChange>,
}

/// What a model is to be told of its plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanUpdate {
    /// The version of the plan.
    pub version: u64,
    /// What the user changed.
    pub changes: Vec<PlanChange>,
    /// The plan as it is now.
    pub plan: Plan,
}

impl Plans {
    /// Returns the plan of an agent.
    pub fn of(&self, agent: &AgentId) -> Plan {
        lock(&self.inner).plans.get(agent).map(|shared| shared.plan.clone()).unwrap_or_default()
    }

    /// Returns the plan of an agent as its model knows it.
    pub fn plan_or_default(&self, agent: &AgentId) -> Plan {
        lock(&self.inner).plans.get(agent).map(|shared| shared.known.clone()).unwrap_or_default()
    }

    /// Takes the whole plan that an agent's model wrote; what the user changed since the model knew it stays.
    ///
    /// # Errors
    /// [`PlanRefused`]; the plan is as it was.
    pub fn write(&self, agent: &AgentId, steps: Vec<WrittenStep>) -> Result<WrittenPlan, PlanRefused> {
        let mut inner = lock(&self.inner);
        let version = inner.version + 1;
        let shared = inner.plans.entry(agent.clone()).or_default();
        let by_user = changes_between(&shared.known, &shared.plan);
        let known = Plan { made: shared.plan.made, ..shared.known.clone() }.rewritten(steps)?;
        let plan = reapply(&by_user, known.clone());
        let by_agent = changes_between(&shared.plan, &plan);
        (shared.known, shared.plan) = (known, plan.clone());
        let by_user = changes_between(&shared.known, &shared.plan);
        let changed = (!by_agent.is_empty()).then(|| {
            shared.version = version;
            shared.change(PlanAuthor::Agent, None, &by_agent)
        });
        if changed.is_some() {
            inner.version = version;
        }
        Ok(WrittenPlan { changed, plan, by_user })
    }

    /// Carries out a change of the user.
    ///
    /// # Errors
    /// [`PlanRefused`]; the plan is as it was.
    pub fn edit(&self, agent: &AgentId, edit: &PlanEdit, sender: Option<ClientId>) -> Result<(), PlanRefused> {
        let changed = {
            let mut inner = lock(&self.inner);
            let version = inner.version + 1;
            let mut plan = inner.plans.get(agent).map(|shared| shared.plan.clone()).unwrap_or_default();
            let before = plan.clone();
            plan.edit(edit)?;
            let shared = inner.plans.entry(agent.clone()).or_default();
            shared.plan = plan;
            // Ids go on behind those of the user's steps.
            shared.known.made = shared.plan.made;
            shared.version = version;
            let changed = shared.change(PlanAuthor::User, sender, &changes_between(&before, &shared.plan));
            inner.version = version;
            changed
        };
        if let Some(listener) = self.listener.get() {
            listener(agent, changed);
        }
        Ok(())
    }

    /// Takes what an agent's model is to be told; from here on it counts as told.
    pub fn take_update(&self, agent: &AgentId) -> Option<PlanUpdate> {
        let mut inner = lock(&self.inner);
        let shared = inner.plans.get_mut(agent)?;
        let changes = changes_between(&shared.known, &shared.plan);
        shared.known = shared.plan.clone();
        (!changes.is_empty()).then(|| PlanUpdate { version: shared.version, changes, plan: shared.plan.clone() })
    }

    /// Notes that nobody is there to accept a submitted plan: it is the answer of its agent's turn.
    pub fn answer_with(&self, agent: &AgentId, plan: Plan) {
        lock(&self.inner).unread.insert(agent.clone(), plan);
    }

    /// Takes the plan that is the answer of an agent's turn.
    pub fn take_answer(&self, agent: &AgentId) -> Option<Plan> {
        lock(&self.inner).unread.remove(agent)
    }

    /// Forgets the plan of an agent that has ended, or begins anew.
    pub fn forget(&self, agent: &AgentId) {
        let mut inner = lock(&self.inner);
        inner.plans.remove(agent);
        inner.unread.remove(agent);
    }

    /// Takes over the plan that an earlier process of the session left.
    pub fn take_over(&self, agent: &AgentId, left: PlanChanged) {
        let PlanChanged { version, plan, known, .. } = left;
        let known = known.unwrap_or_else(|| plan.clone());
        let mut inner = lock(&self.inner);
        inner.version = inner.version.max(version);
        inner.plans.insert(agent.clone(), SharedPlan { plan, known, version });
    }

    /// Sets the listener that gets each change of the user; the first one stays.
    pub fn on_edit(&self, listener: impl Fn(&AgentId, PlanChanged) + Send + Sync + 'static) {
        let _ = self.listener.set(Box::new(listener));
    }

    /// Tells whether somebody listens to the user's changes.
    pub fn has_listener(&self) -> bool {
        self.listener.get().is_some()
    }
}

impl SharedPlan {
    fn change(&self, by: PlanAuthor, sender: Option<ClientId>, changes: &[PlanChange]) -> PlanChanged {
        let is_known = changes_between(&self.known, &self.plan).is_empty();
        let known = (!is_known).then(|| self.known.clone());
        PlanChanged { version: self.version, by, sender, summary: summary(changes), plan: self.plan.clone(), known }
    }
}

impl fmt::Debug for Plans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plans({})", lock(&self.inner).plans.len())
    }
}
