//! The events of a run: all that the screen, the logs and other listeners see.
//!
//! The wire form (one JSON object per line) is the serde form of [`Envelope`]: `exec --json`, logs and replays
//! share it. Readers ignore unknown types and fields ([`Event::Unknown`]).

mod facts;
mod hook;
mod jobs;
mod pending;
mod type_name;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::details::{Details, UndoneFile};
use crate::id::{AgentId, CallId, ClientId, JobId, MessageId};
use crate::image::ImageFacts;
use crate::message::{Arguments, Message, ToolCall};
use crate::plan::{PlanChanged, PlanTold};
use crate::steering::{Rule, RuleNews, TextKind, Trigger};

pub use facts::{CallFault, EventFacts, TurnFault, TurnFaultKind, TurnFinish};
pub use hook::{HookEvent, HookOutcome, HookRun};
pub use jobs::{JobEnd, JobEnding, JobOwner, JobStart};
pub use pending::{Delivery, Pending};

/// The version of the wire form, sent in [`Event::SessionStarted`].
pub const SCHEMA: u32 = 2;

/// One event with its agent and its time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Envelope {
    /// A number that rises by at least one per event of the whole tree, from 1. Gaps are valid (merged deltas).
    pub seq: u64,
    /// The moment of the event, UTC, to the microsecond.
    #[serde(serialize_with = "micros")]
    pub at: Timestamp,
    /// The agent that did it; empty for the main agent.
    pub agent: AgentId,
    /// The agent that spawned it; null for the main agent.
    pub parent: Option<AgentId>,
    /// What happened.
    pub event: Event,
}

impl Envelope {
    /// Appends `next` when both are deltas of the same agent and kind (progress: of the same call), and returns whether
    /// it did; the later `seq` and time are kept.
    #[must_use]
    pub fn merge(&mut self, next: &Self) -> bool {
        if self.agent != next.agent {
            return false;
        }
        match (&mut self.event, &next.event) {
            (Event::AssistantDelta { text }, Event::AssistantDelta { text: more })
            | (Event::ThinkingDelta { text }, Event::ThinkingDelta { text: more }) => text.push_str(more),
            (Event::ToolProgress { id, text }, Event::ToolProgress { id: same, text: more }) if id == same => {
                text.push_str(more);
            }
            (Event::JobOutput { id, text }, Event::JobOutput { id: same, text: more }) if id == same => {
                text.push_str(more);
            }
            _ => return false,
        }
        self.seq = next.seq;
        self.at = next.at;
        true
    }
}

fn micros<S: serde::Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{at:.6}"))
}

