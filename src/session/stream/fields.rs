//! What the lines of a stream have beside the events, as types: written by `record.rs`, described by `schema.rs`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use steersman_base::event::{CallFailure, Delivery, Outcome, Pending, TurnFailure, TurnFinish};
use steersman_base::id::{AgentId, CallId, ClientId, MessageId};
use steersman_base::steering::{TextKind, Trigger};

/// What every line has beside its event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LineFields {
    /// The session; null where it is not saved.
    pub session: Option<String>,
    /// The turn that the agent is in; null between turns.
    pub turn: Option<u32>,
    /// The round of the turn; null before the first.
    pub round: Option<u32>,
}

/// What `question` has beside the event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct QuestionFields {
    /// The number that an answer names.
    pub number: u64,
    /// What it is about: `command`, `write`, `fetch`, `search`, `clone`, `use`, `mcp`, `custom`, `form`, `program`, `more_calls`.
    pub kind: String,
    /// The directory of the operation; null where it has none.
    pub directory: Option<String>,
    /// Why it is asked although the mode or a rule might allow it; null when that is plain.
    pub reason: Option<String>,
    /// The question; the same as `question`.
    pub text: String,
    /// What is asked, with every field of it: the operation by its kind, the fields of a form, a plan; null where it is not known.
    pub subject: Value,
}

/// What `answer` has beside the event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AnswerFields {
    /// The number of the question.
    pub number: u64,
    /// Who answered: `input`, the name of another client, `permission command`, `nobody`.
    pub by: String,
    /// The user's words for the model; the same as `words`.
    pub reason: Option<String>,
}

/// What `user_turn` has beside the event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct UserTurnFields {
    /// The message; the same as `injection`.
    pub id: Option<MessageId>,
    /// The text; the same as `content`.
    pub text: String,
}

/// What `seen` has beside the event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SeenFields {
    /// The messages; the same as `injections`.
    pub ids: Vec<MessageId>,
}

/// What `agent_spawned` has beside the event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AgentSpawnedFields {
    /// The new agent; the same as `child`.
    pub agent: AgentId,
    /// Its task; the same as `task`.
    pub text: String,
}

/// What `agent_finished` has beside the event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AgentFinishedFields {
    /// The agent that ended; the same as `child`.
    pub agent: AgentId,
    /// Why it failed; the same as `message`.
    pub reason: Option<String>,
}

/// What `compacted` has beside the event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CompactedFields {
    /// The summary; the same as `summary`.
    pub text: String,
}

/// What `tool_result` has beside the event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ToolResultFields {
    /// The tool.
    pub name: Option<String>,
    /// The observation; the same as `content`.
    pub text: String,
    /// Why it failed; null when it did not.
    pub error: Option<CallError>,
}

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CallError {
    /// The kind of the failure.
    pub kind: CallFailure,
}

/// What `turn_ended` has beside the event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TurnEndedFields {
    /// The answer; null without one. Never cut.
    pub answer: Option<String>,
    /// The answer as JSON, where `--output-schema` asked for that and it matches. Never cut.
    pub structured: Option<Value>,
    /// Why the last reply ended; null without a reply.
    pub finish: Option<TurnFinish>,
    /// What the turn used: of the main agent with its sub-agents, else of the agent alone.
    pub usage: UsageSum,
    /// What failed; null when nothing did.
    pub error: Option<TurnFailure>,
    /// Why it failed, or why its answer was cut; the same as `message`.
    pub reason: Option<String>,
}

/// Tokens and money of several rounds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct UsageSum {
    /// Rounds that were counted.
    pub rounds: u64,
    /// Prompt tokens that were not read from or written to a cache.
    pub input: u64,
    /// Tokens of the replies, thinking included.
    pub output: u64,
    /// Prompt tokens read from a cache.
    pub cached: u64,
    /// Prompt tokens written to a cache.
    pub cache_creation: u64,
    /// Tokens of thinking, a part of `output`.
    pub thinking: u64,
    /// Billionths of a US dollar; null when no price is known.
    pub cost_nanos: Option<u64>,
}

