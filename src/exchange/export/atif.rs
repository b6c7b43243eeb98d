//! The session as a trajectory: ATIF v1.7, the Agent Trajectory Interchange Format.
//!
//! One step for each text and each reply; what the journal does not know is left out. Sub-agents are trajectories of their
//! own within the same document, to which the calls that spawned them refer.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::{AgentPart, CallPart, Item, Reply, SessionParts, TextState};
use steersman_base::event::{Usage, add_known};
use steersman_base::id::AgentId;
use steersman_base::message::Arguments;

const VERSION: &str = "ATIF-v1.7";

/// Writes the trajectory.
///
/// # Errors
/// One sentence, when nobody said anything in the session: a trajectory has a step.
pub fn atif(parts: &SessionParts) -> Result<Value, String> {
    let (main, others) = parts.agents.split_first().ok_or("the session has no agent")?;
    let mut root = trajectory(parts, main).ok_or("nobody said anything in the session")?;
    let embedded: Vec<Value> = others.iter().filter_map(|agent| trajectory(parts, agent)).collect();
    if let Some(members) = root.as_object_mut().filter(|_| !embedded.is_empty()) {
        members.insert("subagent_trajectories".to_owned(), embedded.into());
    }
    Ok(root)
}

fn trajectory(parts: &SessionParts, agent: &AgentPart) -> Option<Value> {
    let mut steps: Vec<Map<String, Value>> = Vec::new();
    steps.extend(agent.system.as_ref().map(|text| step("system", None, text)));
    for item in &agent.items {
        match item {
            Item::Text { at, text, state } => steps.push(typed(*at, text, state)),
            Item::Reply(reply) if !reply.is_empty() => steps.push(replied(reply)),
            Item::Reply(_) | Item::TurnStarted { .. } | Item::Note { .. } | Item::TurnEnded { .. } => {}
        }
    }
    for (number, step) in steps.iter_mut().enumerate() {
        step.insert("step_id".to_owned(), (number + 1).into());
    }
    if steps.is_empty() {
        return None;
    }
    let program = parts.header.as_ref().map_or("", |header| header.program.as_str());
    let (program, version) = program.rsplit_once(' ').unwrap_or((program, "unknown"));
    let mut who = Map::from_iter([("name".to_owned(), program.into()), ("version".to_owned(), version.into())]);
    who.extend(agent.model.as_ref().map(|model| ("model_name".to_owned(), model.as_str().into())));
    let facts = json!({ "agent": agent.name(), "persona": agent.persona, "tools": agent.tools });
    who.insert("extra".to_owned(), facts);
    let mut trajectory = Map::from_iter([
        ("schema_version".to_owned(), VERSION.into()),
        ("trajectory_id".to_owned(), agent.name().into()),
        ("agent".to_owned(), who.into()),
        ("final_metrics".to_owned(), total(agent, steps.len())),
        ("steps".to_owned(), steps.into_iter().map(Value::from).collect()),
    ]);
    if let Some(header) = &parts.header {
        trajectory.insert("session_id".to_owned(), header.session.as_str().into());
        if agent.id.is_main() {
            trajectory.insert("extra".to_owned(), json!({ "session": header }));
        }
    }
    let damage = parts.damage.as_ref().filter(|_| agent.id.is_main());
    trajectory.extend(damage.map(|damage| ("notes".to_owned(), damage.as_str().into())));
    Some(trajectory.into())
}

fn step(source: &str, at: Option<Timestamp>, message: &str) -> Map<String, Value> {
    let mut step = Map::from_iter([("step_id".to_owned(), 0.into()), ("source".to_owned(), source.into())]);
    step.extend(at.map(|at| ("timestamp".to_owned(), timestamp(at))));
    step.insert("message".to_owned(), message.into());
    step
}

/// Writes a text of the user; what the model says that it did with it stands beside it.
fn typed(at: Timestamp, text: &str, state: &TextState) -> Map<String, Value> {
    let mut step = step("user", Some(at), text);
    if let Some(answer) = &state.answer {
        step.insert("extra".to_owned(), json!({ "id": state.id, "answer": answer }));
    }
    step
}

