//! What happens in a run, as values: the only thing the screen, the logs and the recorders see.
//!
//! The wire form (one JSON object per line, `spec.md` 1.1) is the serde form of [`Envelope`]: `exec --json`,
//! logs and replays share it. Readers ignore types and fields that they do not know ([`Event::Unknown`]).

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::details::Details;
use crate::id::{AgentId, CallId, MessageId};
use crate::message::{Arguments, Message, ToolCall};

/// The version of the wire form, sent in [`Event::SessionStarted`].
pub const SCHEMA: u32 = 1;

/// Carries one event together with who did it and when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Envelope {
    /// Rises by at least one per event, over the whole tree; starts at 1. Gaps are legal (merged deltas).
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
    /// Appends `next` when both are deltas of the same agent and kind (progress: of the same call) and tells whether it
    /// did; the later `seq` and time stay.
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

/// Is one thing that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// Opens a session; always the first record.
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
    /// A turn begins: one user message up to its final answer. Truffle's `agent_start`.
    TurnStarted {
        /// Counts from 1 per agent.
        turn: u32,
    },
    /// A round begins: one model request with its tool batch. Truffle's `turn_start`.
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
        /// True when it entered at a tool-result boundary of a running turn.
        mid_loop: bool,
        /// The id that `inject_user_message` returned; null for a turn started by `run_loop`.
        injection: Option<MessageId>,
        /// Tool calls of this turn before it; 0 at a turn's start.
        #[serde(default)]
        step: u32,
        /// The tool behind whose result it entered; null at a turn's start and where it cut an answer.
        #[serde(default)]
        after: Option<String>,
    },
    /// The first token came of the reply to the first request that carried these messages.
    Seen {
        /// The messages, in the order of their delivery.
        injections: Vec<MessageId>,
        /// Tool calls of this turn before the reply.
        step: u32,
    },
    /// The agent ended before these texts were delivered; they are the user's again.
    Returned {
        /// In the order in which they waited.
        entries: Vec<Pending>,
    },
    /// The agent is held and waits for the user, at a boundary or before a call.
    Parked {
        /// The call that would run next; null at a boundary.
        call: Option<ToolCall>,
    },
    /// The agent goes on.
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
    /// What a round consumed; once per round, also when the reply was tool calls only.
    Tokens(Usage),
    /// A tool call begins.
    ToolCall {
        /// The call.
        id: CallId,
        /// The tool's name.
        name: String,
        /// As the model wrote them, not validated.
        arguments: Arguments,
    },
    /// Output of a call that still runs.
    ToolProgress {
        /// The call.
        id: CallId,
        /// The new piece of output.
        text: String,
    },
    /// What a screen shows of a call beyond its observation; comes before the result.
    ToolDetails {
        /// The call.
        id: CallId,
        /// What there is to see.
        details: Details,
    },
    /// A tool call ended.
    ToolResult {
        /// The call.
        id: CallId,
        /// The observation that the model gets.
        content: String,
        /// True when the content starts with `Error: `, a line before it left out that says that the user changed the
        /// call's arguments.
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
        /// The task it was given.
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
        /// Tokens, when any source knew it.
        tokens: Option<u64>,
    },
    /// The step budget is used up; a rescue writes the answer.
    FallbackNotice {
        /// A sentence for the user.
        reason: String,
    },
    /// The provider waits before it tries again.
    Retrying {
        /// The attempt that comes, from 2.
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
    /// What keeps tools within bounds: at the start, and again when it changes.
    Guards {
        /// The name of the approval mode.
        mode: String,
        /// What confines commands: `namespaces`, `bubblewrap`, `landlock`; null when nothing does.
        sandbox: Option<String>,
        /// The files whose text is in the system prompt, as they are shown.
        context_files: Vec<String>,
    },
    /// The program asks the user.
    Question {
        /// Names the question.
        id: String,
        /// What is asked.
        question: String,
        /// What exactly would happen.
        detail: Option<String>,
        /// The call that waits for the answer; null when no call does.
        #[serde(default)]
        call: Option<CallId>,
        /// What an answer for the session would cover; null when none is offered.
        #[serde(default)]
        offer: Option<String>,
        /// The allow rule that an answer for good would keep; null when none is offered.
        #[serde(default)]
        rule: Option<String>,
    },
    /// A question was answered.
    Answer {
        /// Names the question.
        id: String,
        /// The answer's name: `yes`, `session`, `always`, `no`, or `withdrawn` when nobody answered.
        answer: String,
        /// Words for the model that came with it.
        words: Option<String>,
    },
    /// The turn may make this many tool calls in all from here on.
    StepLimit {
        /// The calls.
        max: u32,
    },
    /// The conversation goes on with another model.
    ModelSwitched {
        /// The model before.
        from: Option<String>,
        /// The model from here on.
        to: Option<String>,
        /// The provider from here on; null when it stays the same.
        #[serde(default)]
        provider: Option<String>,
    },
    /// The model is asked for a summary of older rounds; `Compacted` or a `Notice` of the same agent ends it.
    Compacting {
        /// How many messages the summary is to stand for.
        messages: usize,
    },
    /// Older rounds were replaced by a summary.
    Compacted {
        /// Tokens before, as far as known.
        before: Option<u64>,
        /// Tokens after, as far as known.
        after: Option<u64>,
        /// How many messages the summary stands for, those of the system prompt not counted.
        #[serde(default)]
        messages: usize,
        /// The summary; empty when results were shortened only.
        #[serde(default)]
        summary: String,
    },
    /// How many tokens the conversation holds; before each request, and whenever it was found out anew.
    ContextSize {
        /// Tokens.
        tokens: u64,
        /// True when no server has counted them.
        estimated: bool,
    },
    /// The agent says something about its own run, for the user alone: a cut reply, a budget, a repaired history.
    Notice {
        /// One sentence.
        text: String,
    },
    /// The history is back to the system prompt.
    Reset {},
    /// One message as it was appended (session log only).
    History {
        /// The message.
        message: Message,
    },
    /// Ends the record of a run without a screen; always its last.
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
    /// A type that this version does not know; only ever read, never emitted.
    #[serde(other)]
    Unknown,
}