/// An event of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// A session starts; always the first event.
    SessionStarted {
        /// The version of this wire form, [`SCHEMA`].
        schema: u32,
        /// Program name and version.
        program: String,
        /// The workspace's directory.
        cwd: String,
        /// The provider's name (`openai`, `demo`, …).
        provider: String,
        /// The model's name, when it is known already.
        model: Option<String>,
        /// Tool calls that a turn may make.
        max_steps: Option<u32>,
        /// The tools that the main agent has.
        tools: Vec<String>,
    },
    /// A turn begins: one user message up to its final answer.
    TurnStarted {
        /// Counts from 1 per agent.
        turn: u32,
    },
    /// A round begins: one model request with its tool calls.
    RoundStarted {
        /// The turn it belongs to.
        turn: u32,
        /// Counts from 1 per turn.
        round: u32,
    },
    /// The round's last tool result is in the history, or its reply had no calls.
    RoundEnded {
        /// The turn it belongs to.
        turn: u32,
        /// Counts from 1 per turn.
        round: u32,
    },
    /// A user message is in the history.
    UserTurn {
        /// The text, exactly as typed.
        content: String,
        /// Whether it entered a running turn, at a tool-result boundary.
        mid_loop: bool,
        /// The id that `inject_user_message` returned; null for a turn started by `run_loop`.
        injection: Option<MessageId>,
        /// Tool calls of this turn before it; 0 at a turn's start.
        #[serde(default)]
        step: u32,
        /// The tool after whose result it entered; null at a turn's start and where it cut an answer.
        #[serde(default)]
        after: Option<String>,
        /// The client that sent it; absent for the one that the run was started with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sender: Option<ClientId>,
        /// What it is to the agent.
        #[serde(default)]
        kind: TextKind,
        /// What it has waited for; absent for a text that waited for nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        met: Option<Trigger>,
        /// The images that it has; absent without any.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<ImageFacts>,
    },
    /// The rules of the user that hold, all of them, after each change.
    Rules {
        /// In the order in which they were set.
        rules: Vec<Rule>,
    },
    /// The agent told its model of a rule: one that it was not sent itself, or that has changed.
    RuleTold {
        /// The text that set the rule.
        id: MessageId,
        /// What it told.
        news: RuleNews,
        /// Its words; null once it is withdrawn.
        text: Option<String>,
    },
    /// The plan of the agent changed, by itself or by the user.
    PlanChanged(PlanChanged),
    /// The agent told its model what the user changed of its plan, or whether a plan is to be accepted first.
    PlanTold(PlanTold),
    /// The reply to the first request with these messages has begun.
    Seen {
        /// The messages, in the order of their delivery.
        injections: Vec<MessageId>,
        /// Tool calls of this turn before the reply.
        step: u32,
    },
    /// The agent ended before these messages were delivered; they go back to the user.
    Returned {
        /// In the order in which they waited.
        entries: Vec<Pending>,
    },
    /// The agent is paused and waits for the user, at a boundary or before a call.
    Parked {
        /// The call that would run next; null at a boundary.
        call: Option<ToolCall>,
    },
    /// The agent continues after a pause.
    Unparked {
        /// What the user decided.
        decision: Decided,
    },
    /// A piece of reasoning; preview only.
    ThinkingDelta {
        /// The piece.
        text: String,
    },
    /// A piece of the answer; preview only.
    AssistantDelta {
        /// The piece.
        text: String,
    },
    /// The whole reasoning of a reply; replaces the deltas.
    Thinking {
        /// The whole text.
        text: String,
    },
    /// The whole text of a reply; replaces the deltas.
    Assistant {
        /// The whole text, Markdown.
        text: String,
        /// True when a cancel or a broken stream cut it.
        interrupted: bool,
    },
    /// The usage of a round; once per round, also when the reply was tool calls only.
    Tokens(Usage),
    /// A tool call begins.
    ToolCall {
        /// The call.
        id: CallId,
        /// The tool's name.
        name: String,
        /// The arguments as the model wrote them, not validated.
        arguments: Arguments,
    },
    /// Output of a call that still runs.
    ToolProgress {
        /// The call.
        id: CallId,
        /// The new piece of output.
        text: String,
    },
    /// The details of a call that a screen shows beyond its observation; comes before the result.
    ToolDetails {
        /// The call.
        id: CallId,
        /// The details.
        details: Details,
    },
    /// A tool call ended.
    ToolResult {
        /// The call.
        id: CallId,
        /// The observation that the model gets.
        content: String,
        /// Whether the content starts with `Error: `, apart from a first line about arguments that the user changed.
        is_error: bool,
        /// How long it ran, milliseconds.
        elapsed_ms: u64,
    },
    /// A sub-agent or a rescue begins; the envelope carries the spawner's id.
    AgentSpawned {
        /// The new agent.
        child: AgentId,
        /// Its persona's name; `synthesizer` for a rescue.
        persona: String,
        /// Its task.
        task: String,
        /// The `agent` call that spawned it; null for a rescue.
        call: Option<CallId>,
        /// Its model.
        model: Option<String>,
        /// Its own step budget.
        max_steps: Option<u32>,
        /// Its tools.
        tools: Vec<String>,
    },
    /// A sub-agent or a rescue ended; the envelope carries the spawner's id.
    AgentFinished {
        /// The agent that ended.
        child: AgentId,
        /// How.
        outcome: Outcome,
        /// Why, when it failed.
        message: Option<String>,
    },
    /// The model's context window; once at construction and again after a switch.
    ContextCap {
        /// Tokens, when any source knows it.
        tokens: Option<u64>,
    },
    /// The step budget is used up; a rescue writes the answer.
    FallbackNotice {
        /// A sentence for the user.
        reason: String,
    },
    /// The provider waits before it tries again.
    Retrying {
        /// The number of the next attempt, from 2.
        attempt: u32,
        /// How long it waits, milliseconds.
        after_ms: u64,
        /// Why.
        reason: String,
    },
    /// The turn is being cancelled.
    Cancelled {},
    /// A turn ended.
    TurnEnded {
        /// The number given in `TurnStarted`.
        turn: u32,
        /// How.
        outcome: Outcome,
        /// Why, when it failed.
        message: Option<String>,
    },
    /// The whole pending queue, after each change.
    Pending {
        /// In delivery order.
        entries: Vec<Pending>,
    },
    /// The restrictions of tools: at the start, and again when they change.
    Guards {
        /// The name of the approval mode.
        mode: String,
        /// The sandbox of commands: `namespaces`, `bubblewrap`, `landlock`; null without one.
        sandbox: Option<String>,
        /// The files whose text is in the system prompt, for display.
        context_files: Vec<String>,
    },
    /// The program asks the user.
    Question {
        /// Names the question.
        id: String,
        /// The question.
        question: String,
        /// The exact effect of a yes.
        detail: Option<String>,
        /// The call that waits for the answer; null when no call does.
        #[serde(default)]
        call: Option<CallId>,
        /// The scope of an answer for the session; null when none is offered.
        #[serde(default)]
        offer: Option<String>,
        /// The allow rule that the answer `always` would keep; null when none is offered.
        #[serde(default)]
        rule: Option<String>,
    },
    /// A question was answered.
    Answer {
        /// Names the question.
        id: String,
        /// The answer's name: `yes`, `session`, `always`, `no`, or `withdrawn` when nobody answered.
        answer: String,
        /// The user's words for the model, if any.
        words: Option<String>,
    },
    /// The limit of tool calls of this turn has changed.
    StepLimit {
        /// The limit, all calls of the turn included.
        max: u32,
    },
    /// The conversation continues with another model.
    ModelSwitched {
        /// The model before.
        from: Option<String>,
        /// The model from now on.
        to: Option<String>,
        /// The provider from now on; null when it stays the same.
        #[serde(default)]
        provider: Option<String>,
    },
    /// A summary of older rounds is requested; `Compacted` or a `Notice` of the same agent follows.
    Compacting {
        /// The number of messages that the summary is to replace.
        messages: usize,
    },
    /// Older rounds were replaced by a summary.
    Compacted {
        /// Tokens before, as far as known.
        before: Option<u64>,
        /// Tokens after, as far as known.
        after: Option<u64>,
        /// The number of messages that the summary replaces, without the system prompt.
        #[serde(default)]
        messages: usize,
        /// The summary; empty when only results were shortened.
        #[serde(default)]
        summary: String,
    },
    /// The size of the conversation; before each request, and after each new count.
    ContextSize {
        /// Tokens.
        tokens: u64,
        /// Whether the number is a guess, not a server's count.
        estimated: bool,
    },
    /// Changes of files that tools made were taken back by the user; the model is told with the next message.
    ChangesUndone {
        /// The turn whose changes they were; null when they were all changes of a file.
        turn: Option<u32>,
        /// What was done about each file, the newest change first.
        files: Vec<UndoneFile>,
    },
    /// A hook of the user or of a trusted project ended.
    HookRan(HookRun),
    /// A command goes on in the background, or the user has started a shell line.
    JobStarted(JobStart),
    /// Output of a job; of much output only a part.
    JobOutput {
        /// The job.
        id: JobId,
        /// The new piece of output.
        text: String,
    },
    /// A job ended, with everything that it started.
    JobEnded(Box<JobEnd>),
    /// A notice about the run, for the user alone: a cut reply, a budget, a repaired history.
    Notice {
        /// One sentence.
        text: String,
    },
    /// The history was emptied except for the system prompt.
    Reset {},
    /// One message as it was appended (session log only).
    History {
        /// The message.
        #[cfg_attr(test, schemars(with = "Value"))]
        message: Message,
    },
    /// A run without a screen ends; always its last event.
    SessionEnded {
        /// The exit code of the program.
        code: u8,
        /// Why it failed, when it did.
        message: Option<String>,
    },
    /// An event of an extension.
    Extension {
        /// The extension's name.
        name: String,
        /// Its own data.
        payload: Value,
    },
    /// A type that this version does not know; read, but never emitted.
    #[serde(other)]
    Unknown,
}

