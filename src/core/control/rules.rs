//! The rules of the user that hold, shared by a whole tree of agents.
//!
//! A rule begins when its text is delivered, and holds until the user withdraws it. Agents compare the list with what
//! their conversations say, before each of their requests; so an edit, a withdrawal and a new sub-agent are one thing.
//! Always holds: the order is that in which the rules were set; a rule of an agent that has ended is gone.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::control::Watcher;
use crate::sync::lock;
use steersman_base::id::{AgentId, MessageId};
use steersman_base::steering::{Rule, RuleChange, RuleScope};
use steersman_base::text::is_blank;

/// The rules of a tree.
#[derive(Default)]
pub struct Rules {
    inner: Mutex<Inner>,
    watchers: Mutex<Vec<Watcher>>,
}

#[derive(Default)]
struct Inner {
    rules: Vec<(u64, Rule)>,
    members: Vec<Member>,
    /// Counts what was set and who was spawned, so that it is known which of both came first.
    clock: u64,
}

/// A sub-agent that runs.
struct Member {
    id: AgentId,
    /// The agents above it, the nearest first.
    line: Vec<AgentId>,
    spawned: u64,
}

/// A sub-agent's membership; dropping it ends that, and the rules that were sent to it.
pub struct RulesMembership {
    rules: Arc<Rules>,
    id: AgentId,
}

impl Rules {
    /// Returns every rule that holds, in the order in which they were set.
    pub fn list(&self) -> Vec<Rule> {
        self.lock().rules.iter().map(|(_, rule)| rule.clone()).collect()
    }

    /// Returns the rules that an agent is to know of: those that were sent to it, and those that hold for it.
    pub fn for_agent(&self, agent: &AgentId) -> Vec<Rule> {
        let inner = self.lock();
        let member = inner.members.iter().find(|member| member.id == *agent);
        let concerns = |(set, rule): &&(u64, Rule)| {
            let beneath = |member: &Member| {
                member.line.contains(&rule.agent)
                    && match rule.scope {
                        RuleScope::Agent => false,
                        RuleScope::Tree => true,
                        RuleScope::NewAgents => member.spawned > *set,
                    }
            };
            rule.agent == *agent || member.is_some_and(beneath)
        };
        inner.rules.iter().filter(concerns).map(|(_, rule)| rule.clone()).collect()
    }

    /// Lets a rule hold from now on; one with the same id gives way to it.
    pub fn set(&self, rule: Rule) {
        {
            let mut inner = self.lock();
            inner.rules.retain(|(_, other)| other.id != rule.id);
            inner.clock += 1;
            let set = inner.clock;
            inner.rules.push((set, rule));
        }
        self.changed();
    }

    /// Takes over the rules that an earlier process of the session left, in place of all that there are; those of its
    /// sub-agents are gone with them.
    pub fn take_over(&self, rules: Vec<Rule>) {
        {
            let mut inner = self.lock();
            inner.rules.clear();
            for rule in rules.into_iter().filter(|rule| rule.agent.is_main()) {
                inner.clock += 1;
                let set = inner.clock;
                inner.rules.push((set, rule));
            }
        }
        self.changed();
    }

    /// Changes a rule; false when it does not hold (any more), or the new words are blank.
    pub fn change(&self, id: &MessageId, change: RuleChange) -> bool {
        let changed = {
            let mut inner = self.lock();
            let Some(place) = inner.rules.iter().position(|(_, rule)| rule.id == *id) else { return false };
            match change {
                RuleChange::Withdraw => {
                    inner.rules.remove(place);
                    true
                }
                RuleChange::Edit { text: Some(text), .. } if is_blank(&text) => false,
                RuleChange::Edit { text, scope } => {
                    if let Some((_, rule)) = inner.rules.get_mut(place) {
                        rule.text = text.unwrap_or_else(|| rule.text.clone());
                        rule.scope = scope.unwrap_or(rule.scope);
                        rule.version = rule.version.saturating_add(1);
                    }
                    true
                }
            }
        };
        if changed {
            self.changed();
        }
        changed
    }

