//! How an agent is built: the builder with its inputs, and the Configurator that the build block fills.
//!
//! The order: register for clean-up, run the block (each extension's `configure` at once), compose the
//! prompt, make the conversation, resolve the context window and emit it, bind the extensions. On an error what was
//! armed is cleaned up, newest first, and the same error is returned.

use std::mem;
use std::sync::{Arc, Mutex};

use crate::OutputSchema;
use crate::builder_parts::{BuilderPart, turns_of};
use crate::call_ids::CallIds;
use crate::conditions::ConditionWatch;
use crate::context_size::{ContextSize, guess_text};
use crate::finalizers::Closer;
use crate::output_schema::TurnSchema;
use crate::parts::{Handles, TreeParts};
use crate::{
    Agent, CompactionRequest, EmptyReply, Extension, History, LoopHooks, ModelChoice, SessionStart, Subscribers,
};
use steersman_base::assets;
use steersman_base::error::BuildError;
use steersman_base::event::Event;
use steersman_base::id::AgentId;
use steersman_base::message::Message;
use steersman_base::steering::Framing;
use steersman_core::approval::Approvals;
use steersman_core::control::{Budget, Cancellable, ContextBook, Interloper, PauseGate, Plans, Rules, StepLimit};
use steersman_core::listener::{Listener, ListenerList};
use steersman_core::provider::{AnswerStage, ChatTransport, Connector, ProviderError, Streaming};
use steersman_core::tool::{BackgroundJobs, NoJobs};
use steersman_core::tool::{Tool, Toolbox};

/// The inputs of an agent. Awaiting it makes the agent, as [`AgentBuilder::build`] does with a block.
#[must_use]
pub struct AgentBuilder {
    pub(crate) tree: TreeParts,
    pub(crate) handles: Handles,
    pub(crate) system_prompt: String,
    pub(crate) context_window: Option<u64>,
    pub(crate) llama_probe_url: Option<String>,
    pub(crate) id: AgentId,
    pub(crate) max_turns: Option<u32>,
    pub(crate) empty_reply: EmptyReply,
    pub(crate) listeners: ListenerList,
    pub(crate) model_checked: bool,
    pub(crate) output_schema: Option<Arc<OutputSchema>>,
    pub(crate) instructions: Vec<(String, u64)>,
    pub(super) parts: Vec<BuilderPart>,
    pub(super) history: Vec<Message>,
}

impl AgentBuilder {
    pub(crate) fn new(tree: TreeParts, system_prompt: String) -> Self {
        Self {
            tree,
            handles: Handles::default(),
            system_prompt,
            context_window: None,
            llama_probe_url: None,
            id: AgentId::main(),
            max_turns: None,
            empty_reply: EmptyReply::AskAgain,
            listeners: ListenerList::default(),
            model_checked: false,
            output_schema: None,
            instructions: Vec::new(),
            parts: Vec::new(),
            history: Vec::new(),
        }
    }

    /// Sets the step budget; without one the loop has none.
    pub fn step_limit(mut self, step_limit: StepLimit) -> Self {
        self.handles.step_limit = Some(step_limit);
        self
    }

    /// Sets the cancel flag, which this agent's turns clear at their start.
    pub fn cancellable(mut self, cancellable: Cancellable) -> Self {
        self.handles.cancellable = Some(cancellable);
        self.handles.resets_cancel = true;
        self
    }

    /// Sets a cancel flag that another agent owns: this one never clears it (D9).
    pub fn shared_cancellable(mut self, cancellable: Cancellable) -> Self {
        self.handles.cancellable = Some(cancellable);
        self.handles.resets_cancel = false;
        self
    }

    /// Sets the queue of messages that arrive while a turn runs.
    pub fn interloper(mut self, interloper: Arc<Interloper>) -> Self {
        self.handles.interloper = Some(interloper);
        self
    }

    /// Sets the gate with which a host pauses the agent at its boundaries and before each call.
    pub fn gate(mut self, gate: Arc<PauseGate>) -> Self {
        self.handles.gate = Some(gate);
        self
    }

    /// Sets the choice that switches the model between two requests.
    pub fn model_choice(mut self, choice: Arc<ModelChoice>) -> Self {
        self.handles.model_choice = Some(choice);
        self
    }

    /// Sets what decides about the actions of its tools; without it, an action that needs an answer is refused.
    pub fn approvals(mut self, approvals: Arc<Approvals>) -> Self {
        self.tree.approvals = approvals;
        self
    }

    /// Sets the budget that its replies are charged to, shared by its whole tree; without one nothing is limited.
    pub fn budget(mut self, budget: Arc<Budget>) -> Self {
        self.tree.budget = budget;
        self
    }

