//! The agent: one conversation, its loop and its lifecycle.
//!
//! `run_loop` holds the loop; this file holds the state and its getters. One future runs a turn and spawns no task;
//! the controls are shared handles, read at fixed boundaries. The agent is the sole emitter of its events.
//!
//! # Where things are
//!
//! - one turn: reply, batch, boundary; messages that wait when it ends: `run_loop.rs`; tests: `agent.rs`,
//!   `injection.rs`, `next_turn.rs`
//! - clean-up when the future of a turn or a construction is dropped: `on_drop.rs`, `finalizers.rs`; tests:
//!   `dropped.rs`, `lifecycle.rs`
//! - deliver now: what a message interrupts, and how fast: `reply.rs`, `batch.rs`; tests: `deliver_now.rs`,
//!   `tests/bench/deliver_now.rs`
//! - how a text enters: `deliver.rs`; the frame around it, and how that is read back: `src/core/wrapper.rs`; rules that the model is told: `rules.rs`; tests:
//!   `steering/mod.rs`
//! - the plan: what the model is told of the user's changes, and of the mode in which a plan is accepted first: `plan.rs`;
//!   tests: `plan/told.rs`, `tests/session/plan_mode.rs`
//! - texts that wait for a condition: what the queue is told of the run: `conditions.rs`; the queue's side:
//!   `src/core/control/interloper/conditions.rs`; tests: `tests/session/conditions.rs`
//! - receipts: where a message was delivered, when the model saw it: `run_loop.rs`, `reply.rs`; tests: `receipts.rs`
//! - tool calls side by side, in order, after a cut reply: `batch.rs`; one call, from its arguments to its observation: `call.rs`;
//!   tests: `tools_parallel.rs`
//! - answers of sub-agents in the background start a turn: `run_loop.rs`; calls that a text ends before their agents have:
//!   `batch.rs`; tests: `tests/session/background_agents.rs`
//! - compaction: what is removed from a long conversation, and what always stays: `compaction/mod.rs`,
//!   `history/older.rs`, `history/kept.rs`; tests: `compaction/mod.rs`, `compaction/triggers.rs`,
//!   `compaction/requested.rs`, `compaction/random_histories.rs`, `steering/survival.rs`
//! - the user's texts of a conversation, the task, what became of each: `history/texts.rs`
//! - the size of a conversation: counted, guessed, impossible counts: `context_size.rs`; tests: `context_size.rs`
//! - hooks: where the loop asks them, what follows: `hooks.rs`, `src/extensions/hooks`; tests: `tests/extensions/hooks/mod.rs`
//! - what fills the window, results that are taken out or pinned: `context_report.rs`, `history/older.rs`; tests:
//!   `tests/tui/context_pane.rs`
//! - ids of tool calls that servers reuse: `call_ids.rs`; tests: `call_ids.rs`
//! - a history that cannot be sent invalid: `history/mod.rs`; tests: `history.rs`
//! - the rescue when the steps are used up: `synthesizer.rs`, `src/core/control/step_limit.rs`; tests:
//!   `synthesizer.rs`, `tests/core/flag_and_budget.rs`
//! - building and closing an agent, extensions, finalizers: `builder.rs`, `builder_parts.rs`, `finalizers.rs`; tests:
//!   `building.rs`, `lifecycle.rs`, `library/`
//! - tokens, cost and end of the last turn: `last_turn.rs`; tests: `last_turn.rs`
//! - `on`, `reset`, `max_turns`: `subscribe.rs`; tests: `truffle.rs`
//! - an answer that must match a schema: `output_schema.rs`; tests: `tests/program/headless/output_schema.rs`
//! - replies: deltas, cut and empty ones: `reply.rs`; tests: `replies.rs`
//! - the main agent gets notes on sub-agents that no call waits for: `agent_notes.rs`
//! - extensions: parts that add tools, prompt text and notes on each user message to an agent: `extension.rs`
//! - an extension made of parts and closures, as `FnTool` is a tool: `fn_extension.rs`
//! - instruction files in a conversation: `instruction_files.rs`
//! - the agent and its commands in the background: `jobs.rs`
//! - parts that belong together in an agent: `parts.rs`
//! - the events that record questions of tools and their answers: `questions.rs`
//! - a request that a server refuses because of an image: `refused_images.rs`
//! - one question, one answer: no tools, no listeners, no budget, no history: `think.rs`