/// Counts the tokens of one round, as the server reported them.
///
/// `input + cached + cache_creation` is the size of the prompt; adapters subtract where a dialect nests them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Prompt tokens that no cache held.
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
    /// What it cost, billionths of a US dollar: what the server says, which few do, else what a known price makes of it.
    #[serde(default)]
    pub cost_nanos: Option<u64>,
}

impl Usage {
    /// Returns the size of the prompt in tokens; unknown parts count as 0.
    pub fn prompt(&self) -> u64 {
        let part = |tokens: Option<u64>| tokens.unwrap_or(0);
        part(self.input).saturating_add(part(self.cached)).saturating_add(part(self.cache_creation))
    }

    /// Returns the tokens that the conversation holds after this reply.
    pub fn context(&self) -> u64 {
        self.prompt().saturating_add(self.output.unwrap_or(0))
    }
}

/// Says how a turn or an agent ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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

/// Says how a parked agent went on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decided {
    /// It goes on as it would have; the call runs as the model wrote it.
    Run,
    /// The call runs with other arguments.
    Edited,
    /// The call does not run; the model is told why.
    Skipped,
    /// A message that is to be delivered now took the place of what would have come.
    Message,
    /// The run was stopped.
    Cancelled,
}

/// Is one message that waits for delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pending {
    /// The id that the injection returned.
    pub id: MessageId,
    /// The text, exactly as typed.
    pub text: String,
    /// Where it will enter.
    pub delivery: Delivery,
    /// True while the user edits it, and while it is `stale`: every drain passes over it.
    pub held: bool,
    /// True when it had waited so long at its boundary that the user must say whether it still holds.
    #[serde(default)]
    pub stale: bool,
    /// When it was accepted.
    #[serde(serialize_with = "micros")]
    pub at: Timestamp,
}

/// Says where a pending message enters the conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// At the next tool-result boundary, or as the next turn.
    #[default]
    Steer,
    /// Only after the turn has ended, as a turn of its own.
    FollowUp,
    /// At once: the answer being written, or the calls not yet started, give way. As the next turn when none runs.
    Now,
}
