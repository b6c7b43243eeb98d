//! Claude Code sessions: `user` and `assistant` lines with a `message`, in a tree of `uuid` and `parentUuid`.
//!
//! A reply stands there in as many lines as it has parts, under one `message.id`, each with the counts so far. Side chains
//! are sub-agents.

use std::collections::HashMap;

use serde_json::Value;

use super::ForeignProgram;
use super::build::Build;
use super::source::{SourceLines, content, filled_text, text, time};
use steersman_base::event::{Outcome, Usage};
use steersman_base::id::{AgentId, CallId};
use steersman_base::message::Arguments;

/// Types of lines about other things than what was said.
const ABOUT: [&str; 16] = [
    "summary",
    "file-history-snapshot",
    "system",
    "progress",
    "queue-operation",
    "attachment",
    "custom-title",
    "ai-title",
    "agent-name",
    "agent-color",
    "agent-setting",
    "last-prompt",
    "mode",
    "permission-mode",
    "pr-link",
    "worktree-state",
];
/// How texts begin that a command of the program put into the conversation as the user's.
const COMMANDS: [&str; 5] =
    ["<command-", "<local-command-", "<bash-", "<task-notification>", "Caveat: The messages below"];
/// What stands in a conversation where the user stopped the model.
const INTERRUPTED: &str = "[Request interrupted by user";
/// The model of what the program says itself in the place of a reply.
const SYNTHETIC: &str = "<synthetic>";

struct Project {
    build: Build,
    /// The agent of each line of a side chain, and the length of the conversation behind each other line.
    chains: HashMap<String, AgentId>,
    lengths: HashMap<String, usize>,
    last: Option<String>,
    /// Calls that spawn an agent and whose agent was not seen yet.
    tasks: Vec<Task>,
    spawned: HashMap<CallId, AgentId>,
    /// By the name that the file has for them.
    named: HashMap<String, AgentId>,
    numbers: HashMap<String, u64>,
    /// The reply that each agent is in: its name, and the counts that were told last.
    replies: HashMap<AgentId, (String, Usage)>,
}

struct Task {
    call: CallId,
    parent: AgentId,
    persona: String,
    prompt: String,
}

pub(super) fn build(lines: &SourceLines) -> Build {
    let mut project = Project {
        build: Build::new(ForeignProgram::ClaudeCode, lines.bytes, lines.skipped),
        chains: HashMap::new(),
        lengths: HashMap::new(),
        last: None,
        tasks: Vec::new(),
        spawned: HashMap::new(),
        named: HashMap::new(),
        numbers: HashMap::new(),
        replies: HashMap::new(),
    };
    for line in &lines.values {
        project.line(line);
    }
    let agents: Vec<AgentId> = project.replies.keys().cloned().collect();
    for agent in &agents {
        project.close_reply(agent);
    }
    project.build
}

impl Project {
    fn line(&mut self, line: &Value) {
        let kind = text(line, "type").unwrap_or_default();
        let is_said = matches!(kind, "user" | "assistant");
        if is_said {
            self.build.at(time(line));
            self.facts(line);
        }
        if is_said && line.get("message").is_some_and(Value::is_object) {
            let agent = self.agent(line);
            let message = line.get("message").unwrap_or(&Value::Null);
            if kind == "user" {
                self.user(&agent, line, message);
            } else {
                self.assistant(&agent, message);
            }
            self.note(&agent, line);
        } else if ABOUT.contains(&kind) {
            self.note(&AgentId::main(), line);
        } else {
            self.build.skipped += 1;
        }
    }

    fn facts(&mut self, line: &Value) {
        let facts = &mut self.build.facts;
        let keep = |fact: &mut String, member: &str| {
            if fact.is_empty() {
                *fact = filled_text(line, member).unwrap_or_default();
            }
        };
        keep(&mut facts.session, "sessionId");
        keep(&mut facts.directory, "cwd");
        keep(&mut facts.version, "version");
        facts.branch = facts.branch.take().or_else(|| filled_text(line, "gitBranch"));
    }

    /// Remembers where a line stands, so that others can name it.
    fn note(&mut self, agent: &AgentId, line: &Value) {
        let Some(uuid) = filled_text(line, "uuid") else { return };
        if agent.is_main() {
            self.lengths.insert(uuid.clone(), self.build.length());
            self.last = Some(uuid);
        } else {
            self.chains.insert(uuid, agent.clone());
        }
    }

    /// Returns the agent that a line is of; the first line of a side chain is the task of a new one.
    fn agent(&mut self, line: &Value) -> AgentId {
        let is_side = line.get("isSidechain").and_then(Value::as_bool) == Some(true);
        let name = filled_text(line, "agentId").filter(|_| is_side);
        let parent = text(line, "parentUuid").and_then(|parent| self.chains.get(parent));
        let known = name.as_ref().and_then(|name| self.named.get(name)).or(parent.filter(|_| name.is_none()));
        match known {
            Some(agent) => agent.clone(),
            None if is_side => self.spawn(name, &content(line.pointer("/message/content").unwrap_or(&Value::Null))),
            None => AgentId::main(),
        }
    }

