//! What a screen (or `exec`) holds of a running tree: the controls of every agent in it, and the mailbox.
//!
//! Every method is a short lock; none waits for an agent. What names an agent that does not run (any more) does nothing
//! and says so.

use std::sync::{Arc, OnceLock};

use crate::host::command::Commands;
use crate::host::fill::Fill;
use crate::host::open_questions::NewQuestions;
use crate::host::shell::Shell;
use crate::host::{Command, Mailbox, Notice, Update};
use steersman_agent::subagent::{Continuation, Continuations};
use steersman_base::details::FileDiff;
use steersman_base::error::Refused;
use steersman_base::event::{Delivery, Pending, TakenBack, UserText};
use steersman_base::id::{AgentId, CallId, ClientId, MessageId};
use steersman_base::plan::{PlanEdit, PlanRefused};
use steersman_base::protocol::{BudgetLimits, BudgetStatus, Decision, DraftText, UndoScope, UndoneFile};
use steersman_base::steering::RuleChange;
use steersman_core::approval::Approvals;
use steersman_core::control::{
    AgentControls, Budget, Cancellable, ContextBook, Controls, Interloper, Plans, Rules, Staleness, Watcher, check_text,
};
use steersman_extensions::mcp::Servers;
use steersman_tools::Jobs;
use steersman_tools::workspace::Changes;

/// Steers a running agent. Cheap to clone.
#[derive(Clone)]
pub struct Handle {
    main: Controls,
    agent_controls: Arc<AgentControls>,
    approvals: Arc<Approvals>,
    mailbox: Arc<Mailbox>,
    commands: Arc<Commands>,
    changes: Arc<Changes>,
    budget: Arc<Budget>,
    rules: Arc<Rules>,
    plans: Arc<Plans>,
    context: Arc<ContextBook>,
    continuations: Arc<Continuations>,
    new_questions: Arc<NewQuestions>,
    keeper: Arc<OnceLock<Arc<dyn Keeper>>>,
    servers: Arc<OnceLock<Arc<Servers>>>,
    jobs: Arc<Jobs>,
    shell: Arc<OnceLock<Shell>>,
    fill: Arc<OnceLock<Fill>>,
}

/// Keeps what the user sends before it counts as sent.
pub trait Keeper: Send + Sync {
    /// Takes a text that a queue has accepted.
    fn accepted(&self, to: &AgentId, entry: Pending);

    /// Takes which texts are the user's again.
    fn taken_back(&self, texts: Vec<MessageId>, why: TakenBack);
    /// Keeps that a text waits again that had left its queue.
    fn restored(&self, to: &AgentId, entry: Pending);

    /// Waits until everything accepted so far is safe; not for ever.
    fn keep(&self);

    /// Takes what the user is writing, everything at once.
    fn drafts(&self, drafts: Vec<DraftText>);
}

impl Handle {
    /// Ties the shared controls together.
    pub fn new(agent_controls: Arc<AgentControls>, mailbox: Arc<Mailbox>) -> Self {
        Self {
            main: agent_controls.main(),
            agent_controls,
            approvals: Arc::default(),
            mailbox,
            commands: Arc::default(),
            changes: Arc::default(),
            budget: Arc::default(),
            rules: Arc::default(),
            plans: Arc::default(),
            context: Arc::default(),
            continuations: Arc::default(),
            new_questions: Arc::default(),
            keeper: Arc::default(),
            servers: Arc::default(),
            jobs: Arc::default(),
            shell: Arc::default(),
            fill: Arc::default(),
        }
    }

    /// Sends a message to an agent that runs; it is pending until that agent takes it.
    ///
    /// # Errors
    /// [`Refused::Ended`] when it does not run any more, [`Refused::OneTurn`] for a follow-up to a sub-agent, or as
    /// [`Interloper::inject_user_message`]; the caller keeps the text.
    pub fn inject_user_message(&self, to: &AgentId, message: impl Into<UserText>) -> Result<Pending, Refused> {
        let outcome = self.inject(to, message.into());
        if outcome.is_ok() {
            self.keep();
        }
        outcome
    }

    /// Sets what keeps the texts that are sent; the first one stays.
    pub fn set_keeper(&self, keeper: Arc<dyn Keeper>) {
        let _ = self.keeper.set(keeper);
    }

