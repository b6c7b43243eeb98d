//! The session as traces: OTLP in JSON, with the names of OpenTelemetry's semantic conventions 1.41 for generative AI.
//!
//! One trace; a span for each turn of an agent, each request and each call, within each other as they happened. Texts are
//! left out, as the conventions want it unless somebody asks for them; so is what no journal holds, such as the address of
//! the server and what a request asked for beside the model. 1.41 is the last version that has a schema: since then the
//! conventions are written on in a repository of their own, without a release
//! (`docs/gen-ai/gen-ai-spans.md` and `gen-ai-agent-spans.md` at
//! <https://github.com/open-telemetry/semantic-conventions/tree/v1.41.1>).

use std::collections::HashMap;

use jiff::Timestamp;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{AgentPart, CallPart, Item, Reply, SessionParts};
use steersman_base::dialect::Dialect;
use steersman_base::event::{Outcome, Usage, add_known};
use steersman_base::id::AgentId;

/// The version of the names.
const SCHEMA: &str = "https://opentelemetry.io/schemas/1.41.0";
/// The name of a provider that nobody knows: each span of a request or of an agent has one.
const UNKNOWN: &str = "unknown";

/// A span within the program, and one of a request to a server, as OTLP numbers them.
const INTERNAL: u8 = 1;
const CLIENT: u8 = 3;
/// The status of a span that failed.
const ERROR: u8 = 2;

/// Writes the trace.
pub fn otlp(parts: &SessionParts) -> Value {
    let session = parts.header.as_ref().map(|header| header.session.as_str()).unwrap_or_default();
    let mut trace = Trace { session, provider: provider(parts), spawners: HashMap::new(), spans: Vec::new() };
    trace.spawners = spawners(parts, &trace);
    for agent in &parts.agents {
        trace.agent(agent);
    }
    let version = env!("CARGO_PKG_VERSION");
    let service = [attribute("service.name", "steersman".into()), attribute("service.version", version.into())];
    json!({ "resourceSpans": [{
        "resource": { "attributes": service },
        "scopeSpans": [{
            "scope": { "name": "steersman", "version": version },
            "spans": trace.spans,
            "schemaUrl": SCHEMA,
        }],
        "schemaUrl": SCHEMA,
    }] })
}

struct Trace<'a> {
    session: &'a str,
    provider: &'a str,
    /// The span of the call that spawned an agent.
    spawners: HashMap<&'a AgentId, String>,
    spans: Vec<Value>,
}

/// The tokens of a request, or of the requests of a turn.
#[derive(Clone, Copy, Default)]
struct Counts {
    input: Option<u64>,
    output: Option<u64>,
    cached: Option<u64>,
    cache_creation: Option<u64>,
}

impl Counts {
    fn add(&mut self, usage: &Usage) {
        // The conventions count what was cached as input too.
        add_known(&mut self.input, usage.input.is_some().then(|| usage.prompt()));
        add_known(&mut self.output, usage.output);
        add_known(&mut self.cached, usage.cached);
        add_known(&mut self.cache_creation, usage.cache_creation);
    }

    fn attributes(&self) -> impl Iterator<Item = Value> {
        let counts = [
            ("gen_ai.usage.input_tokens", self.input),
            ("gen_ai.usage.output_tokens", self.output),
            ("gen_ai.usage.cache_read.input_tokens", self.cached),
            ("gen_ai.usage.cache_creation.input_tokens", self.cache_creation),
        ];
        counts.into_iter().filter_map(|(name, count)| Some(attribute(name, count?.into())))
    }
}