mod agent_notes;
mod batch;
mod builder;
mod builder_parts;
mod call;
mod call_ids;
mod compaction;
mod conditions;
mod context_report;
pub mod context_size;
mod deliver;
mod extension;
pub mod finalizers;
mod fn_extension;
mod history;
mod hooks;
mod instruction_files;
mod jobs;
mod last_turn;
mod long_wait;
mod model;
mod model_choice;
mod on_drop;
mod output_schema;
mod parts;
mod pause;
mod plan;
mod questions;
mod refused_images;
mod reply;
mod resume;
mod rules;
mod run_loop;
mod spending;
pub mod subagent;
mod subscribe;
mod synthesizer;
mod think;

use std::fmt;
use std::sync::{Arc, Mutex};

use steersman_base::error::BuildError;
use steersman_base::event::{Event, Usage};
use steersman_base::id::{AgentId, MessageId};
use steersman_core::approval::Approvals;
use steersman_core::control::{AgentControls, Budget, Cancellable, Interloper, PauseGate, Plans, Rules, StepLimit};
use steersman_core::listener::{HistoryChange, Listener, ListenerList};
use steersman_core::provider::{AnswerStage, ChatProvider, ChatTransport, Connector, Finish, FixedProvider, Streaming};
use steersman_core::tool::BackgroundJobs;
use steersman_core::tool::{Additions, RawTool, Tool, Toolbox};

pub use builder::{AgentBuilder, Configurator};
pub use compaction::CompactionRequest;
pub use extension::{AgentContext, BoundaryNote, Extension, ExtensionError};
pub use fn_extension::FnExtension;
pub use history::{
    History, KEPT_HEAD, Keep, NotRunReason, Pins, PlacedText, RuleInConversation, SUMMARY_HEAD, TextFate, UserTexts,
    rules_in_conversation,
};
pub use hooks::{CompactionCause, EndedHook, HookAnswer, HookPoint, LoopHooks, SessionEnd, SessionStart};
pub use instruction_files::INSTRUCTION_FILE;
pub use last_turn::LastTurn;
pub use model_choice::{ChosenModel, ModelChoice};
pub use output_schema::{OutputSchema, StructuredAnswer};
pub use questions::event as question_event;
pub use subscribe::{EventKind, EventPayload, EventSource, ObservedEvent};
pub use synthesizer::{SYSTEM_PROMPT as SYNTHESIZER_PROMPT, build_prompt as synthesizer_prompt};
pub use think::think;

pub(crate) use parts::TreeParts;

use batch::CallOutcome;
use call_ids::CallIds;
use context_size::ContextSize;
use output_schema::TurnSchema;
use parts::Handles;
use subscribe::Subscribers;

/// An agent: a model, a conversation, tools, and the events of what it does.
///
/// Example: "An agent with a tool" in the documentation of `steersman::prelude`.
pub struct Agent {
    id: AgentId,
    tree: TreeParts,
    handles: Handles,
    provider: Arc<dyn ChatProvider>,
    system_prompt: String,
    toolbox: Toolbox,
    sub_agent_tools: Vec<Arc<dyn Tool>>,
    listeners: ListenerList,
    subscribers: Arc<Subscribers>,
    /// A compaction that failed is not tried again before the conversation has so many messages.
    compact_from: usize,
    context_size: ContextSize,
    /// The instruction files in the system prompt, each with its tokens, guessed.
    instructions: Vec<(String, u64)>,
    call_ids: CallIds,
    extensions: Vec<Arc<dyn Extension>>,
    context_window_cap: Option<u64>,
    max_turns: Option<u32>,
    empty_reply: EmptyReply,
    history: History,
    /// How many messages of the history the listeners were told of.
    reported: usize,
    synth_answer: Option<String>,
    /// What the answer must match.
    output_schema: Option<Arc<OutputSchema>>,
    turn_schema: TurnSchema,
    /// Whether the answer of the running turn was asked for once more.
    answer_stage: AnswerStage,
    /// Why the last reply of the running turn ended.
    finish: Option<Finish>,
    turns: u32,
    /// Whether the task waits for an answer; `None` where only the conversation tells it.
    task_open: Option<bool>,
    /// The round of the running turn.
    round: u32,
    /// Tool calls of the running turn so far, also without a budget.
    steps: u32,
    /// Injected messages that no reply has followed yet.
    unseen: Vec<MessageId>,
    /// Text of the reply that is being received; empty otherwise.
    partial: String,
    /// The outcomes so far of the calls that run now, in call order; their results are not in the history yet.
    group: Mutex<Vec<CallOutcome>>,
    /// Where the conversation comes from, until the hooks were told.
    session_start: Option<SessionStart>,
    /// Why a hook wants the running turn to end.
    stop_wish: Mutex<Option<String>>,
    /// The tokens of the running turn so far.
    turn_usage: Mutex<Usage>,
    last_turn: Option<LastTurn>,
    closer: Arc<finalizers::Closer>,
}

