//! codex rollouts: `session_meta`, `turn_context`, `response_item`, `event_msg` and `compacted`, each with its `payload`.
//!
//! Older files have the bare items, without times. What the program put before the user's words for the model (the
//! environment, instructions) is left out: nobody said it. Encrypted reasoning is for its server alone and stays behind.

use serde_json::Value;

use super::ForeignProgram;
use super::build::Build;
use super::source::{SourceLines, content, filled_text, text, time};
use steersman_base::event::{Outcome, Usage};
use steersman_base::id::AgentId;
use steersman_base::message::{Arguments, Message};

/// How texts begin that codex itself put into the conversation as the user's.
const CONTEXT: [&str; 9] = [
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<turn_aborted>",
    "<user_shell_command>",
    "<skill>",
    "<INSTRUCTIONS>",
    "# AGENTS.md instructions",
];

struct Rollout {
    build: Build,
    /// The text that the user said last: it stands in a file twice.
    said: Option<(TextRecord, String)>,
    has_meta: bool,
    model: Option<String>,
    /// The counts that were told last: they are repeated.
    total: Value,
}

/// How a file tells of a text of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextRecord {
    /// As the model gets it, with pictures in it.
    Item,
    Event,
}

/// Builds the session of a rollout.
pub(super) fn build(lines: &SourceLines) -> Build {
    let build = Build::new(ForeignProgram::Codex, lines.bytes, lines.skipped);
    let mut rollout = Rollout { build, said: None, has_meta: false, model: None, total: Value::Null };
    for line in &lines.values {
        rollout.line(line);
    }
    rollout.build
}

impl Rollout {
    fn line(&mut self, line: &Value) {
        self.build.at(time(line));
        let is_known = match (text(line, "type"), line.get("payload")) {
            (Some("session_meta"), Some(payload)) => self.meta(payload),
            (Some("turn_context"), Some(payload)) => self.context(payload),
            (Some("response_item"), Some(payload)) => self.item(payload),
            (Some("event_msg"), Some(payload)) => self.event(payload),
            (Some("compacted"), Some(payload)) => self.compacted(payload),
            (Some("world_state" | "inter_agent_communication" | "inter_agent_communication_metadata"), Some(_)) => true,
            // As older versions wrote it.
            (Some(_), None) => self.item(line),
            (None, None) if line.get("id").is_some() => self.meta(line),
            (None, None) if text(line, "record_type") == Some("state") => true,
            (None | Some(_), _) => false,
        };
        self.build.skipped += u64::from(!is_known);
    }

    /// Takes what the session is; a branch carries that of its parent behind its own.
    fn meta(&mut self, payload: &Value) -> bool {
        if !self.has_meta {
            self.has_meta = true;
            let facts = &mut self.build.facts;
            facts.session =
                filled_text(payload, "id").or_else(|| filled_text(payload, "session_id")).unwrap_or_default();
            facts.started = time(payload).or(facts.started);
            facts.directory = filled_text(payload, "cwd").unwrap_or_default();
            facts.version = filled_text(payload, "cli_version").unwrap_or_default();
            facts.provider = filled_text(payload, "model_provider").unwrap_or_default();
            facts.branch = payload.get("git").and_then(|git| filled_text(git, "branch"));
        }
        true
    }

    fn context(&mut self, payload: &Value) -> bool {
        self.model = filled_text(payload, "model").or_else(|| self.model.take());
        let facts = &mut self.build.facts;
        facts.model = facts.model.take().or_else(|| self.model.clone());
        true
    }

