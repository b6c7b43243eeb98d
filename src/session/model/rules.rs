//! The rules of the user that hold, as the run last said them.

use steersman_base::event::Event;
use steersman_base::id::MessageId;
use steersman_base::steering::{Rule, RuleScope};
use steersman_base::target::name_of;

/// The rules that hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleList {
    rules: Vec<Rule>,
}

impl RuleList {
    /// Returns the rules, in the order in which they were set.
    pub fn all(&self) -> &[Rule] {
        &self.rules
    }

    /// Returns the rule that this text set.
    pub fn get(&self, id: &MessageId) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.id == *id)
    }

    /// Applies one event.
    pub fn apply(&mut self, event: &Event) {
        if let Event::Rules { rules } = event {
            self.rules.clone_from(rules);
        }
    }
}

/// Says for whom a rule holds.
pub fn rule_scope_text(rule: &Rule) -> String {
    let agent = name_of(&rule.agent);
    match rule.scope {
        RuleScope::Agent => format!("for {agent} alone"),
        RuleScope::Tree => format!("for {agent} and its sub-agents"),
        RuleScope::NewAgents => format!("for the sub-agents that {agent} starts later"),
    }
}