/// A span that is to be written.
struct Span {
    id: String,
    parent: Option<String>,
    name: String,
    kind: u8,
    from: Timestamp,
    to: Timestamp,
    operation: &'static str,
    attributes: Vec<Value>,
    /// Why it failed, when it did.
    error: Option<(&'static str, String)>,
}

impl Trace<'_> {
    fn agent(&mut self, agent: &AgentPart) {
        let spawner = self.spawners.get(&agent.id).cloned();
        let mut turn: Option<Span> = None;
        let mut counts = Counts::default();
        for item in &agent.items {
            match item {
                Item::TurnStarted { at } => {
                    self.close(agent, turn.take(), std::mem::take(&mut counts));
                    turn = Some(self.turn(agent, *at, spawner.clone()));
                }
                Item::TurnEnded { at, outcome, message } => {
                    if let Some(mut turn) = turn.take() {
                        turn.to = *at;
                        turn.error = match outcome {
                            Outcome::Completed | Outcome::Synthesized => None,
                            Outcome::Cancelled => Some(("cancelled", String::new())),
                            Outcome::Failed => Some(("_OTHER", message.clone().unwrap_or_default())),
                        };
                        turn.attributes.extend(std::mem::take(&mut counts).attributes());
                        self.push(agent, turn);
                    }
                }
                Item::Reply(reply) => {
                    let ends = reply.calls.iter().filter_map(|call| call.result.as_ref().map(|result| result.at));
                    let last = ends.chain([reply.ended]).max().unwrap_or(reply.ended);
                    let parent = turn.as_mut().map(|turn| {
                        turn.to = turn.to.max(last);
                        turn.id.clone()
                    });
                    reply.usage.iter().for_each(|usage| counts.add(usage));
                    self.reply(agent, reply, parent.as_ref());
                }
                Item::Text { .. } | Item::Note { .. } => {}
            }
        }
        self.close(agent, turn, counts);
    }

    /// Writes a turn of which the journal has no end.
    fn close(&mut self, agent: &AgentPart, turn: Option<Span>, counts: Counts) {
        if let Some(mut turn) = turn {
            turn.attributes.extend(counts.attributes());
            turn.error = Some(("interrupted", "the program ended".to_owned()));
            self.push(agent, turn);
        }
    }

    fn turn(&self, agent: &AgentPart, at: Timestamp, parent: Option<String>) -> Span {
        let mut attributes = vec![attribute("gen_ai.agent.id", agent.name().into())];
        attributes.extend(agent.model.as_ref().map(|model| attribute("gen_ai.request.model", model.as_str().into())));
        Span {
            id: self.id("turn", &agent.id, &at.as_nanosecond().to_string()),
            parent,
            name: format!("invoke_agent {}", agent.name()),
            kind: INTERNAL,
            from: at,
            to: at,
            operation: "invoke_agent",
            attributes,
            error: None,
        }
    }

    fn reply(&mut self, agent: &AgentPart, reply: &Reply, parent: Option<&String>) {
        let usage = reply.usage.clone().unwrap_or_default();
        let mut attributes = Vec::new();
        let model = agent.model.as_ref().or(usage.model.as_ref());
        attributes.extend(model.map(|model| attribute("gen_ai.request.model", model.as_str().into())));
        attributes.extend(usage.model.as_ref().map(|model| attribute("gen_ai.response.model", model.as_str().into())));
        let mut counts = Counts::default();
        counts.add(&usage);
        attributes.extend(counts.attributes());
        let thinking = usage.thinking.map(|count| attribute("gen_ai.usage.reasoning.output_tokens", count.into()));
        attributes.extend(thinking);
        let name = model.map_or_else(|| "chat".to_owned(), |model| format!("chat {model}"));
        if !reply.is_empty() {
            let id = self.id("chat", &agent.id, &reply.at.as_nanosecond().to_string());
            let error = reply.is_interrupted.then(|| ("interrupted", String::new()));
            let (from, to, parent) = (reply.at, reply.ended, parent.cloned());
            let span = Span { id, parent, name, kind: CLIENT, from, to, operation: "chat", attributes, error };
            self.push(agent, span);
        }
        for call in &reply.calls {
            let span = self.call(agent, call, parent.cloned());
            self.push(agent, span);
        }
    }

