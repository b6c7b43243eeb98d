//! A run as lines in the shape of Claude Code's `--output-format stream-json`: `system` with `init` first, a line for each
//! part of an answer (`assistant`) and for each result (`user`), and a `result` at the end.
//!
//! The manual's page `exec` says where it differs. Always holds: every member that the readers of Claude Code's own SDK
//! require is there, and a part of an answer is written with what its reply used.

use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Mutex;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::fields::{RunResult, UsageSum};
use super::record::RunRecord;
use crate::journal::SessionId;
use steersman_base::event::{CallFailure, Envelope, Event, EventContext, Outcome, TurnFailureKind, TurnFinish, Usage};
use steersman_base::id::{AgentId, CallId};
use steersman_base::mode::Mode;
use steersman_base::protocol::{ServerState, ServerStatus};
use steersman_base::sync::lock;
use steersman_base::text::escaped_json;
use steersman_core::listener::Listener;
use steersman_extensions::hooks::{permission_mode, their_name, to_theirs};

/// A listener that writes a run as such lines.
pub struct StreamJson {
    inner: Mutex<Inner>,
}

struct Inner {
    writer: Box<dyn Write + Send>,
    session: Option<String>,
    /// What the first line says; none once it is written.
    start: Option<StreamStart>,
    /// Returns how the MCP servers stand.
    servers: Option<ServerSource>,
    agents: HashMap<AgentId, Writing>,
    /// The arguments of the calls that run, and of those that were not allowed.
    calls: HashMap<(AgentId, CallId), Value>,
    cwd: PathBuf,
    refused: Vec<(AgentId, CallId)>,
    /// Replies so far: they name the messages.
    replies: u64,
    /// Requests of the main agent.
    rounds: u64,
    /// How long models took to answer, milliseconds.
    api_ms: i128,
    lines: StreamLines,
    /// The run, where each turn has a result of its own.
    turns: Option<RunRecord>,
    has_result: bool,
    is_prompted: bool,
    is_closed: bool,
}

/// Which lines are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StreamLines {
    /// The result alone.
    pub only_result: bool,
    /// The pieces of the main agent's answers too (`stream_event`).
    pub pieces: bool,
    /// The texts that start turns too.
    pub prompts: bool,
}

/// What is known of an agent that writes.
#[derive(Default)]
struct Writing {
    /// The call that spawned it.
    call: Option<CallId>,
    model: Option<String>,
    /// The number of its reply, which names the message.
    reply: u64,
    asked: Option<Timestamp>,
    /// What the reply used.
    usage: Option<Value>,
    /// Parts of the reply that wait for that.
    held: Vec<Value>,
    pieces: Pieces,
}

/// What of a reply was written in pieces.
#[derive(Default)]
struct Pieces {
    has_begun: bool,
    /// The blocks so far.
    blocks: u64,
    /// The kind of the block that goes on.
    open: Option<PieceKind>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PieceKind {
    Text,
    Thinking,
}

type ServerSource = Box<dyn Fn() -> Vec<ServerStatus> + Send>;

/// What the first line says.
#[derive(Default)]
struct StreamStart {
    cwd: String,
    tools: Vec<String>,
    mode: Option<String>,
    program: String,
    commands: Vec<String>,
}

impl StreamJson {
    /// Makes a listener that writes to `writer` the lines of this session.
    pub fn new(writer: impl Write + Send + 'static, session: Option<String>) -> Self {
        let inner = Inner {
            writer: Box::new(writer),
            session,
            start: Some(StreamStart::default()),
            servers: None,
            agents: HashMap::new(),
            calls: HashMap::new(),
            cwd: PathBuf::new(),
            refused: Vec::new(),
            replies: 0,
            rounds: 0,
            api_ms: 0,
            lines: StreamLines::default(),
            turns: None,
            has_result: false,
            is_prompted: false,
            is_closed: false,
        };
        Self { inner: Mutex::new(inner) }
    }

    /// Sets which lines are written.
    #[must_use]
    pub fn lines(self, lines: StreamLines) -> Self {
        lock(&self.inner).lines = lines;
        self
    }

    /// Writes a result after each turn, and at the end only what no turn has said.
    #[must_use]
    pub fn turn_by_turn(self, record: RunRecord) -> Self {
        lock(&self.inner).turns = Some(record);
        self
    }