/// The handling of a reply without text and without calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EmptyReply {
    /// Ask once more, then fail.
    AskAgain,
    /// Take it as the answer, as the rescue does.
    Accept,
}

impl Agent {
    /// Starts building an agent.
    pub fn builder(
        transport: ChatTransport,
        system_prompt: impl Into<String>,
        connector: Arc<dyn Connector>,
    ) -> AgentBuilder {
        AgentBuilder::new(TreeParts::new(transport, connector), system_prompt.into())
    }

    /// Starts building an agent whose model is behind one provider, or an [`Arc`] of one.
    pub fn with_provider(provider: impl ChatProvider + 'static, system_prompt: impl Into<String>) -> AgentBuilder {
        Self::builder(ChatTransport::default(), system_prompt, Arc::new(FixedProvider::new(Arc::new(provider))))
    }

    /// Returns the id; empty for the main agent.
    pub fn id(&self) -> &AgentId {
        &self.id
    }

    /// Returns the transport, with its model filled in.
    pub fn transport(&self) -> &ChatTransport {
        &self.tree.transport
    }

    /// Returns the connector, which makes providers for transports.
    pub fn connector(&self) -> &Arc<dyn Connector> {
        &self.tree.connector
    }

    /// Returns the model's name, when one is known.
    pub fn model(&self) -> Option<&str> {
        self.tree.transport.model.as_deref()
    }

    /// Returns the system prompt as it is sent: the base and what extensions appended.
    pub fn system_prompt(&self) -> &str {
        &self.system_prompt
    }

    /// Returns the tools that the model can call, in declaration order; raw tools are not among them.
    pub fn tools(&self) -> &[Arc<dyn Tool>] {
        self.toolbox.tools()
    }

    /// Returns the tools that only sub-agents may be given.
    pub fn sub_agent_tools(&self) -> &[Arc<dyn Tool>] {
        &self.sub_agent_tools
    }

    /// Returns the listeners.
    pub fn listeners(&self) -> &ListenerList {
        &self.listeners
    }

    /// Returns the step budget.
    pub fn step_limit(&self) -> Option<&StepLimit> {
        self.handles.step_limit.as_ref()
    }

    /// Returns the cancel flag.
    pub fn cancellable(&self) -> Option<&Cancellable> {
        self.handles.cancellable.as_ref()
    }

    /// Returns the queue.
    pub fn interloper(&self) -> Option<&Arc<Interloper>> {
        self.handles.interloper.as_ref()
    }

    /// Returns what decides about the actions of its tools.
    pub fn approvals(&self) -> &Arc<Approvals> {
        &self.tree.approvals
    }

    /// Returns the agent controls that it was built with.
    pub fn agent_controls(&self) -> Option<&Arc<AgentControls>> {
        self.handles.agent_controls.as_ref()
    }

    /// Returns the gate with which a host pauses this agent.
    pub fn gate(&self) -> Option<&Arc<PauseGate>> {
        self.handles.gate.as_ref()
    }

    /// Returns the handle with which a host switches the model, if there is one.
    pub fn model_choice(&self) -> Option<&Arc<ModelChoice>> {
        self.handles.model_choice.as_ref()
    }

    /// Returns the budget of money and tokens of its tree.
    pub fn budget(&self) -> &Arc<Budget> {
        &self.tree.budget
    }

    /// Returns the rules of the user that hold in its tree.
    pub fn rules(&self) -> &Arc<Rules> {
        &self.tree.rules
    }

    /// Returns the plans of the agents of its tree.
    pub fn plans(&self) -> &Arc<Plans> {
        &self.tree.plans
    }

    /// Returns the commands in the background, of all agents of the tree.
    pub fn jobs(&self) -> &Arc<dyn BackgroundJobs> {
        &self.tree.jobs
    }

    /// Returns what this agent shares with its sub-agents.
    pub(crate) fn tree(&self) -> &TreeParts {
        &self.tree
    }

    /// Returns the extensions, in order.
    pub fn extensions(&self) -> &[Arc<dyn Extension>] {
        &self.extensions
    }

    /// Returns the context window in tokens, when any source knows it.
    pub fn context_window_cap(&self) -> Option<u64> {
        self.context_window_cap
    }

    /// Returns whether replies come in pieces.
    pub fn streaming(&self) -> Streaming {
        self.tree.streaming
    }

