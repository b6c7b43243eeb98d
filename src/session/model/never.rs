//! Why a text that waits for a condition would wait for ever, as far as the run shows it.

use super::RunState;
use steersman_base::id::AgentId;
use steersman_base::steering::{Condition, is_named};
use steersman_base::text::visible_line;

impl RunState {
    /// Returns why the condition of a text for this agent can never be met any more; `None` where it may be.
    pub fn never_met(&self, condition: &Condition, agent: &AgentId) -> Option<String> {
        let node = self.agents.get(agent)?;
        let lacks = |tool: &str| !node.tools.is_empty() && node.tools.iter().all(|name| name != tool);
        match condition {
            Condition::Agent { .. } if lacks("agent") => Some("it has no sub-agents".to_owned()),
            Condition::Agent { agent: wanted, .. } => {
                let ended = self.agents.get(&AgentId::new(wanted.clone()))?;
                let is_over = !ended.id.is_main() && is_named(wanted, &ended.id) && !ended.running();
                is_over.then(|| format!("{} has ended", visible_line(wanted)))
            }
            // A pattern may be about tools that are added later.
            Condition::Call { tool, .. } if !tool.contains(['*', '?', '[', '{']) && lacks(tool) => {
                Some(format!("it has no tool {}", visible_line(tool)))
            }
            Condition::ContextAbove(_) if node.context.is_some() && node.cap.is_none() => {
                Some("the size of the context window is not known".to_owned())
            }
            Condition::CostAbove(_) => {
                let totals = self.agents.session();
                let is_unknown = totals.unpriced > 0 && totals.cost_nanos == 0;
                is_unknown.then(|| "no price is known for the model".to_owned())
            }
            Condition::Call { .. }
            | Condition::ContextAbove(_)
            | Condition::TokensAbove(_)
            | Condition::Steps(_)
            | Condition::Minutes(_)
            | Condition::Changed(_) => None,
        }
    }
}