    fn spawn(&mut self, name: Option<String>, task: &str) -> AgentId {
        let place = self.tasks.iter().position(|waiting| waiting.prompt.trim() == task.trim());
        let (persona, parent, call) = match place.map(|place| self.tasks.remove(place)) {
            Some(Task { call, parent, persona, .. }) => (persona, parent, Some(call)),
            None => (String::new(), AgentId::main(), None),
        };
        let persona = if persona.is_empty() { "agent".to_owned() } else { persona };
        let number = self.numbers.entry(persona.clone()).or_default();
        let child = AgentId::new(format!("{persona} {number}"));
        *number += 1;
        self.build.spawn(&parent, &child, &persona, task, call.clone());
        self.spawned.extend(call.map(|call| (call, child.clone())));
        self.named.extend(name.map(|name| (name, child.clone())));
        child
    }

    fn user(&mut self, agent: &AgentId, line: &Value, message: &Value) {
        let is_true = |member: &str| line.get(member).and_then(Value::as_bool) == Some(true);
        let parts = message.get("content").unwrap_or(&Value::Null);
        if is_true("isCompactSummary") && agent.is_main() {
            self.close_reply(agent);
            self.build.compacted(content(parts), Vec::new());
            return;
        }
        for part in parts.as_array().into_iter().flatten().filter(|part| text(part, "type") == Some("tool_result")) {
            self.result(agent, part);
        }
        let words = content(parts);
        let is_command = COMMANDS.iter().any(|beginning| words.trim_start().starts_with(beginning));
        if words.starts_with(INTERRUPTED) {
            self.close_reply(agent);
            self.build.end(agent, Outcome::Cancelled, None);
        } else if !words.trim().is_empty() && !is_true("isMeta") && !is_command {
            self.close_reply(agent);
            self.went_back(agent, line);
            self.build.user(agent, &words);
        }
    }

    /// Goes back where a text follows an earlier line than the last one.
    fn went_back(&mut self, agent: &AgentId, line: &Value) {
        let parent = text(line, "parentUuid");
        if agent.is_main() && parent != self.last.as_deref() {
            let length = match parent {
                Some(parent) => self.lengths.get(parent).copied(),
                None => self.last.is_some().then_some(0),
            };
            if let Some(length) = length.filter(|length| *length < self.build.length()) {
                self.build.rewind(length);
            }
        }
    }

    fn result(&mut self, agent: &AgentId, part: &Value) {
        let call = text(part, "tool_use_id").unwrap_or_default();
        if let Some(child) = self.spawned.get(&CallId::new(call)).cloned() {
            self.close_reply(&child);
            self.build.finish_agent(agent, &child);
        }
        let is_error = part.get("is_error").and_then(Value::as_bool) == Some(true);
        self.build.result(agent, call, content(part.get("content").unwrap_or(&Value::Null)), is_error, None);
    }

    fn assistant(&mut self, agent: &AgentId, message: &Value) {
        let parts = message.get("content").unwrap_or(&Value::Null);
        let model = filled_text(message, "model");
        if model.as_deref() == Some(SYNTHETIC) {
            self.build.notice(agent, content(parts));
            return;
        }
        let name = filled_text(message, "id").unwrap_or_default();
        if self.replies.get(agent).is_some_and(|(reply, _)| *reply != name) {
            self.close_reply(agent);
        }
        if agent.is_main() {
            let facts = &mut self.build.facts;
            facts.model = facts.model.take().or_else(|| model.clone());
        }
        if let Some(words) = parts.as_str() {
            self.build.answer(agent, words.to_owned());
        }
        for part in parts.as_array().into_iter().flatten() {
            self.part(agent, part);
        }
        if let Some(usage) = message.get("usage") {
            self.replies.insert(agent.clone(), (name, counts(usage, model)));
        }
    }

    fn part(&mut self, agent: &AgentId, part: &Value) {
        match text(part, "type") {
            Some("text") => {
                if let Some(words) = filled_text(part, "text") {
                    self.build.answer(agent, words);
                }
            }
            Some("thinking") => {
                if let Some(words) = filled_text(part, "thinking") {
                    self.build.thinking(agent, words);
                }
            }
            Some("tool_use" | "server_tool_use") => {
                let (id, name) = (text(part, "id").unwrap_or_default(), text(part, "name").unwrap_or_default());
                let input = part.get("input").and_then(Value::as_object).cloned().unwrap_or_default();
                if let Some(prompt) = input.get("prompt").and_then(Value::as_str)
                    && matches!(name, "Task" | "Agent")
                {
                    let persona = input.get("subagent_type").and_then(Value::as_str).unwrap_or_default().to_owned();
                    let (call, parent) = (CallId::new(id), agent.clone());
                    self.tasks.push(Task { call, parent, persona, prompt: prompt.to_owned() });
                }
                self.build.call(agent, id, name, Arguments::Object(input));
            }
            Some("redacted_thinking" | "web_search_tool_result" | "image") => {}
            Some(_) | None => self.build.skipped += 1,
        }
    }

    /// Tells what the reply of an agent cost, once it is whole.
    fn close_reply(&mut self, agent: &AgentId) {
        if let Some((_, usage)) = self.replies.remove(agent) {
            self.build.usage(agent, usage);
        }
    }
}

fn counts(usage: &Value, model: Option<String>) -> Usage {
    let count = |member: &str| usage.get(member).and_then(Value::as_u64);
    Usage {
        input: count("input_tokens"),
        output: count("output_tokens"),
        cached: count("cache_read_input_tokens"),
        cache_creation: count("cache_creation_input_tokens"),
        thinking: None,
        model,
        cost_nanos: None,
    }
}
