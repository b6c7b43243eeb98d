//! Agents with sub-agents: personas, and calls that spawn them.

use std::sync::Arc;

use steersman_agent::subagent::{Persona, SubAgents, TempWorkspace};
use steersman_agent::{Agent, AgentBuilder};
use steersman_core::provider::Played;
use steersman_core::tool::Tool;

use crate::doubles::Rig;

pub fn persona(name: &str, tools: &[&str]) -> Persona {
    Persona {
        name: name.to_owned(),
        description: format!("Good at {name}."),
        tool_names: tools.iter().map(|tool| (*tool).to_owned()).collect(),
        system_prompt: format!("You are the {name} child."),
        max_steps: 5,
        temp_workspace: TempWorkspace::No,
        model: None,
        temperature: None,
    }
}

/// Returns what the scripts of this persona's children are routed by.
pub fn child(name: &str) -> String {
    format!("You are the {name} child.")
}

/// Plays `agent` calls: `("c1", "miner", "task")`.
pub fn spawns(list: &[(&str, &str, &str)]) -> Played {
    let arguments: Vec<String> =
        list.iter().map(|(_, name, task)| serde_json::json!({"name": name, "task": task}).to_string()).collect();
    let calls: Vec<_> = list.iter().zip(&arguments).map(|((id, _, _), args)| (*id, "agent", args.as_str())).collect();
    Played::calls(&calls)
}

pub async fn parent(rig: &Rig, tools: impl IntoIterator<Item = Arc<dyn Tool>>, personas: Vec<Persona>) -> Agent {
    parent_of(rig, rig.builder(), tools, personas).await
}

pub async fn parent_of(
    rig: &Rig,
    builder: AgentBuilder,
    tools: impl IntoIterator<Item = Arc<dyn Tool>>,
    personas: Vec<Persona>,
) -> Agent {
    rig.try_build(builder, |c| {
        c.add_tools(tools)?;
        c.add_extension(Arc::new(SubAgents::new(personas)?))
    })
    .await
    .unwrap()
}
