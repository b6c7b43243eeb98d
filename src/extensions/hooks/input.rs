//! What a hook reads on its standard input: one JSON object with the members that Claude Code and codex send.
//!
//! Pure. Also returns the names that a matcher is held against.

use serde_json::{Map, Value, json};

use crate::hooks::engine::HookSession;
use crate::hooks::tool_names::{names_of_tool, their_name, to_theirs};
use steersman_agent::{CompactionCause, HookPoint, SessionEnd, SessionStart};
use steersman_base::event::HookEvent;
use steersman_base::id::AgentId;
use steersman_base::mode::Mode;

/// What a notification about a question is called.
const PERMISSION_PROMPT: &str = "permission_prompt";
const IDLE_PROMPT: &str = "idle_prompt";

pub(super) fn event_of(point: &HookPoint<'_>, agent: &AgentId) -> HookEvent {
    match point {
        HookPoint::Session(_) => HookEvent::SessionStart,
        HookPoint::Prompt(_) => HookEvent::UserPromptSubmit,
        HookPoint::BeforeCall(_) => HookEvent::PreToolUse,
        HookPoint::Question(_) => HookEvent::PermissionRequest,
        HookPoint::Notification(_) | HookPoint::Idle => HookEvent::Notification,
        HookPoint::AfterCall(..) => HookEvent::PostToolUse,
        HookPoint::FailedCall(..) => HookEvent::PostToolUseFailure,
        HookPoint::Spawned => HookEvent::SubagentStart,
        HookPoint::Ended(_) => HookEvent::SessionEnd,
        HookPoint::BeforeCompaction(_) => HookEvent::PreCompact,
        HookPoint::Answered { .. } if agent.is_main() => HookEvent::Stop,
        HookPoint::Answered { .. } => HookEvent::SubagentStop,
    }
}

/// Returns the names that matchers are held against.
pub(super) fn subjects<'a>(point: &HookPoint<'a>, agent: &'a AgentId) -> Vec<&'a str> {
    match point {
        HookPoint::Session(source) => vec![source_name(*source)],
        HookPoint::Prompt(_) => Vec::new(),
        HookPoint::BeforeCall(call)
        | HookPoint::Question(call)
        | HookPoint::AfterCall(call, _)
        | HookPoint::FailedCall(call, _) => names_of_tool(&call.name),
        HookPoint::Notification(_) => vec![PERMISSION_PROMPT],
        HookPoint::Idle => vec![IDLE_PROMPT],
        HookPoint::BeforeCompaction(cause) => vec![trigger(*cause)],
        HookPoint::Spawned | HookPoint::Answered { .. } => vec![persona(agent)],
        HookPoint::Ended(end) => vec![reason(*end)],
    }
}

pub(super) fn input(point: &HookPoint<'_>, agent: &AgentId, mode: Mode, session: &HookSession) -> Value {
    let mut members = Map::new();
    let mut put = |name: &str, value: Value| {
        members.insert(name.to_owned(), value);
    };
    put("session_id", session.id.as_str().into());
    put("transcript_path", session.transcript.as_ref().map(|path| path.to_string_lossy().into_owned()).into());
    put("cwd", session.cwd.to_string_lossy().into());
    put("permission_mode", permission_mode(mode).into());
    put("hook_event_name", event_of(point, agent).name().into());
    if !agent.is_main() {
        put("agent_id", agent.as_str().into());
        put("agent_type", persona(agent).into());
    }
    match point {
        HookPoint::Session(source) => put("source", source_name(*source).into()),
        HookPoint::Prompt(text) => put("prompt", (*text).into()),
        HookPoint::Notification(message) => {
            put("message", (*message).into());
            put("notification_type", PERMISSION_PROMPT.into());
        }
        HookPoint::Idle => {
            put("message", "The agent is waiting for your input".into());
            put("notification_type", IDLE_PROMPT.into());
        }
        HookPoint::BeforeCall(call)
        | HookPoint::Question(call)
        | HookPoint::AfterCall(call, _)
        | HookPoint::FailedCall(call, _) => {
            put("tool_name", their_name(&call.name).into());
            put("tool_input", to_theirs(&call.name, &call.arguments, &session.cwd));
            put("tool_use_id", call.id.as_str().into());
            if let HookPoint::AfterCall(_, result) = point {
                put("tool_response", response(&call.name, result));
            }
            if let HookPoint::FailedCall(_, error) = point {
                put("error", (*error).into());
                put("is_interrupt", false.into());
            }
        }
        HookPoint::BeforeCompaction(cause) => {
            put("trigger", trigger(*cause).into());
            let words = match cause {
                CompactionCause::Auto => None,
                CompactionCause::Asked(words) => *words,
            };
            put("custom_instructions", words.unwrap_or_default().into());
        }
        HookPoint::Spawned => {}
        HookPoint::Ended(end) => put("reason", reason(*end).into()),
        HookPoint::Answered { answer, again } => {
            put("stop_hook_active", (*again).into());
            put("last_assistant_message", (*answer).into());
        }
    }
    Value::Object(members)
}

/// Returns the result of a call: its text, for commands under the name that their output has there.
fn response(tool: &str, result: &str) -> Value {
    match tool {
        "bash" => json!({ "stdout": result, "stderr": "", "interrupted": false, "content": result }),
        _ => json!({ "content": result, "success": true }),
    }
}

fn source_name(source: SessionStart) -> &'static str {
    match source {
        SessionStart::Startup => "startup",
        SessionStart::Resume => "resume",
        SessionStart::Clear => "clear",
        SessionStart::Compact => "compact",
    }
}

fn reason(end: SessionEnd) -> &'static str {
    match end {
        SessionEnd::Clear => "clear",
        SessionEnd::Exit => "other",
    }
}

fn trigger(cause: CompactionCause<'_>) -> &'static str {
    match cause {
        CompactionCause::Auto => "auto",
        CompactionCause::Asked(_) => "manual",
    }
}

/// Returns the persona of a sub-agent: its id without the number.
fn persona(agent: &AgentId) -> &str {
    agent.as_str().rsplit_once(' ').map_or(agent.as_str(), |(persona, _)| persona)
}

/// Returns what Claude Code calls a mode.
pub fn permission_mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Ask => "default",
        Mode::AutoEdit => "acceptEdits",
        Mode::Auto | Mode::AutoWithoutSandbox => "bypassPermissions",
        Mode::Plan | Mode::ReadOnly => "plan",
    }
}