    /// Notes that an agent spawns another one, which gets what holds for new ones.
    pub fn enter(self: &Arc<Self>, child: &AgentId, spawner: &AgentId) -> RulesMembership {
        let mut inner = self.lock();
        let above = inner.members.iter().find(|member| member.id == *spawner).map(|member| member.line.clone());
        let line = std::iter::once(spawner.clone()).chain(above.unwrap_or_default()).collect();
        inner.clock += 1;
        let spawned = inner.clock;
        inner.members.push(Member { id: child.clone(), line, spawned });
        RulesMembership { rules: Arc::clone(self), id: child.clone() }
    }

    /// Calls `watcher` after each change, on the thread that made it. It must not block.
    pub fn watch(&self, watcher: Watcher) {
        lock(&self.watchers).push(watcher);
    }

    fn changed(&self) {
        let watchers = lock(&self.watchers).clone();
        for watcher in watchers {
            if catch_unwind(AssertUnwindSafe(|| watcher())).is_err() {
                tracing::error!("a watcher of the rules panicked; the others are still called");
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        lock(&self.inner)
    }
}

impl Drop for RulesMembership {
    fn drop(&mut self) {
        let had_rules = {
            let mut inner = self.rules.lock();
            inner.members.retain(|member| member.id != self.id);
            let before = inner.rules.len();
            inner.rules.retain(|(_, rule)| rule.agent != self.id);
            inner.rules.len() < before
        };
        if had_rules {
            self.rules.changed();
        }
    }
}

impl std::fmt::Debug for Rules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Rules({})", self.lock().rules.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(id: &str, agent: &str, scope: RuleScope) -> Rule {
        Rule { id: id.into(), agent: agent.into(), scope, text: format!("rule {id}"), version: 0 }
    }

    fn ids(rules: &[Rule]) -> Vec<&str> {
        rules.iter().map(|rule| rule.id.as_str()).collect()
    }

    #[test]
    fn a_rule_holds_for_the_agents_of_its_scope() {
        let rules = Arc::new(Rules::default());
        let (main, old, new) = (AgentId::main(), AgentId::new("worker 0"), AgentId::new("worker 1"));
        let _old = rules.enter(&old, &main);
        for (id, scope) in [("m1", RuleScope::Agent), ("m2", RuleScope::Tree), ("m3", RuleScope::NewAgents)] {
            rules.set(rule(id, "", scope));
        }
        let _new = rules.enter(&new, &main);
        let grandchild = AgentId::new("worker 2");
        let _grandchild = rules.enter(&grandchild, &old);
        assert_eq!(ids(&rules.for_agent(&main)), ["m1", "m2", "m3"]);
        assert_eq!(ids(&rules.for_agent(&old)), ["m2"]);
        assert_eq!(ids(&rules.for_agent(&new)), ["m2", "m3"]);
        assert_eq!(ids(&rules.for_agent(&grandchild)), ["m2", "m3"]);
        assert_eq!(ids(&rules.for_agent(&AgentId::new("stranger"))), [""; 0]);
    }

    #[test]
    fn a_rule_can_be_edited_and_withdrawn_and_ends_with_the_agent_that_it_was_sent_to() {
        let rules = Arc::new(Rules::default());
        let worker = AgentId::new("worker 0");
        let membership = rules.enter(&worker, &AgentId::main());
        rules.set(rule("m1", "", RuleScope::Tree));
        rules.set(rule("m2", "worker 0", RuleScope::Tree));
        let words = |text: &str| RuleChange::Edit { text: Some(text.to_owned()), scope: None };
        assert!(!rules.change(&"m1".into(), words(" \n")), "blank words are none");
        assert!(rules.change(&"m1".into(), words("other")));
        let edited = rules.list().remove(0);
        assert_eq!((edited.text.as_str(), edited.version, edited.scope), ("other", 1, RuleScope::Tree));
        let scope = RuleChange::Edit { text: None, scope: Some(RuleScope::Agent) };
        assert!(rules.change(&"m1".into(), scope));
        assert_eq!(ids(&rules.for_agent(&worker)), ["m2"]);
        drop(membership);
        assert_eq!(ids(&rules.list()), ["m1"]);
        assert!(rules.change(&"m1".into(), RuleChange::Withdraw));
        assert!(!rules.change(&"m1".into(), RuleChange::Withdraw));
        assert!(rules.list().is_empty());
    }
}