    /// Sets the custom commands that the first line names.
    #[must_use]
    pub fn commands(self, names: Vec<String>) -> Self {
        if let Some(start) = &mut lock(&self.inner).start {
            start.commands = names;
        }
        self
    }

    /// Answers a request about the run itself.
    pub fn respond(&self, response: &Value) {
        let mut inner = lock(&self.inner);
        inner.begin();
        inner.write(json!({"type": "control_response", "response": response}));
    }

    /// Sets the session that each line names from now on.
    pub fn set_session(&self, session: Option<String>) {
        lock(&self.inner).session = session;
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
        inner.flush_all();
        if !inner.has_result {
            inner.result(result, mismatch);
        }
        inner.is_closed = true;
    }
}

/// Returns the word for how a run ended.
fn subtype(result: &RunResult, mismatch: bool) -> &'static str {
    match (result.outcome, result.error.map(|fault| fault.kind)) {
        _ if mismatch => "error_max_structured_output_retries",
        (_, Some(TurnFailureKind::Steps | TurnFailureKind::Rounds)) => "error_max_turns",
        (_, Some(TurnFailureKind::Budget)) => "error_max_budget_usd",
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

fn usage(input: u64, cache_creation: u64, cached: u64, output: u64) -> Value {
    json!({
        "input_tokens": input,
        "cache_creation_input_tokens": cache_creation,
        "cache_read_input_tokens": cached,
        "output_tokens": output,
    })
}

fn usage_of_all(sum: &UsageSum) -> Value {
    usage(sum.input, sum.cache_creation, sum.cached, sum.output)
}

fn usage_of_reply(of: &Usage) -> Value {
    let known = |part: Option<u64>| part.unwrap_or_default();
    usage(known(of.input), known(of.cache_creation), known(of.cached), known(of.output))
}

/// Returns a name for a line: a UUID, like that of a session.
fn uuid() -> Value {
    SessionId::new(Timestamp::now()).map_or(Value::Null, |id| id.as_str().into())
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

impl Inner {
    /// Writes the first line, unless that is done.
    fn begin(&mut self) {
        let Some(start) = self.start.take() else { return };
        let servers = self.servers.as_ref().map(|servers| servers()).unwrap_or_default();
        let model = self.agents.get(&AgentId::main()).and_then(|main| main.model.clone());
        let line = json!({
            "type": "system",
            "subtype": "init",
            "cwd": start.cwd,
            "tools": start.tools.iter().map(|tool| their_name(tool)).collect::<Vec<_>>(),
            "mcp_servers": servers.iter().map(server).collect::<Vec<_>>(),
            "model": model,
            "permissionMode": start.mode.as_deref().and_then(Mode::named).map(permission_mode),
            "slash_commands": start.commands,
            "output_style": "default",
            "program": start.program,
        });
        self.write(line);
    }

    fn write(&mut self, mut line: Value) {
        if self.is_closed || (self.lines.only_result && line["type"] != "result") {
            return;
        }
        line["session_id"] = self.session.clone().into();
        line["uuid"] = uuid();
        let line = escaped_json(line.to_string()) + "\n";
        if let Err(error) = self.writer.write_all(line.as_bytes()).and_then(|()| self.writer.flush()) {
            tracing::debug!(%error, "a line was not written");
        }
    }

    /// Writes how the run or a turn of it ended.
    fn result(&mut self, result: &RunResult, mismatch: bool) {
        let denials: Vec<Value> = result
            .refused
            .iter()
            .map(|call| {
                let name = call.name.as_deref().map(their_name);
                let input = self.calls.get(&(call.agent.clone(), call.id.clone()));
                json!({"tool_name": name, "tool_use_id": call.id, "tool_input": input})
            })
            .collect();
        let subtype = subtype(result, mismatch);
        let mut line = json!({
            "type": "result",
            "subtype": subtype,
            "is_error": subtype != "success",
            "duration_ms": result.duration_ms,
            "duration_api_ms": u64::try_from(self.api_ms).unwrap_or_default(),
            "num_turns": self.rounds,
            "total_cost_usd": result.cost_usd,
            "usage": usage_of_all(&result.usage),
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
        self.write(line);
        self.has_result = true;
    }

    fn agent(&mut self, agent: &AgentId) -> &mut Writing {
        self.agents.entry(agent.clone()).or_default()
    }

    /// Writes a part of what a model said, once it is known what the reply used.
    fn assistant_part(&mut self, agent: &AgentId, part: &Value) {
        self.begin();
        let writing = self.agent(agent);
        let mut message = writing.message();
        message["content"] = json!([part]);
        message["usage"] = writing.usage.clone().unwrap_or_default();
        let line = json!({"type": "assistant", "message": message, "parent_tool_use_id": writing.call});
        if writing.usage.is_some() {
            self.write(line);
        } else {
            writing.held.push(line);
        }
    }

    /// Writes a part of what a model is told.
    fn user_part(&mut self, agent: &AgentId, part: &Value) {
        self.begin();
        let message = json!({"role": "user", "content": [part]});
        let parent = self.agent(agent).call.clone();
        self.write(json!({"type": "user", "message": message, "parent_tool_use_id": parent}));
    }

    /// Writes the parts that waited for what their reply used.
    fn flush(&mut self, agent: &AgentId) {
        let writing = self.agent(agent);
        let usage = writing.usage.clone().unwrap_or_else(|| usage_of_reply(&Usage::default()));
        for mut line in std::mem::take(&mut writing.held) {
            line["message"]["usage"] = usage.clone();
            self.write(line);
        }
    }

    fn flush_all(&mut self) {
        let agents: Vec<AgentId> = self.agents.keys().cloned().collect();
        for agent in &agents {
            self.flush(agent);
        }
    }

    fn event(&mut self, event: &Value) {
        self.write(json!({"type": "stream_event", "event": event, "parent_tool_use_id": null}));
    }

    /// Writes a piece of an answer of the main agent.
    fn piece(&mut self, agent: &AgentId, kind: PieceKind, text: &str) {
        if !self.lines.pieces || !agent.is_main() {
            return;
        }
        self.begin();
        let writing = self.agent(agent);
        if !std::mem::replace(&mut writing.pieces.has_begun, true) {
            let mut message = writing.message();
            message["usage"] = usage_of_reply(&Usage::default());
            self.event(&json!({"type": "message_start", "message": message}));
        }
        if self.agent(agent).pieces.open != Some(kind) {
            self.end_block(agent);
            let pieces = &mut self.agent(agent).pieces;
            pieces.open = Some(kind);
            let index = pieces.blocks;
            let block = match kind {
                PieceKind::Text => json!({"type": "text", "text": ""}),
                PieceKind::Thinking => json!({"type": "thinking", "thinking": "", "signature": ""}),
            };
            self.event(&json!({"type": "content_block_start", "index": index, "content_block": block}));
        }
        let index = self.agent(agent).pieces.blocks;
        let delta = match kind {
            PieceKind::Text => json!({"type": "text_delta", "text": text}),
            PieceKind::Thinking => json!({"type": "thinking_delta", "thinking": text}),
        };
        self.event(&json!({"type": "content_block_delta", "index": index, "delta": delta}));
    }

    fn end_block(&mut self, agent: &AgentId) {
        let pieces = &mut self.agent(agent).pieces;
        if pieces.open.take().is_some() {
            let index = pieces.blocks;
            pieces.blocks += 1;
            self.event(&json!({"type": "content_block_stop", "index": index}));
        }
    }

    /// Ends what was written in pieces.
    fn end_pieces(&mut self, agent: &AgentId, stop_reason: &str) {
        self.end_block(agent);
        let writing = self.agent(agent);
        if std::mem::take(&mut writing.pieces).has_begun {
            let usage = writing.usage.clone().unwrap_or_else(|| usage_of_reply(&Usage::default()));
            let delta = json!({"stop_reason": stop_reason, "stop_sequence": null});
            self.event(&json!({"type": "message_delta", "delta": delta, "usage": usage}));
            self.event(&json!({"type": "message_stop"}));
        }
    }

    fn apply(&mut self, envelope: &Envelope) {
        let agent = &envelope.agent;
        let call = |id: &CallId| (agent.clone(), id.clone());
        if !is_of_reply(&envelope.event) {
            self.flush(agent);
        }
        match &envelope.event {
            Event::SessionStarted { cwd, model, tools, program, .. } => {
                self.agent(agent).model.clone_from(model);
                self.cwd = PathBuf::from(cwd);
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
            Event::ModelSwitched { to, .. } => self.agent(agent).model.clone_from(to),
            Event::TurnStarted { .. } => {
                self.begin();
                self.has_result &= !agent.is_main();
            }
            Event::RoundStarted { .. } => {
                self.replies += 1;
                self.rounds += u64::from(agent.is_main());
                let (reply, at) = (self.replies, envelope.at);
                let writing = self.agent(agent);
                (writing.reply, writing.asked, writing.usage) = (reply, Some(at), None);
            }
            Event::Tokens(used) => {
                let writing = self.agent(agent);
                writing.usage = Some(usage_of_reply(used));
                let took = writing.asked.take().map(|asked| envelope.at.duration_since(asked).as_millis());
                self.api_ms += took.unwrap_or_default().max(0);
                self.flush(agent);
            }
            // The prompt is known to whoever started the run, and so is each text that starts a turn.
            Event::UserTurn { mid_loop, .. }
                if agent.is_main()
                    && !self.lines.prompts
                    && (!std::mem::replace(&mut self.is_prompted, true) || (self.turns.is_some() && !mid_loop)) => {}
            Event::UserTurn { content, .. } if agent.is_main() => {
                self.user_part(agent, &json!({"type": "text", "text": content}));
            }
            Event::ThinkingDelta { text } => self.piece(agent, PieceKind::Thinking, text),
            Event::AssistantDelta { text } => self.piece(agent, PieceKind::Text, text),
            Event::Thinking { text } => {
                // The readers of Claude Code's SDK want a signature.
                self.assistant_part(agent, &json!({"type": "thinking", "thinking": text, "signature": ""}));
            }
            Event::Assistant { text, .. } if !text.is_empty() => {
                self.assistant_part(agent, &json!({"type": "text", "text": text}));
            }
            Event::ToolCall { id, name, arguments } => {
                self.end_pieces(agent, "tool_use");
                let input = to_theirs(name, arguments, &self.cwd);
                self.calls.insert(call(id), input.clone());
                let part = json!({"type": "tool_use", "id": id, "name": their_name(name), "input": input});
                self.assistant_part(agent, &part);
            }
            Event::ToolResult { id, content, is_error, .. } => {
                if !self.refused.contains(&call(id)) {
                    self.calls.remove(&call(id));
                }
                let part = json!({"type": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error});
                self.user_part(agent, &part);
            }
            Event::RoundEnded { .. } => self.end_pieces(agent, "end_turn"),
            Event::TurnEnded { outcome, .. } if agent.is_main() => {
                self.end_pieces(agent, "end_turn");
                if let Some(record) = self.turns.clone() {
                    let code = u8::from(!matches!(outcome, Outcome::Completed | Outcome::Synthesized));
                    self.result(&record.finish(code, None, &[]), code == 0 && record.mismatch().is_some());
                }
            }
            Event::AgentSpawned { child, call, model, .. } => {
                let (call, model) = (call.clone(), model.clone());
                let writing = self.agent(child);
                (writing.call, writing.model) = (call.or_else(|| writing.call.take()), model);
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

/// Tells whether an event is one of those between a request and what its reply used.
fn is_of_reply(event: &Event) -> bool {
    matches!(
        event,
        Event::ThinkingDelta { .. }
            | Event::AssistantDelta { .. }
            | Event::Thinking { .. }
            | Event::Assistant { .. }
            | Event::Tokens(_)
    )
}

impl Writing {
    /// Returns the message of its reply, without parts.
    fn message(&self) -> Value {
        json!({
            "id": format!("msg_{}", self.reply),
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": [],
            "stop_reason": null,
            "stop_sequence": null,
        })
    }
}

impl Listener for StreamJson {
    fn on_event(&self, envelope: &Envelope) {
        lock(&self.inner).apply(envelope);
    }

    fn on_facts(&self, agent: &AgentId, facts: &EventContext) {
        if let EventContext::Call { id, fault: CallFailure::Refused | CallFailure::Declined } = facts {
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