    /// Returns the conversation.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Returns how many turns it has begun.
    pub(crate) fn turns(&self) -> u32 {
        self.turns
    }

    /// Returns the final text of the last turn: the rescue's answer when there was one (also when it is empty), else
    /// the last reply's content. `None` before the first reply.
    pub fn last_assistant_content(&self) -> Option<&str> {
        self.synth_answer.as_deref().or_else(|| self.history.last_assistant_content())
    }

    /// Returns whether the task waits for an answer: its turn runs, was cancelled, failed, or lost its process. The next
    /// message adds to such a task, unless its kind is `instead`.
    pub fn is_task_open(&self) -> bool {
        self.task_open.unwrap_or_else(|| UserTexts::in_messages(self.history.messages()).is_open())
    }

    /// Closes the open task, so that the next message begins one; false when none is open.
    pub fn close_task(&mut self) -> bool {
        let was_open = self.is_task_open();
        if was_open {
            self.task_open = Some(false);
            self.listeners.emit(Event::TaskClosed {});
        }
        was_open
    }

    /// Returns whether the answer of the last turn came from the rescue.
    pub fn synthesized(&self) -> bool {
        self.synth_answer.is_some()
    }

    /// Adds a raw tool to this conversation only. It is not in [`Agent::tools`], so no sub-agent ever gets it. A
    /// tool does the same from within a turn with [`ToolContext::additions`](steersman_core::tool::ToolContext::additions).
    ///
    /// # Errors
    /// An argument error when the name is taken.
    pub fn internal_add_tool(&mut self, tool: Arc<dyn RawTool>) -> Result<(), BuildError> {
        self.toolbox.add_raw(tool)
    }

    /// Returns the way by which this agent gets tools while it runs.
    pub fn additions(&self) -> &Additions {
        self.toolbox.additions()
    }

    /// Empties the conversation except for the system prompt: tools and listeners stay, the controls are reset.
    pub fn reset(&mut self) -> &mut Self {
        self.history = History::new(&self.system_prompt);
        self.task_open = None;
        self.context_size.forget();
        self.compact_from = 0;
        self.session_start = Some(SessionStart::Clear);
        self.handles.compaction_request.take_request();
        self.unseen.clear();
        self.tree.approvals.forget(&self.id);
        self.tree.plans.forget(&self.id);
        self.tree.agent_notes.take_notes(&self.id);
        self.synth_answer = None;
        self.last_turn = None;
        self.reset_step_limit();
        if let Some(cancellable) = self.owned_cancellable() {
            cancellable.reset();
        }
        for extension in &self.extensions {
            extension.on_reset();
        }
        self.listeners.emit(Event::Reset {});
        self.notify_replaced();
        self.publish_context();
        self
    }

    /// Adds a listener, which gets every event of this agent and of its sub-agents from here on.
    pub fn add_listener(&self, listener: Arc<dyn Listener>) {
        self.listeners.attach(listener);
    }

    /// Tells the listeners which messages were appended since the last time.
    fn notify_history(&mut self) {
        let messages = self.history.messages();
        for message in messages.get(self.reported..).unwrap_or_default() {
            self.listeners.notify_history(HistoryChange::Appended(message));
        }
        self.reported = messages.len();
    }

    /// Tells the listeners that the history is another one.
    fn notify_replaced(&mut self) {
        let messages = self.history.messages();
        self.listeners.notify_history(HistoryChange::Replaced(messages));
        self.reported = messages.len();
    }

    /// Adds a clean-up handler for [`Agent::close`].
    pub fn on_close(&self, handler: impl FnOnce() + Send + 'static) {
        self.closer.on_close(handler);
    }

    /// Runs the clean-up handlers, newest first, each by itself. A second call does nothing.
    pub fn close(&self) {
        self.closer.close();
    }

    fn reset_step_limit(&self) {
        if let Some(step_limit) = &self.handles.step_limit {
            let was_extended = step_limit.allowed() > step_limit.max();
            step_limit.reset();
            if was_extended {
                self.listeners.emit(Event::StepLimit { max: step_limit.max() });
            }
        }
    }

    fn owned_cancellable(&self) -> Option<&Cancellable> {
        self.handles.cancellable.as_ref().filter(|_| self.handles.resets_cancel)
    }
}

impl fmt::Display for Agent {
    /// Writes `Agent(id=, model=qwen3-35b, tools=4, listeners=[Terminal])`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (model, tools) = (self.tree.transport.model_name(), self.tools().len());
        write!(f, "Agent(id={}, model={model}, tools={tools}, listeners={})", self.id, self.listeners)
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