/// What one model was used for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ModelUsage {
    /// The model; null where the server did not name it.
    pub model: Option<String>,
    /// Its tokens and money.
    pub usage: UsageSum,
}

/// A line of its own: files that a call changed; of a command, those that changed while it ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FilesChanged {
    /// The call.
    pub id: CallId,
    /// The files.
    pub files: Vec<ChangedFile>,
    /// Whether there may be more: the search behind a command ended early.
    pub partial: bool,
}

/// A file that a call changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ChangedFile {
    /// Its path, as it is shown.
    pub path: String,
    /// Whether it is new; null behind a command, where that is not known.
    pub created: Option<bool>,
    /// Added lines; null behind a command.
    pub added: Option<u32>,
    /// Removed lines; null behind a command.
    pub removed: Option<u32>,
}

/// A line of its own: what came of a request of `--input json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ReplyLine {
    /// The `id` of the request; null where it had none.
    pub id: Value,
    /// Whether it was carried out.
    pub ok: bool,
    /// The message that `send` made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageId>,
    /// The text that `withdraw` took out of the queue, or `cancel` those of all queues.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub returned: Vec<Pending>,
    /// Why it was not carried out; null when it was.
    pub reason: Option<String>,
}

/// A call that was not allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RefusedCall {
    /// The agent; empty for the main agent.
    pub agent: AgentId,
    /// The call.
    pub id: CallId,
    /// The tool.
    pub name: Option<String>,
    /// `refused` by a rule, the mode, or because nobody was there to ask; `declined` by whoever was asked.
    #[serde(default = "refused")]
    pub kind: CallFailure,
    /// The observation that the model got, at most 1 KiB of it.
    pub reason: String,
}

/// What earlier records hold.
fn refused() -> CallFailure {
    CallFailure::Refused
}

/// A text that was read and not delivered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct UnsentText {
    /// Its id.
    pub id: MessageId,
    /// The text.
    pub text: String,
    /// Where it was to enter.
    pub delivery: Delivery,
    /// What it was to be to the agent.
    #[serde(default)]
    pub kind: TextKind,
    /// What it waited for; absent where that was nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<Trigger>,
    /// The client that sent it; absent for the one that the run was started with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<ClientId>,
}

/// How a run ended: what `session_ended` has beside the event, and the object of `--output result`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RunResult {
    /// The session, by which the run can be continued; null for one that is not saved.
    pub session: Option<String>,
    /// The turns of the main agent.
    pub turns: u32,
    /// The exit code of the program; the same as `code`.
    pub exit_code: u8,
    /// How the last turn ended; `failed` where none could begin.
    pub outcome: Outcome,
    /// Why the last reply ended; null without one.
    #[serde(default)]
    pub finish: Option<TurnFinish>,
    /// The answer of the last turn; null without one. Never cut.
    pub answer: Option<String>,
    /// The answer as JSON, where `--output-schema` asked for that and it matches. Never cut.
    pub structured: Option<Value>,
    /// What all agents used.
    pub usage: UsageSum,
    /// Billionths of a US dollar; null when no price is known.
    pub cost_nanos: Option<u64>,
    /// The same in US dollars.
    pub cost_usd: Option<f64>,
    /// What was used, by the model that answered.
    pub by_model: Vec<ModelUsage>,
    /// The files that tools changed, and those that changed while commands ran, as they are shown.
    pub files: Vec<String>,
    /// Whether there may be more of them.
    pub files_partial: bool,
    /// The calls that were not allowed, at most 100.
    pub refused: Vec<RefusedCall>,
    /// The texts that were read and not delivered.
    pub unsent: Vec<UnsentText>,
    /// How long the program ran, milliseconds.
    pub duration_ms: u64,
    /// What failed in the last turn; null when nothing did.
    pub error: Option<TurnFailure>,
    /// Why it failed, in a sentence; the same as `message`.
    pub reason: Option<String>,
}
