//! A run as lines in the shape of Claude Code's `--output-format stream-json`: `system` with `init` first, a line for each
//! part of an answer (`assistant`) and for each result (`user`), and a `result` at the end.
//!
//! The manual's page `exec` says where it differs.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Mutex;

use serde_json::{Value, json};

use super::fields::{RunResult, UsageSum};
use steersman_base::event::{CallFault, Envelope, Event, EventFacts, Outcome, TurnFaultKind, TurnFinish};
use steersman_base::id::{AgentId, CallId};
use steersman_base::message::Arguments;
use steersman_base::protocol::{ServerState, ServerStatus};
use steersman_base::sync::lock;
use steersman_base::text::escaped_json;
use steersman_core::listener::Listener;

/// A listener that writes a run as such lines.
pub struct StreamJson {
    inner: Mutex<Inner>,
}

struct Inner {
    writer: Box<dyn Write + Send>,
    session: Option<String>,
    /// What the first line says; none once it is written.
    start: Option<StreamStart>,
    model: Option<String>,
    /// Returns how the MCP servers stand.
    servers: Option<ServerSource>,
    /// The call that spawned each sub-agent.
    spawned: HashMap<AgentId, CallId>,
    /// The arguments of the calls that run, and of those that were not allowed.
    calls: HashMap<(AgentId, CallId), Arguments>,
    refused: Vec<(AgentId, CallId)>,
    /// Replies so far: they name the messages.
    replies: u64,
    /// Requests of the main agent.
    rounds: u64,
    is_prompted: bool,
    is_closed: bool,
}

type ServerSource = Box<dyn Fn() -> Vec<ServerStatus> + Send>;

/// What the first line says.
#[derive(Default)]
struct StreamStart {
    cwd: String,
    tools: Vec<String>,
    mode: Option<String>,
    program: String,
}

impl StreamJson {
    /// Makes a listener that writes to `writer` the lines of this session.
    pub fn new(writer: impl Write + Send + 'static, session: Option<String>) -> Self {
        let inner = Inner {
            writer: Box::new(writer),
            session,
            start: Some(StreamStart::default()),
            model: None,
            servers: None,
            spawned: HashMap::new(),
            calls: HashMap::new(),
            refused: Vec::new(),
            replies: 0,
            rounds: 0,
            is_prompted: false,
            is_closed: false,
        };
        Self { inner: Mutex::new(inner) }
    }

    /// Sets what says in the first line how the MCP servers stand.
    pub fn set_servers(&self, servers: impl Fn() -> Vec<ServerStatus> + Send + 'static) {
        lock(&self.inner).servers = Some(Box::new(servers));
    }

    /// Writes how the run ended; nothing is written behind it. `mismatch` says
    /// whether the answer does not match its schema.
    pub fn finish(&self, result: &RunResult, mismatch: bool) {
        let mut inner = lock(&self.inner);
        inner.begin();
        let denials: Vec<Value> = result
            .refused
            .iter()
            .map(|call| {
                let input = inner.calls.get(&(call.agent.clone(), call.id.clone())).map_or(Value::Null, input);
                json!({"tool_name": call.name, "tool_use_id": call.id, "tool_input": input})
            })
            .collect();
        let subtype = subtype(result, mismatch);
        let mut line = json!({
            "type": "result",
            "subtype": subtype,
            "is_error": subtype != "success",
            "duration_ms": result.duration_ms,
            "num_turns": inner.rounds,
            "total_cost_usd": result.cost_usd,
            "usage": usage(&result.usage),
            "modelUsage": result.by_model.iter().map(model_usage).collect::<serde_json::Map<_, _>>(),
            "permission_denials": denials,
            "stop_reason": result.finish.map(stop_reason),
            "exit_code": result.exit_code,
        });
        if subtype == "success" {
            line["result"] = result.answer.clone().unwrap_or_default().into();
        } else {
            line["errors"] = result.reason.iter().cloned().collect::<Vec<String>>().into();
        }
        if let Some(structured) = &result.structured {
            line["structured_output"] = structured.clone();
        }
        inner.write(line);
        inner.is_closed = true;
    }
}

/// Returns the word for how a run ended.
fn subtype(result: &RunResult, mismatch: bool) -> &'static str {
    match (result.outcome, result.error.map(|fault| fault.kind)) {
        _ if mismatch => "error_max_structured_output_retries",
        (_, Some(TurnFaultKind::Steps | TurnFaultKind::Rounds)) => "error_max_turns",
        (_, Some(TurnFaultKind::Budget)) => "error_max_budget_usd",
        (Outcome::Completed | Outcome::Synthesized, _) => "success",
        (Outcome::Cancelled | Outcome::Failed, _) => "error_during_execution",
    }
}

fn stop_reason(finish: TurnFinish) -> &'static str {
    match finish {
        TurnFinish::Stop => "end_turn",
        TurnFinish::Length => "max_tokens",
        TurnFinish::ContentFilter => "refusal",
        TurnFinish::Unfinished => "unfinished",
    }
}

fn usage(sum: &UsageSum) -> Value {
    json!({
        "input_tokens": sum.input,
        "cache_creation_input_tokens": sum.cache_creation,
        "cache_read_input_tokens": sum.cached,
        "output_tokens": sum.output,
    })
}