    /// Sets the list of rules of the user that hold, shared by its whole tree; a host changes them there.
    pub fn rules(mut self, rules: Arc<Rules>) -> Self {
        self.tree.rules = rules;
        self
    }

    /// Sets the plans of the agents of its tree, which the user changes through them.
    pub fn plans(mut self, plans: Arc<Plans>) -> Self {
        self.tree.plans = plans;
        self
    }

    /// Sets where the agents of its tree say what fills their context windows.
    pub fn context_book(mut self, context: Arc<ContextBook>) -> Self {
        self.tree.context = context;
        self
    }

    /// Names the instruction files in the system prompt, each with its text, for what is said of the context window.
    pub fn instructions<'a>(mut self, files: impl IntoIterator<Item = (String, &'a str)>) -> Self {
        self.instructions = files.into_iter().map(|(name, text)| (name, guess_text(text))).collect();
        self
    }

    /// Sets what decides at the points of the loop, shared by its whole tree.
    pub fn hooks(mut self, hooks: Option<Arc<dyn LoopHooks>>) -> Self {
        self.tree.hooks = hooks;
        self
    }

    /// Sets the commands in the background, shared by its whole tree; a host ends them with the session.
    pub fn jobs(mut self, jobs: Arc<impl BackgroundJobs>) -> Self {
        self.tree.jobs = jobs;
        self
    }

    /// Sets how texts of the user reach the model during a turn: the words alone by default, or each in a short frame that
    /// says what it is. With frames, agents with a queue get the explanation of frames behind their system prompt.
    pub fn framing(mut self, framing: Framing) -> Self {
        self.tree.framing = framing;
        self
    }

    /// Sets how full the context window is when older rounds are summarised, per cent; 0 turns it off. Without a known
    /// window only a request of the user starts a summary.
    pub fn compact_at(mut self, percent: u8) -> Self {
        self.tree.compact_at = percent;
        self
    }

    /// Sets the handle through which a host asks for a compaction.
    pub fn compaction_request(mut self, compaction_request: Arc<CompactionRequest>) -> Self {
        self.handles.compaction_request = compaction_request;
        self
    }

    /// Sets the context window in tokens; wins over every other source.
    pub fn context_window(mut self, tokens: u64) -> Self {
        self.context_window = Some(tokens);
        self
    }

    /// Sets the llama.cpp `/props` address that is asked when no other source knows the context window; only a connector that
    /// speaks HTTP asks.
    pub fn llama_probe_url(mut self, url: impl Into<String>) -> Self {
        self.llama_probe_url = Some(url.into());
        self
    }

    /// Sets the id; empty means the main agent.
    pub fn id(mut self, id: impl Into<AgentId>) -> Self {
        self.id = id.into();
        self
    }

    /// Sets whether replies come in pieces.
    pub fn streaming(mut self, streaming: Streaming) -> Self {
        self.tree.streaming = streaming;
        self
    }

    /// Limits the model rounds of a turn; without it there is no limit. A round whose request the user cut does not
    /// count.
    pub fn max_turns(mut self, max_turns: u32) -> Self {
        self.max_turns = Some(max_turns);
        self
    }

    /// Sets what the answer of each turn must match; one that does not is asked for once more.
    pub fn output_schema(mut self, schema: Option<Arc<OutputSchema>>) -> Self {
        self.output_schema = schema;
        self
    }

    /// Sets the list that events go through: the one that a parent derived for a child, with its seq counter.
    pub fn listeners(mut self, listeners: ListenerList) -> Self {
        self.listeners = listeners;
        self
    }

    pub(crate) fn empty_reply(mut self, empty_reply: EmptyReply) -> Self {
        self.empty_reply = empty_reply;
        self
    }

    /// Skips the check whether the model exists: a parent or the host has made it already.
    pub(crate) fn model_checked(mut self) -> Self {
        self.model_checked = true;
        self
    }

    /// Builds the agent; `block` adds tools, listeners and extensions.
    ///
    /// # Errors
    /// The block's or an extension's own error, or what is wrong with the inputs; nothing is left behind.
    pub async fn build(
        mut self,
        block: impl FnOnce(&mut Configurator) -> Result<(), BuildError>,
    ) -> Result<Agent, BuildError> {
        if self.tree.transport.model.is_none() {
            self.tree.transport.model = self.tree.connector.default_model();
        }
        // An error, a panic and a dropped future all clean up through it.
        let parts = mem::take(&mut self.parts);
        let mut configurator = Configurator::new(self, Closer::registered());
        parts.into_iter().try_for_each(|part| part.add_to(&mut configurator))?;
        block(&mut configurator)?;
        let Configurator { mut inputs, closer, toolbox, sub_agent_tools, listeners, extensions, snippets } =
            configurator;
        if !inputs.tree.has_jobs() {
            let mut tools = toolbox.tools().iter().chain(&sub_agent_tools);
            inputs.tree.jobs = tools.find_map(|tool| tool.background_jobs()).unwrap_or_else(|| Arc::new(NoJobs));
        }

        let mut system_prompt = inputs.system_prompt;
        for snippet in snippets {
            system_prompt.push_str("\n\n");
            system_prompt.push_str(&snippet);
        }
        if inputs.tree.framing == Framing::Framed && inputs.handles.interloper.is_some() {
            system_prompt.push_str("\n\n");
            system_prompt.push_str(assets::FRAMES.trim_end());
        }
        let listeners = inputs.listeners.with_id(inputs.id.clone()).with(&listeners);
        let listeners = match &inputs.handles.interloper {
            Some(queue) => {
                let (id, queue, budget) = (inputs.id.clone(), Arc::clone(queue), Arc::clone(&inputs.tree.budget));
                listeners.with(&[Arc::new(ConditionWatch::new(id, queue, budget))])
            }
            None => listeners,
        };
        let provider = inputs.tree.connector.connect(&inputs.tree.transport)?;
        if !inputs.model_checked {
            refuse_unknown(&*inputs.tree.connector, &inputs.tree.transport).await?;
        }
        let probe = inputs.llama_probe_url.map(|url| (url, inputs.tree.transport.api_key.clone()));
        let (connector, transport) = (&*inputs.tree.connector, &inputs.tree.transport);
        let context_window_cap = connector.find_context_window(transport, inputs.context_window, probe).await;

        let mut agent = Agent {
            history: History::new(&system_prompt),
            reported: 0,
            subscribers: Arc::new(Subscribers::new(inputs.id.clone())),
            id: inputs.id,
            tree: inputs.tree,
            handles: inputs.handles,
            provider,
            system_prompt,
            toolbox,
            sub_agent_tools,
            listeners,
            compact_from: 0,
            context_size: ContextSize::default(),
            instructions: inputs.instructions,
            call_ids: CallIds::default(),
            extensions,
            context_window_cap,
            max_turns: inputs.max_turns,
            empty_reply: inputs.empty_reply,
            synth_answer: None,
            output_schema: inputs.output_schema,
            turn_schema: TurnSchema::default(),
            answer_stage: AnswerStage::default(),
            finish: None,
            turns: 0,
            task_open: None,
            round: 0,
            steps: 0,
            unseen: Vec::new(),
            partial: String::new(),
            group: Mutex::default(),
            session_start: Some(SessionStart::Startup),
            stop_wish: Mutex::default(),
            turn_usage: Mutex::default(),
            last_turn: None,
            closer,
        };
        agent.on_close({
            let (jobs, id) = (Arc::clone(&agent.tree.jobs), agent.id.clone());
            move || jobs.abandon(&id)
        });
        agent.listeners.emit(Event::ContextCap { tokens: context_window_cap });
        for extension in agent.extensions.clone() {
            extension.bind(&mut agent).await?;
        }
        agent.publish_context();
        agent.resume(&inputs.history, turns_of(&inputs.history));
        Ok(agent)
    }
}