/// Returns a time with six digits behind the point, which every reader of ISO 8601 takes.
fn timestamp(at: Timestamp) -> Value {
    format!("{at:.6}").into()
}

fn replied(reply: &Reply) -> Map<String, Value> {
    let mut step = step("agent", Some(reply.at), &reply.text);
    let thinking = Some(&reply.thinking).filter(|thinking| !thinking.is_empty());
    step.extend(thinking.map(|thinking| ("reasoning_content".to_owned(), thinking.as_str().into())));
    if let Some(usage) = &reply.usage {
        step.extend(usage.model.as_ref().map(|model| ("model_name".to_owned(), model.as_str().into())));
        step.insert(
            "metrics".to_owned(),
            metrics(usage, ["prompt_tokens", "completion_tokens", "cached_tokens", "cost_usd"]),
        );
    }
    if !reply.calls.is_empty() {
        step.insert("tool_calls".to_owned(), reply.calls.iter().map(call).collect());
        let results: Vec<Value> = reply.calls.iter().filter_map(result).collect();
        if !results.is_empty() {
            step.insert("observation".to_owned(), json!({ "results": results }));
        }
    }
    step.insert("llm_call_count".to_owned(), 1.into());
    if reply.is_interrupted {
        step.insert("extra".to_owned(), json!({ "interrupted": true }));
    }
    step
}

/// Writes the counts that are known under these names: prompt, reply, from a cache, cost.
fn metrics(usage: &Usage, names: [&str; 4]) -> Value {
    let knows_prompt = usage.input.is_some() || usage.cached.is_some() || usage.cache_creation.is_some();
    let counts = [knows_prompt.then(|| usage.prompt()), usage.output, usage.cached];
    let counts = counts.map(|count| count.map(Value::from));
    let cost = usage.cost_nanos.map(|nanos| Value::from(dollars(nanos)));
    let known = names.into_iter().zip(counts.into_iter().chain([cost]));
    known.filter_map(|(name, value)| Some((name.to_owned(), value?))).collect::<Map<_, _>>().into()
}

#[allow(clippy::cast_precision_loss)] // Exact up to nine million dollars.
fn dollars(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

fn call(call: &CallPart) -> Value {
    let (arguments, raw) = match &call.arguments {
        Arguments::Object(members) => (members.clone(), None),
        // They were no object, and here they have to be one.
        Arguments::Raw(text) => (Map::new(), Some(text)),
    };
    let mut written = json!({ "tool_call_id": call.id, "function_name": call.tool, "arguments": arguments });
    if let (Some(raw), Some(members)) = (raw, written.as_object_mut()) {
        members.insert("extra".to_owned(), json!({ "raw_arguments": raw }));
    }
    written
}

fn result(call: &CallPart) -> Option<Value> {
    let result = call.result.as_ref()?;
    let facts = json!({ "is_error": result.is_error, "elapsed_ms": result.elapsed_ms });
    let mut written = json!({ "source_call_id": call.id, "content": result.content, "extra": facts });
    if let (false, Some(members)) = (call.children.is_empty(), written.as_object_mut()) {
        let reference = |child: &AgentId| json!({ "trajectory_id": child });
        members.insert("subagent_trajectory_ref".to_owned(), call.children.iter().map(reference).collect());
    }
    Some(written)
}

/// Sums what an agent used.
fn total(agent: &AgentPart, steps: usize) -> Value {
    let mut sum = Usage::default();
    for usage in agent.replies().filter_map(|reply| reply.usage.as_ref()) {
        add_known(&mut sum.input, usage.input);
        add_known(&mut sum.output, usage.output);
        add_known(&mut sum.cached, usage.cached);
        add_known(&mut sum.cache_creation, usage.cache_creation);
        add_known(&mut sum.cost_nanos, usage.cost_nanos);
    }
    let names = ["total_prompt_tokens", "total_completion_tokens", "total_cached_tokens", "total_cost_usd"];
    let mut total = metrics(&sum, names);
    if let Some(members) = total.as_object_mut() {
        members.insert("total_steps".to_owned(), steps.into());
    }
    total
}