    /// Keeps that these texts are the user's again.
    pub fn keep_taken_back(&self, texts: Vec<MessageId>, why: TakenBack) {
        if let Some(keeper) = self.keeper.get().filter(|_| !texts.is_empty()) {
            keeper.taken_back(texts, why);
        }
    }

    /// Keeps that a text waits again that had left its queue; to be called before it is put there.
    pub fn keep_restored(&self, to: &AgentId, entry: &Pending) {
        if let Some(keeper) = self.keeper.get() {
            keeper.restored(to, entry.clone());
        }
    }

    /// Lets texts wait again for the main agent, held until the user says that they still hold; ids go on behind `accepted`.
    pub fn take_over(&self, entries: Vec<Pending>, accepted: u64) {
        for entry in &entries {
            self.keep_restored(&AgentId::main(), entry);
        }
        self.interloper().take_over(entries, accepted);
    }

    fn keep(&self) {
        if let Some(keeper) = self.keeper.get() {
            keeper.keep();
        }
    }

    /// Keeps what the user is writing.
    pub fn keep_drafts(&self, drafts: Vec<DraftText>) {
        if let Some(keeper) = self.keeper.get() {
            keeper.drafts(drafts);
        }
    }

    fn inject(&self, to: &AgentId, message: UserText) -> Result<Pending, Refused> {
        if !self.takes(to, message.delivery) {
            return Err(Refused::OneTurn);
        }
        check_text(&message.text)?;
        // Work for a finished sub-agent that is kept continues it.
        let can_begin = message.kind.asks_for_work() && message.trigger.is_none();
        let running = self.agent_controls.get(to);
        let continued =
            if running.is_none() && can_begin { self.continuations.enroll(to, &self.agent_controls) } else { None };
        let controls = running.as_ref().or_else(|| continued.as_ref().map(Continuation::controls));
        let queue = Arc::clone(&controls.ok_or(Refused::Ended)?.interloper);
        let outcome = queue.inject_user_message(message);
        if let (Some(keeper), Ok(pending)) = (self.keeper.get(), &outcome) {
            keeper.accepted(to, pending.clone());
        }
        if let Some(continued) = continued {
            self.continuations.begin(continued);
        }
        // The main agent's queue is closed by one thing only.
        outcome.map_err(|refused| if to.is_main() && refused == Refused::Ended { Refused::NotBuilt } else { refused })
    }

    /// Changes a rule of the user, or withdraws it; the agents tell their models before their next requests. False when
    /// it does not hold (any more), or the new words are blank.
    pub fn change_rule(&self, id: &MessageId, change: RuleChange) -> bool {
        let is_changed = self.rules.change(id, change);
        if is_changed {
            self.keep();
        }
        is_changed
    }

    /// Changes the plan of an agent; its model is told before its next request.
    ///
    /// # Errors
    /// [`PlanRefused`]; the plan is as it was.
    pub fn edit_plan(&self, agent: &AgentId, edit: &PlanEdit, sender: Option<ClientId>) -> Result<(), PlanRefused> {
        if self.agent_controls.get(agent).is_none() {
            return Err(PlanRefused::Ended);
        }
        if !self.plans.has_listener() {
            return Err(PlanRefused::NotReady);
        }
        self.plans.edit(agent, edit, sender)?;
        self.keep();
        Ok(())
    }

    /// Returns the plans of the agents.
    pub fn plans(&self) -> &Arc<Plans> {
        &self.plans
    }

    /// Returns the finished sub-agents that can be continued.
    pub fn continuations(&self) -> &Arc<Continuations> {
        &self.continuations
    }

    /// Returns the questions of agents that the worker has not taken yet.
    pub fn new_questions(&self) -> &Arc<NewQuestions> {
        &self.new_questions
    }

    /// Returns the rules of the user that hold.
    pub fn rules(&self) -> &Arc<Rules> {
        &self.rules
    }

    /// Returns what is pending for whom; agents without anything are left out.
    pub fn peek(&self) -> Vec<(AgentId, Vec<Pending>)> {
        self.agent_controls.peek()
    }

    /// Tells whether an agent ever comes to such a delivery: a sub-agent ends with its first turn, so that nothing can
    /// follow it.
    pub fn takes(&self, agent: &AgentId, delivery: Delivery) -> bool {
        agent.is_main() || delivery != Delivery::FollowUp
    }