/// Refuses a model that neither the registry nor its server knows, unless it is to be used anyway.
async fn refuse_unknown(connector: &dyn Connector, transport: &ChatTransport) -> Result<(), ProviderError> {
    let (registry, model) = (connector.registry(), transport.model_name());
    // An empty registry cannot tell that a model is unknown.
    if transport.assume_model_exists || registry.is_empty() || model.is_empty() || registry.card(model).is_some() {
        return Ok(());
    }
    if connector.is_listed(transport).await {
        return Ok(());
    }
    Err(ProviderError::Configuration(format!("{model} is not known, and its server does not list it")))
}

/// The parts that the build block adds to an agent under construction.
pub struct Configurator {
    inputs: AgentBuilder,
    closer: Arc<Closer>,
    toolbox: Toolbox,
    sub_agent_tools: Vec<Arc<dyn Tool>>,
    listeners: Vec<Arc<dyn Listener>>,
    extensions: Vec<Arc<dyn Extension>>,
    snippets: Vec<String>,
}

impl Configurator {
    fn new(inputs: AgentBuilder, closer: Arc<Closer>) -> Self {
        Self {
            inputs,
            closer,
            toolbox: Toolbox::default(),
            sub_agent_tools: Vec::new(),
            listeners: Vec::new(),
            extensions: Vec::new(),
            snippets: Vec::new(),
        }
    }

