//! The events of a run: all that the screen, the logs and other listeners see.
//!
//! The wire form (one JSON object per line) is the serde form of [`Envelope`]: `exec --json`, logs and replays
//! share it. Readers ignore unknown types and fields ([`Event::Unknown`]).
//!
//! # Where things are
//!
//! - an event with who did it and when, as it is written to a line: `envelope.rs`
//! - what an event does not say by itself: `facts.rs`
//! - what a hook did: `hook.rs`
//! - commands that go on in the background: how one began, and how it ended: `jobs.rs`
//! - the lines in which an event is told where nothing of its own is shown for it: `notes.rs`
//! - how a turn or an agent ended, and how a paused agent continued: `outcome.rs`
//! - a text of the user between the moment in which a queue accepts it and the one in which its agent takes it: `pending.rs`
//! - the names of the types of events, as the wire form has them: `type_name.rs`
//! - the tokens and the cost of a round, as the server reported them: `usage.rs`
//! - what a user sends to an agent: the fields of the text, declared once: `user_text.rs`

mod envelope;
mod facts;
mod hook;
mod jobs;
mod notes;
mod outcome;
mod pending;
mod type_name;
mod usage;
mod user_text;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::details::{Details, UndoneFile};
use crate::id::{AgentId, CallId, ClientId, JobId, MessageId};
use crate::image::ImageInfo;
use crate::message::{Arguments, Message, ToolCall};
use crate::plan::{PlanChanged, PlanNotified};
use crate::steering::{Rule, RuleNews, TextKind, Trigger};

pub use envelope::Envelope;
pub use facts::{CallFailure, EventContext, TurnFailure, TurnFailureKind, TurnFinish};
pub use hook::{HookEvent, HookOutcome, HookRun};
pub use jobs::{JobEnd, JobEnding, JobOwner, JobStart};
pub use notes::EventNote;
pub use outcome::{Decided, Outcome};
pub use pending::{Delivery, Pending, TakenBack};
pub use usage::Usage;
pub use usage::add_known;
pub use user_text::UserText;

/// The version of the wire form, sent in [`Event::SessionStarted`].
pub const SCHEMA: u32 = 2;

/// An event of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
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
        images: Vec<ImageInfo>,
    },
    /// The rules of the user that hold, all of them, after each change.
    Rules {
        /// In the order in which they were set.
        rules: Vec<Rule>,
    },
    /// The agent told its model of a rule: one that it was not sent itself, or that has changed.
    #[serde(rename = "rule_told")]
    RuleNotified {
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
    #[serde(rename = "plan_told")]
    PlanNotified(PlanNotified),
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
    #[serde(rename = "parked")] // The name that readers of the lines know, as below.
    Paused {
        /// The call that would run next; null at a boundary.
        call: Option<ToolCall>,
    },
    /// The agent continues after a pause.
    #[serde(rename = "unparked")]
    Resumed {
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
    /// No call waits for a sub-agent any longer, and it goes on; the envelope carries the spawner's id.
    AgentBackgrounded {
        /// The agent.
        child: AgentId,
    },
    /// The answer of a sub-agent that no call waited for enters the conversation of its spawner, as a message of its own.
    AgentAnswered {
        /// The agent that has ended.
        child: AgentId,
        /// How.
        outcome: Outcome,
        /// Its answer, or why there is none.
        answer: String,
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
        /// Why, when it failed, or when its answer was cut: the task stays open then.
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
        /// The answer's name: `yes`, `session`, `always`, `no`, `filled` for a form or a call with other arguments, or
        /// `withdrawn` when nobody answered.
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
    /// A hook of the user or of a trusted project ended, or one in the background began.
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
    /// The user closed a task that had no answer; the next text begins one.
    TaskClosed {},
    /// The history was emptied except for the system prompt.
    Reset {},
    /// One message as it was appended (session log only).
    History {
        /// The message.
        #[cfg_attr(feature = "schema", schemars(with = "Value"))]
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