    /// Sends a message to every agent that runs; each has its own id and its own fate.
    pub fn inject_all(&self, message: impl Into<UserText>) -> Vec<(AgentId, Result<Pending, Refused>)> {
        let message = message.into();
        let to = |agent: AgentId| {
            let outcome = self.inject(&agent, message.clone());
            (agent, outcome)
        };
        let outcomes = self.agent_controls.ids().into_iter().map(to).collect();
        self.keep();
        outcomes
    }

    /// Cancels one sub-agent; whoever spawned it is told so and goes on. False when it does not run (any more), and for
    /// the main agent, which is stopped with [`Handle::stop`].
    pub fn cancel_agent(&self, agent: &AgentId) -> bool {
        let controls = if agent.is_main() { None } else { self.agent_controls.get(agent) };
        controls.map(|controls| controls.cancellable.cancel()).is_some()
    }

    /// Cancels each of these sub-agents, as a subtree is; returns how many of them ran.
    pub fn cancel_agents(&self, agents: &[AgentId]) -> usize {
        agents.iter().filter(|agent| self.cancel_agent(agent)).count()
    }

    /// Pauses an agent at its next boundary or call; false when it does not run.
    pub fn pause(&self, agent: &AgentId) -> bool {
        self.agent_controls.get(agent).map(|controls| controls.gate.pause()).is_some()
    }

    /// Lets a paused agent go on; false when it does not run.
    pub fn resume(&self, agent: &AgentId) -> bool {
        self.agent_controls.get(agent).map(|controls| controls.gate.resume()).is_some()
    }

    /// Pauses every agent, also those that come later.
    pub fn pause_all(&self) {
        self.agent_controls.pause_all();
    }

    /// Lets every agent go on.
    pub fn resume_all(&self) {
        self.agent_controls.resume_all();
    }

    /// Tells whether an agent is paused, or will be where it next comes by.
    pub fn is_paused(&self, agent: &AgentId) -> bool {
        self.agent_controls.get(agent).is_some_and(|controls| controls.gate.is_paused())
    }

    /// Decides for an agent that is paused before this call (`None`: at a boundary); false when it does not wait there
    /// any more.
    pub fn decide(&self, agent: &AgentId, call: Option<&CallId>, decision: Decision) -> bool {
        self.agent_controls.get(agent).is_some_and(|controls| controls.gate.decide(call, decision))
    }

    /// Sets for every agent, also for those that come later, from when on a waiting text is asked about.
    pub fn set_staleness(&self, staleness: Staleness) {
        // The main agent first: whoever is spawned from here on takes it over from there.
        self.main.interloper.set_staleness(staleness);
        for controls in self.agent_controls.ids().iter().filter_map(|agent| self.agent_controls.get(agent)) {
            controls.interloper.set_staleness(staleness);
        }
    }

    /// Stops the running turn and takes every pending entry back, the main agent's first and as one step with the stop,
    /// then those of its sub-agents.
    pub fn stop(&self) -> Vec<Pending> {
        self.stop_fills(|_| true);
        self.agent_controls.stop()
    }

    /// Sends every text that is held for its age, and lets no queue hold one for it any more.
    pub fn never_ask_if_true(&self) {
        self.set_staleness(Staleness::default());
        for (agent, entries) in self.peek() {
            let Some(controls) = self.agent_controls.get(&agent) else { continue };
            for entry in entries.iter().filter(|entry| entry.stale) {
                controls.interloper.confirm(&entry.id);
            }
        }
    }

    /// Asks the worker for something; it begins at once, whatever runs. Returns the texts that are the user's again: for
    /// a reset, which stops the turn, everything that was pending, as from [`Handle::stop`]; else nothing.
    pub fn request(&self, command: Command) -> Vec<Pending> {
        let returned = match command {
            // Before the worker hears of it: no text that is sent from here on enters the old conversation.
            Command::Reset => {
                let mut back = self.main.interloper.block(&self.main.cancellable);
                back.extend(self.stop());
                back
            }
            Command::SwitchModel(_)
            | Command::Compact(_)
            | Command::Retry
            | Command::CloseTask
            | Command::ListModels
            | Command::CheckImages => Vec::new(),
        };
        self.commands.push(command);
        returned
    }

    /// Returns what was asked of the worker.
    pub(super) fn commands(&self) -> &Arc<Commands> {
        &self.commands
    }

    /// Returns the controls of every agent that runs.
    pub fn agent_controls(&self) -> &Arc<AgentControls> {
        &self.agent_controls
    }