    fn call(&self, agent: &AgentPart, call: &CallPart, parent: Option<String>) -> Span {
        let attributes = vec![
            attribute("gen_ai.tool.name", call.tool.as_str().into()),
            attribute("gen_ai.tool.call.id", call.id.as_str().into()),
            attribute("gen_ai.tool.type", "function".into()),
        ];
        let error = match &call.result {
            Some(result) => result.is_error.then(|| ("tool_error", String::new())),
            None => Some(("interrupted", String::new())),
        };
        Span {
            id: self.call_id(&agent.id, call),
            parent,
            name: format!("execute_tool {}", call.tool),
            kind: INTERNAL,
            from: call.at,
            to: call.result.as_ref().map_or(call.at, |result| result.at),
            operation: "execute_tool",
            attributes,
            error,
        }
    }

    fn call_id(&self, agent: &AgentId, call: &CallPart) -> String {
        self.id("call", agent, call.id.as_str())
    }

    /// Makes the id of a span, which is the same whenever the session is exported: eight bytes.
    fn id(&self, what: &str, agent: &AgentId, which: &str) -> String {
        let digest = Sha256::digest(format!("{}\n{what}\n{agent}\n{which}", self.session).as_bytes());
        let bytes: [u8; 8] = std::array::from_fn(|at| digest.get(at).copied().unwrap_or_default());
        format!("{:016x}", u64::from_be_bytes(bytes))
    }

    fn push(&mut self, agent: &AgentPart, span: Span) {
        let mut attributes = vec![
            attribute("gen_ai.operation.name", span.operation.into()),
            attribute("gen_ai.conversation.id", self.session.into()),
            attribute("gen_ai.agent.name", agent.name().into()),
        ];
        if span.operation != "execute_tool" {
            attributes.push(attribute("gen_ai.provider.name", self.provider.into()));
        }
        attributes.extend(span.attributes);
        let mut written = json!({
            "traceId": self.session.replace('-', ""),
            "spanId": span.id,
            "name": span.name,
            "kind": span.kind,
            "startTimeUnixNano": span.from.as_nanosecond().to_string(),
            "endTimeUnixNano": span.to.max(span.from).as_nanosecond().to_string(),
        });
        if let Some((kind, message)) = &span.error {
            attributes.push(attribute("error.type", (*kind).into()));
            written["status"] = json!({ "code": ERROR });
            if !message.is_empty() {
                written["status"]["message"] = message.as_str().into();
            }
        }
        if let Some(parent) = span.parent {
            written["parentSpanId"] = parent.into();
        }
        written["attributes"] = attributes.into();
        self.spans.push(written);
    }
}

/// Finds the span of the call that spawned each agent; the first one counts.
fn spawners<'a>(parts: &'a SessionParts, trace: &Trace<'_>) -> HashMap<&'a AgentId, String> {
    let mut spawners = HashMap::new();
    for agent in &parts.agents {
        for call in agent.replies().flat_map(|reply| &reply.calls) {
            for child in &call.children {
                spawners.entry(child).or_insert_with(|| trace.call_id(&agent.id, call));
            }
        }
    }
    spawners
}

/// Returns the name that the conventions have for the provider of a session. It tells which form the telemetry has, and here
/// that is a dialect.
fn provider(parts: &SessionParts) -> &str {
    let is_claude_code = || parts.header.as_ref().is_some_and(|header| header.program.starts_with("claude-code"));
    match parts.provider.as_deref().unwrap_or_default() {
        "" if is_claude_code() => Dialect::Anthropic.name(),
        "" => UNKNOWN,
        "openai-responses" => Dialect::OpenAi.name(),
        "gemini" => "gcp.gemini",
        provider => provider,
    }
}

/// Writes an attribute; a number of 64 bits is a text in JSON.
fn attribute(name: &str, value: Value) -> Value {
    let value = match value {
        Value::Number(number) => json!({ "intValue": number.to_string() }),
        value => json!({ "stringValue": value }),
    };
    json!({ "key": name, "value": value })
}