    fn item(&mut self, item: &Value) -> bool {
        let main = AgentId::main();
        let call = text(item, "call_id").or_else(|| text(item, "id")).unwrap_or_default();
        match text(item, "type") {
            Some("message") => {
                let words = item.get("content").map(content).unwrap_or_default();
                match text(item, "role") {
                    Some("user") => self.user(TextRecord::Item, &words),
                    Some("assistant") if !words.is_empty() => {
                        self.said = None;
                        self.build.answer(&main, words);
                    }
                    // Instructions of the program.
                    Some(_) | None => {}
                }
            }
            Some("reasoning") => {
                let parts = ["summary", "content"].map(|member| item.get(member).map(content).unwrap_or_default());
                let words = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n");
                if !words.is_empty() {
                    self.build.thinking(&main, words);
                }
            }
            Some("function_call") => {
                let arguments = Arguments::parse(text(item, "arguments").unwrap_or_default());
                self.build.call(&main, call, text(item, "name").unwrap_or_default(), arguments);
            }
            Some("custom_tool_call") => {
                let arguments = Arguments::parse(text(item, "input").unwrap_or_default());
                self.build.call(&main, call, text(item, "name").unwrap_or_default(), arguments);
            }
            Some("local_shell_call") => {
                let action = item.get("action").and_then(Value::as_object).cloned().unwrap_or_default();
                self.build.call(&main, call, "local_shell", Arguments::Object(action));
            }
            Some("function_call_output" | "custom_tool_call_output") => {
                let output = item.get("output").unwrap_or(&Value::Null);
                self.output(call, output);
            }
            Some("web_search_call") => {
                let query = item.get("action").and_then(|action| filled_text(action, "query")).unwrap_or_default();
                self.build.notice(&main, format!("The server searched the web: {query}"));
            }
            Some("ghost_snapshot" | "compaction" | "compaction_summary" | "context_compaction" | "other") => {}
            Some(_) | None => return false,
        }
        true
    }

    /// Takes what came of a call: a text, a list of parts, or an object that says whether it was a success.
    fn output(&mut self, call: &str, output: &Value) {
        let is_error = output.get("success").and_then(Value::as_bool) == Some(false);
        let words = content(output.get("content").unwrap_or(output));
        // Some tools write an object of their own into the text.
        let facts: Value = serde_json::from_str(&words).unwrap_or_default();
        let seconds = facts.get("metadata").and_then(|facts| facts.get("duration_seconds")).and_then(Value::as_f64);
        self.build.result(&AgentId::main(), call, words, is_error, seconds.map(milliseconds));
    }

    fn user(&mut self, record: TextRecord, words: &str) {
        let is_context = CONTEXT.iter().any(|beginning| words.trim_start().starts_with(beginning));
        if words.trim().is_empty() || is_context {
            return;
        }
        let is_again = |(before, said): &(TextRecord, String)| {
            *before != record && (said.starts_with(words.trim()) || words.trim().starts_with(said.as_str()))
        };
        if self.said.take_if(|said| is_again(said)).is_none() {
            self.said = Some((record, words.trim().to_owned()));
            self.build.user(&AgentId::main(), words);
        }
    }

    fn event(&mut self, event: &Value) -> bool {
        let main = AgentId::main();
        match text(event, "type") {
            Some("user_message") => self.user(TextRecord::Event, text(event, "message").unwrap_or_default()),
            Some("token_count") => self.tokens(event.get("info").unwrap_or(&Value::Null)),
            Some("turn_aborted") => self.build.end(&main, Outcome::Cancelled, None),
            Some("task_complete" | "turn_complete") => {
                self.said = None;
                self.build.end(&main, Outcome::Completed, None);
            }
            Some("error") => {
                let message = filled_text(event, "message");
                self.build.end(&main, Outcome::Failed, message);
            }
            // All others tell again what the items say, or how it looked on a screen.
            Some(_) => {}
            None => return false,
        }
        true
    }

    fn tokens(&mut self, info: &Value) {
        let total = info.get("total_token_usage").unwrap_or(&Value::Null);
        let Some(last) = info.get("last_token_usage").filter(|_| *total != self.total || total.is_null()) else {
            return;
        };
        self.total = total.clone();
        let count = |member: &str| last.get(member).and_then(Value::as_u64);
        let cached = count("cached_input_tokens");
        self.build.usage(
            &AgentId::main(),
            Usage {
                input: count("input_tokens").map(|input| input.saturating_sub(cached.unwrap_or(0))),
                output: count("output_tokens"),
                cached,
                cache_creation: None,
                thinking: count("reasoning_output_tokens"),
                model: self.model.clone(),
                cost_nanos: None,
            },
        );
    }

    fn compacted(&mut self, payload: &Value) -> bool {
        let replacement = payload.get("replacement_history").and_then(Value::as_array);
        let message = |item: &Value| {
            let words = item.get("content").map(content).filter(|words| !words.is_empty())?;
            match text(item, "role") {
                Some("user") => Some(Message::user(words)),
                Some("assistant") => Some(Message::assistant(words)),
                Some(_) | None => None,
            }
        };
        let messages = replacement.into_iter().flatten().filter_map(message).collect();
        self.build.compacted(filled_text(payload, "message").unwrap_or_default(), messages);
        true
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Bounded first.
fn milliseconds(seconds: f64) -> u64 {
    (seconds.clamp(0.0, 1e9) * 1e3) as u64
}
