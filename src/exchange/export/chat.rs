//! The conversations as the messages of chat completions: what any other program can read or go on with.

use serde_json::{Value, json};

use super::{AgentPart, CallPart, Item, Reply, SessionParts};

/// Writes the session with the messages of each agent.
pub fn chat(parts: &SessionParts) -> Value {
    let agents: Vec<Value> = parts.agents.iter().map(agent).collect();
    json!({ "session": parts.header, "damage": parts.damage, "agents": agents })
}

fn agent(agent: &AgentPart) -> Value {
    let system = agent.system.iter().map(|text| json!({ "role": "system", "content": text }));
    let messages = agent.items.iter().flat_map(|item| match item {
        Item::Text { text, .. } => vec![json!({ "role": "user", "content": text })],
        Item::Reply(reply) => messages(reply),
        Item::TurnStarted { .. } | Item::Note { .. } | Item::TurnEnded { .. } => Vec::new(),
    });
    json!({
        "name": agent.name(),
        "parent": agent.parent,
        "persona": agent.persona,
        "model": agent.model,
        "messages": system.chain(messages).collect::<Vec<_>>(),
    })
}

fn messages(reply: &Reply) -> Vec<Value> {
    if reply.text.is_empty() && reply.calls.is_empty() {
        return Vec::new();
    }
    let content = Some(&reply.text).filter(|text| !text.is_empty());
    let mut message = json!({ "role": "assistant", "content": content });
    if let (false, Some(members)) = (reply.calls.is_empty(), message.as_object_mut()) {
        members.insert("tool_calls".to_owned(), reply.calls.iter().map(call).collect());
    }
    let results = reply.calls.iter().filter_map(|call| {
        let result = call.result.as_ref()?;
        Some(json!({ "role": "tool", "tool_call_id": call.id, "content": result.content }))
    });
    std::iter::once(message).chain(results).collect()
}

fn call(call: &CallPart) -> Value {
    let function = json!({ "name": call.tool, "arguments": call.arguments.to_string() });
    json!({ "id": call.id, "type": "function", "function": function })
}