/// The token counts of one round, as the server reported them.
///
/// `input + cached + cache_creation` is the size of the prompt; providers subtract where a dialect nests them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Usage {
    /// Prompt tokens that were not read from or written to a cache.
    pub input: Option<u64>,
    /// Tokens of the reply, thinking included.
    pub output: Option<u64>,
    /// Prompt tokens read from a cache.
    pub cached: Option<u64>,
    /// Prompt tokens written to a cache.
    pub cache_creation: Option<u64>,
    /// Tokens of thinking, a part of `output`.
    pub thinking: Option<u64>,
    /// The model that answered.
    pub model: Option<String>,
    /// The cost in billionths of a US dollar: as the server reports it, else computed from a known price.
    #[serde(default)]
    pub cost_nanos: Option<u64>,
}

impl Usage {
    /// Returns the size of the prompt in tokens; unknown parts count as 0.
    pub fn prompt(&self) -> u64 {
        let part = |tokens: Option<u64>| tokens.unwrap_or(0);
        part(self.input).saturating_add(part(self.cached)).saturating_add(part(self.cache_creation))
    }

    /// Returns the tokens of the conversation after this reply.
    pub fn context(&self) -> u64 {
        self.prompt().saturating_add(self.output.unwrap_or(0))
    }
}

/// The outcome of a turn or an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// The model gave its final answer.
    Completed,
    /// The step budget was used up and the rescue answered.
    Synthesized,
    /// The user stopped it.
    Cancelled,
    /// Something broke; a message says what.
    Failed,
}

/// The way in which a paused agent continued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Decided {
    /// It continued; the call runs as the model wrote it.
    Run,
    /// The call runs with other arguments.
    Edited,
    /// The call does not run; the model gets the reason.
    Skipped,
    /// A message that is to be delivered now ended the pause.
    Message,
    /// The run was stopped.
    Cancelled,
}