    /// Adds a tool that the model can call and that sub-agents may be given.
    ///
    /// # Errors
    /// An argument error when the name is taken.
    pub fn add_tool(&mut self, tool: Arc<dyn Tool>) -> Result<(), BuildError> {
        self.refuse_taken(tool.name())?;
        self.toolbox.add(tool)
    }

    /// Adds several tools, in order.
    ///
    /// # Errors
    /// As [`Configurator::add_tool`].
    pub fn add_tools(&mut self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Result<(), BuildError> {
        tools.into_iter().try_for_each(|tool| self.add_tool(tool))
    }

    /// Adds a tool for sub-agents only. This agent's model never sees it: an agent that reads private files thus
    /// gets no network access.
    ///
    /// # Errors
    /// As [`Configurator::add_tool`].
    pub fn add_sub_agent_tool(&mut self, tool: Arc<dyn Tool>) -> Result<(), BuildError> {
        self.refuse_taken(tool.name())?;
        self.sub_agent_tools.push(tool);
        Ok(())
    }

    /// Adds a listener.
    pub fn add_listener(&mut self, listener: Arc<dyn Listener>) {
        self.listeners.push(listener);
    }

    /// Adds several listeners, in order.
    pub fn add_listeners(&mut self, listeners: impl IntoIterator<Item = Arc<dyn Listener>>) {
        self.listeners.extend(listeners);
    }

    /// Adds an extension and runs its `configure` at once.
    ///
    /// # Errors
    /// The extension's own error.
    pub fn add_extension(&mut self, extension: Arc<dyn Extension>) -> Result<(), BuildError> {
        extension.configure(self)?;
        self.extensions.push(extension);
        Ok(())
    }

    /// Appends a text to the system prompt, after a blank line.
    pub fn append_system_prompt(&mut self, snippet: impl Into<String>) {
        self.snippets.push(snippet.into());
    }

    /// Adds a clean-up handler; it is armed at once and also runs when the construction fails later.
    pub fn on_close(&mut self, handler: impl FnOnce() + Send + 'static) {
        self.closer.on_close(handler);
    }

    /// Returns the transport.
    pub fn transport(&self) -> &ChatTransport {
        &self.inputs.tree.transport
    }

    /// Returns the tokens that the model can hold, as far as that is known before a server was asked.
    pub fn known_window(&self) -> Option<u64> {
        let AgentBuilder { context_window, tree, .. } = &self.inputs;
        let known = || tree.connector.window_of(&tree.transport);
        context_window.or(tree.transport.context_window).or_else(known)
    }

    /// Returns the system prompt without what was appended.
    pub fn base_system_prompt(&self) -> &str {
        &self.inputs.system_prompt
    }

    /// Returns the agent's id.
    pub fn id(&self) -> &AgentId {
        &self.inputs.id
    }

    /// Returns whether replies come in pieces.
    pub fn streaming(&self) -> Streaming {
        self.inputs.tree.streaming
    }

    /// Returns the step budget.
    pub fn step_limit(&self) -> Option<&StepLimit> {
        self.inputs.handles.step_limit.as_ref()
    }

    /// Returns the cancel flag.
    pub fn cancellable(&self) -> Option<&Cancellable> {
        self.inputs.handles.cancellable.as_ref()
    }

    /// Returns the queue.
    pub fn interloper(&self) -> Option<&Arc<Interloper>> {
        self.inputs.handles.interloper.as_ref()
    }

    /// Returns the gate.
    pub fn gate(&self) -> Option<&Arc<PauseGate>> {
        self.inputs.handles.gate.as_ref()
    }

    /// Returns the tools added so far.
    pub fn tools(&self) -> &[Arc<dyn Tool>] {
        self.toolbox.tools()
    }

    /// Returns the tools for sub-agents added so far.
    pub fn sub_agent_tools(&self) -> &[Arc<dyn Tool>] {
        &self.sub_agent_tools
    }

    /// Returns the listeners added so far.
    pub fn listeners(&self) -> &[Arc<dyn Listener>] {
        &self.listeners
    }

    fn refuse_taken(&self, name: &str) -> Result<(), BuildError> {
        let taken = self.toolbox.tools().iter().chain(&self.sub_agent_tools).any(|tool| tool.name() == name);
        if taken {
            return Err(BuildError::argument(format!("a tool named '{name}' is registered already")));
        }
        Ok(())
    }
}