fn model_usage(of: &super::fields::ModelUsage) -> (String, Value) {
    #[allow(clippy::cast_precision_loss)] // Billionths that a float does not have are no money.
    let cost = of.usage.cost_nanos.map(|nanos| nanos as f64 / 1e9);
    let value = json!({
        "inputTokens": of.usage.input,
        "outputTokens": of.usage.output,
        "cacheReadInputTokens": of.usage.cached,
        "cacheCreationInputTokens": of.usage.cache_creation,
        "costUSD": cost,
    });
    (of.model.clone().unwrap_or_else(|| "unknown".to_owned()), value)
}

/// Returns how an MCP server stands, in the words of Claude Code.
fn server(of: &ServerStatus) -> Value {
    let status = match of.state {
        ServerState::Configured | ServerState::Known => "pending",
        ServerState::Started | ServerState::Used => "connected",
        ServerState::Failed => "failed",
    };
    json!({"name": of.name, "status": status})
}

/// Returns the arguments of a call as an object, or as the text that is none.
fn input(arguments: &Arguments) -> Value {
    serde_json::to_value(arguments).unwrap_or_default()
}

impl Inner {
    /// Writes the first line, unless that is done.
    fn begin(&mut self) {
        let Some(start) = self.start.take() else { return };
        let servers = self.servers.as_ref().map(|servers| servers()).unwrap_or_default();
        let line = json!({
            "type": "system",
            "subtype": "init",
            "cwd": start.cwd,
            "tools": start.tools,
            "mcp_servers": servers.iter().map(server).collect::<Vec<_>>(),
            "model": self.model,
            "permissionMode": start.mode,
            "program": start.program,
        });
        self.write(line);
    }

    fn write(&mut self, mut line: Value) {
        if self.is_closed {
            return;
        }
        line["session_id"] = self.session.clone().into();
        let line = escaped_json(line.to_string()) + "\n";
        if let Err(error) = self.writer.write_all(line.as_bytes()).and_then(|()| self.writer.flush()) {
            tracing::debug!(%error, "a line was not written");
        }
    }

    /// Writes a part of a message.
    fn message(&mut self, envelope: &Envelope, role: &'static str, part: &Value) {
        self.begin();
        let mut message = json!({"role": role, "content": [part]});
        if role == "assistant" {
            message["id"] = format!("msg_{}", self.replies).into();
            message["type"] = "message".into();
            message["model"] = self.model.clone().into();
        }
        let parent = self.spawned.get(&envelope.agent);
        self.write(json!({"type": role, "message": message, "parent_tool_use_id": parent}));
    }

    fn apply(&mut self, envelope: &Envelope) {
        let call = |id: &CallId| (envelope.agent.clone(), id.clone());
        match &envelope.event {
            Event::SessionStarted { cwd, model, tools, program, .. } => {
                self.model.clone_from(model);
                if let Some(start) = &mut self.start {
                    start.cwd.clone_from(cwd);
                    start.tools.clone_from(tools);
                    start.program.clone_from(program);
                }
            }
            Event::Guards { mode, .. } => {
                if let Some(start) = &mut self.start {
                    start.mode = Some(mode.clone());
                }
            }
            Event::ModelSwitched { to, .. } if envelope.agent.is_main() => self.model.clone_from(to),
            Event::TurnStarted { .. } => self.begin(),
            Event::RoundStarted { .. } => {
                self.replies += 1;
                self.rounds += u64::from(envelope.agent.is_main());
            }
            // The prompt is known to whoever started the run.
            Event::UserTurn { .. } if envelope.agent.is_main() && !self.is_prompted => self.is_prompted = true,
            Event::UserTurn { content, .. } if envelope.agent.is_main() => {
                self.message(envelope, "user", &json!({"type": "text", "text": content}));
            }
            Event::Thinking { text } => {
                self.message(envelope, "assistant", &json!({"type": "thinking", "thinking": text}));
            }
            Event::Assistant { text, .. } if !text.is_empty() => {
                self.message(envelope, "assistant", &json!({"type": "text", "text": text}));
            }
            Event::ToolCall { id, name, arguments } => {
                self.calls.insert(call(id), arguments.clone());
                let part = json!({"type": "tool_use", "id": id, "name": name, "input": input(arguments)});
                self.message(envelope, "assistant", &part);
            }
            Event::ToolResult { id, content, is_error, .. } => {
                if !self.refused.contains(&call(id)) {
                    self.calls.remove(&call(id));
                }
                let part = json!({"type": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error});
                self.message(envelope, "user", &part);
            }
            Event::AgentSpawned { child, call: Some(call), .. } => {
                self.spawned.insert(child.clone(), call.clone());
            }
            Event::Compacted { before, .. } => {
                self.begin();
                let metadata = json!({"trigger": "auto", "pre_tokens": before});
                self.write(json!({"type": "system", "subtype": "compact_boundary", "compact_metadata": metadata}));
            }
            _ => {}
        }
    }
}

impl Listener for StreamJson {
    fn on_event(&self, envelope: &Envelope) {
        lock(&self.inner).apply(envelope);
    }

    fn on_facts(&self, agent: &AgentId, facts: &EventFacts) {
        if let EventFacts::Call { id, fault: CallFault::Refused | CallFault::Declined } = facts {
            let mut inner = lock(&self.inner);
            if inner.refused.len() < steersman_base::limits::REFUSED_KEPT {
                inner.refused.push((agent.clone(), id.clone()));
            }
        }
    }

    fn label(&self) -> String {
        "StreamJson".to_owned()
    }
}
