//! Agents with a plan, and changes of it.

use std::sync::Arc;

use steersman_agent::Agent;
use steersman_base::id::AgentId;
use steersman_base::plan::PlanEdit;
use steersman_base::steering::Framing;
use steersman_core::control::Plans;
use steersman_core::provider::Played;
use steersman_core::tool::Tool;
use steersman_tools::PlanTool;

use crate::doubles::Rig;
pub use crate::plan_edits::{add, mark};

/// Builds the agent of a rig with frames, the tool and these other ones.
pub async fn planning(rig: &Rig, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> (Agent, Arc<Plans>) {
    let plans = Arc::new(Plans::default());
    let tool: Arc<dyn Tool> = Arc::new(PlanTool::new(Arc::clone(&plans)));
    let builder = rig.builder().framing(Framing::Framed).plans(Arc::clone(&plans));
    let agent = rig.build(builder, std::iter::once(tool).chain(tools)).await;
    (agent, plans)
}

/// Returns a reply that writes these steps: the state and the text of each.
pub fn writes(id: &str, steps: &[(&str, &str)]) -> Played {
    let steps: Vec<String> =
        steps.iter().map(|(state, text)| format!(r#"{{"text": "{text}", "state": "{state}"}}"#)).collect();
    Played::calls(&[(id, "plan", &format!(r#"{{"steps": [{}]}}"#, steps.join(", ")))])
}

/// Carries out a change of the user of the main agent's plan.
pub fn edit(plans: &Plans, edit: &PlanEdit) {
    plans.edit(&AgentId::main(), edit, None).unwrap();
}