    /// Returns what counts the money and the tokens of the tree; its limits can be set at any time.
    pub fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// Returns what the session may spend and has spent.
    pub fn budget_status(&self) -> BudgetStatus {
        let standing = self.budget.standing();
        let limits = BudgetLimits { max_cost: standing.max_cost, max_tokens: standing.max_tokens };
        BudgetStatus { limits, nanos: standing.nanos, tokens: standing.tokens }
    }

    /// Returns what decides about the operations of tools: the mode and the open questions.
    pub fn approvals(&self) -> &Arc<Approvals> {
        &self.approvals
    }

    /// Returns the files that tools changed, the newest change first, and what an undo would do to each. Looks at the
    /// files, so it takes a moment.
    pub fn undo_preview(&self, scope: &UndoScope) -> Vec<UndoneFile> {
        self.changes.preview(scope)
    }

    /// Compares every file that tools changed with what it was before the first change. Reads the files, so it takes a
    /// moment.
    pub fn compare_changes(&self) -> Vec<FileDiff> {
        self.changes.compare()
    }

    /// Takes these changes back and says what was done; what somebody else changed since is left alone. Writes files, so
    /// it takes a moment.
    pub fn undo(&self, scope: &UndoScope) -> Vec<UndoneFile> {
        self.changes.undo(scope)
    }

    /// Returns the files that tools changed since a message, the newest change first, and what would become of each.
    /// Looks at the files, so it takes a moment.
    pub fn rewind_preview(&self, to: &MessageId) -> Vec<UndoneFile> {
        self.changes.since(to.as_str())
    }

    /// Takes back what tools changed since a message, and says what was done; what somebody else changed since is left
    /// alone. Writes files, so it takes a moment.
    pub fn rewind(&self, to: &MessageId) -> Vec<UndoneFile> {
        self.changes.undo_since(to.as_str())
    }

    /// Returns the MCP servers, once the agent is built and there are any.
    pub fn servers(&self) -> Option<&Arc<Servers>> {
        self.servers.get()
    }

    /// Sets the MCP servers.
    pub(super) fn set_servers(&self, servers: Arc<Servers>) {
        let _ = self.servers.set(servers);
    }

    /// Returns what fills the context windows, with the requests about single results.
    pub fn context(&self) -> &Arc<ContextBook> {
        &self.context
    }

    /// Returns the commands in the background.
    pub fn jobs(&self) -> &Arc<Jobs> {
        &self.jobs
    }

    /// Returns what runs the user's shell lines, once the agent is built.
    pub fn shell(&self) -> Option<&Shell> {
        self.shell.get()
    }

    /// Sets what runs the user's shell lines.
    pub(super) fn set_shell(&self, shell: Shell) {
        let _ = self.shell.set(shell);
    }

    /// Fills in a custom command or a skill with shell lines, which run; waits for them.
    ///
    /// # Errors
    /// One sentence: why nothing is to be sent.
    pub fn fill(&self, call: &str, sender: Option<ClientId>) -> Result<String, String> {
        self.fill.get().ok_or("the session has not started yet")?.run(call, sender)
    }

    /// Stops what these clients fill in.
    pub fn stop_fills(&self, is_meant: impl Fn(&Option<ClientId>) -> bool) {
        if let Some(fill) = self.fill.get() {
            fill.stop(is_meant);
        }
    }

    /// Sets what fills in commands.
    pub(super) fn set_fill(&self, fill: Fill) {
        let _ = self.fill.set(fill);
    }

    /// Tells the clients something.
    pub(crate) fn notice(&self, notice: Notice) {
        self.mailbox.push(Update::Notice(notice));
    }

    pub(super) fn changes(&self) -> &Arc<Changes> {
        &self.changes
    }

    /// Calls `watcher` after each change of any queue, now and later. It must not block.
    pub fn watch(&self, watcher: impl Fn() + Send + Sync + 'static) {
        let watcher: Watcher = Arc::new(watcher);
        self.agent_controls.watch(&watcher);
    }

    /// Returns the main agent's queue: `peek`, `withdraw`, `resume`, …
    pub fn interloper(&self) -> &Arc<Interloper> {
        &self.main.interloper
    }

    /// Returns the cancel flag of the tree.
    pub fn cancellable(&self) -> &Cancellable {
        &self.main.cancellable
    }

    /// Returns what the worker has to say.
    pub fn mailbox(&self) -> &Arc<Mailbox> {
        &self.mailbox
    }
}
