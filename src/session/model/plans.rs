//! The plans of the agents, and what of each its model does not know yet.
//!
//! A change by the agent and one by the user come from two threads, so the later version holds, whichever came first. The
//! plan of an agent that has ended stays.

use std::collections::BTreeMap;

use steersman_base::event::{Envelope, Event};
use steersman_base::id::AgentId;
use steersman_base::plan::{Plan, PlanAuthor, PlanChange, PlanChanged, PlanNews, changes_between, summary};

/// The plans of the agents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlanList {
    plans: BTreeMap<AgentId, AgentPlan>,
}

/// The plan of an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentPlan {
    /// The plan (untrusted).
    pub plan: Plan,
    /// As its model knew it at that version; `None` where it knew all of it.
    known: Option<Plan>,
    version: u64,
    /// The version that the model was told of last.
    sent: u64,
}

impl PlanList {
    /// Returns the plan of an agent; `None` where it has none.
    pub fn get(&self, agent: &AgentId) -> Option<&AgentPlan> {
        self.plans.get(agent).filter(|shared| !shared.plan.is_empty())
    }

    /// Returns the agents that have a plan.
    pub fn agents(&self) -> impl Iterator<Item = &AgentId> {
        self.plans.iter().filter(|(_, shared)| !shared.plan.is_empty()).map(|(agent, _)| agent)
    }

    /// Returns what waits to be told, in a few words for each agent.
    pub fn waiting(&self) -> impl Iterator<Item = (&AgentId, String)> {
        let words = self.plans.iter().map(|(agent, plan)| (agent, summary(&plan.unsent())));
        words.filter(|(_, words)| !words.is_empty())
    }

    /// Applies one event.
    pub fn apply(&mut self, envelope: &Envelope) {
        match &envelope.event {
            Event::PlanChanged(changed) => self.plans.entry(envelope.agent.clone()).or_default().change(changed),
            Event::PlanNotified(sent) => match sent.news {
                PlanNews::Changed => {
                    let shared = self.plans.entry(envelope.agent.clone()).or_default();
                    shared.sent = shared.sent.max(sent.version);
                }
                PlanNews::ModeOn | PlanNews::ModeOff => {}
            },
            Event::Reset {} => {
                self.plans.remove(&envelope.agent);
            }
            // What was not told by then is told to nobody.
            Event::AgentFinished { child, .. } => {
                if let Some(shared) = self.plans.get_mut(child) {
                    shared.sent = shared.version;
                }
            }
            _ => {}
        }
    }
}

impl AgentPlan {
    /// Returns what the user changed that the agent's model does not know yet.
    pub fn unsent(&self) -> Vec<PlanChange> {
        match &self.known {
            Some(known) if self.version > self.sent => changes_between(known, &self.plan),
            Some(_) | None => Vec::new(),
        }
    }

    /// Returns it as the change that would bring a new process to the same plan.
    pub fn left(&self) -> PlanChanged {
        PlanChanged {
            version: self.version,
            by: PlanAuthor::Agent,
            sender: None,
            summary: String::new(),
            plan: self.plan.clone(),
            known: self.known.clone().filter(|_| self.version > self.sent),
        }
    }

    fn change(&mut self, changed: &PlanChanged) {
        if changed.version >= self.version {
            self.version = changed.version;
            self.plan.clone_from(&changed.plan);
            self.known.clone_from(&changed.known);
        }
    }
}
