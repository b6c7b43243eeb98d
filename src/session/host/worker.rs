//! The worker task of a session: builds the agent, then runs its turns, beside what clients ask of the worker itself.
//!
//! The loop is that of every host, `turns.rs`. Always holds: once the agent could not be built, every text goes back.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

use crate::host::background::{BackgroundTasks, Due};
use crate::host::command::Command;
use crate::host::continued::Continued;
use crate::host::guards::Guards;
use crate::host::open_questions::OpenQuestions;
use crate::host::resumed::{ResumeSource, Resumed};
use crate::host::setup::Built;
use crate::host::turns::{BetweenTurns, FirstWork, SideWork, TurnLoop, settled};
use crate::host::undo::TurnMarks;
use crate::host::{Handle, LastRun, LocalServer, Mailbox, Notice, Setup, StartError, Update, WorkerState};
use steersman_agent::{Agent, CompactionRequest, ModelChoice};
use steersman_base::event::Event;
use steersman_base::id::AgentId;
use steersman_core::approval::Approvals;
use steersman_core::control::{AgentControls, Controls};
use steersman_core::listener::{Listener, ListenerList};
use steersman_core::provider::ChatTransport;
use steersman_extensions::mcp::Servers;
use steersman_provider::Sources;

/// A running agent: the handle that steers it, and the task that runs it.
pub struct Host {
    handle: Handle,
    state: watch::Receiver<WorkerState>,
    end: Arc<Notify>,
    task: JoinHandle<()>,
}

/// Starts the worker on a runtime. Returns at once; the agent is built on the worker.
pub fn start(runtime: &tokio::runtime::Handle, setup: Setup) -> Host {
    start_with(runtime, |_| async { Ok(setup) })
}

/// Starts the worker with a setup that takes time to find out (a model to ask for, a server to start, a question to the
/// user, for which it gets the desk).
pub fn start_with<F>(runtime: &tokio::runtime::Handle, setup: impl FnOnce(Arc<Approvals>) -> F) -> Host
where
    F: Future<Output = Result<Setup, StartError>> + Send + 'static,
{
    let agent_controls = Arc::new(AgentControls::new(Controls::default()));
    let handle = Handle::new(agent_controls, Arc::new(Mailbox::new()));
    let (publish, state) = watch::channel(WorkerState::Building);
    let end = Arc::new(Notify::new());
    let setup = setup(Arc::clone(handle.approvals()));
    let (choice, compaction_request) = (Arc::default(), Arc::default());
    let worker = Worker { handle: handle.clone(), choice, compaction_request, publish, end: Arc::clone(&end) };
    let task = runtime.spawn(worker.run(setup));
    Host { handle, state, end, task }
}

impl Host {
    /// Returns what steers the agent.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Returns what the worker does now.
    pub fn state(&self) -> WorkerState {
        self.state.borrow().clone()
    }

    /// Waits until no turn runs, also none of a sub-agent that the user continued, and nothing deliverable is pending;
    /// returns how the last turns of the main agent ended.
    ///
    /// # Errors
    /// The sentence of a construction that failed.
    pub async fn settled(&mut self) -> Result<LastRun, String> {
        let (queue, agent_controls) = (self.handle.interloper(), self.handle.agent_controls());
        // A sub-agent that is to go on is in the agent tree before its turn begins.
        settled(&mut self.state, || queue.deliverable() || agent_controls.ids().len() > 1).await
    }

    /// Stops the run, closes the agent and waits for the worker's end, at most `grace`. What is still pending for the main
    /// agent stays so in the journal.
    pub async fn shutdown(self, grace: Duration) {
        self.handle.agent_controls().halt();
        self.end.notify_one();
        let mut task = self.task;
        if tokio::time::timeout(grace, &mut task).await.is_err() {
            task.abort();
        }
    }
}

/// Builds the agent and runs it; owned by the worker's task.
struct Worker {
    /// What it shares with those who steer it.
    handle: Handle,
    choice: Arc<ModelChoice>,
    compaction_request: Arc<CompactionRequest>,
    publish: watch::Sender<WorkerState>,
    end: Arc<Notify>,
}

impl Worker {
    async fn run(self, setup: impl Future<Output = Result<Setup, StartError>>) {
        let built = tokio::select! {
            () = self.end.notified() => return,
            built = self.build(setup) => built,
        };
        match built {
            Ok(Built { agent, guards, sources, servers, shell, fill, templates, known_hooks, notes }) => {
                self.follow(servers);
                // The handle is asked for both by clients.
                self.handle.set_shell(shell);
                self.handle.set_fill(fill);
                if !templates.is_empty() {
                    self.handle.notice(Notice::Templates(templates));
                }
                if !known_hooks.is_empty() {
                    self.handle.notice(Notice::Hooks(known_hooks));
                }
                for note in notes {
                    self.handle.notice(Notice::Info(note));
                }
                self.handle.notice(Notice::Ready);
                if let Some(offer) = offer(agent.transport(), &sources) {
                    self.handle.notice(Notice::LocalServer(offer));
                }
                self.take_turns(agent, guards, sources).await;
            }
            Err(error) => self.give_up(error).await,
        }
    }

    /// Tells the clients how the MCP servers stand, now and after each change.
    fn follow(&self, servers: Arc<Servers>) {
        if servers.is_empty() {
            return;
        }
        let (mailbox, weak) = (Arc::clone(self.handle.mailbox()), Arc::downgrade(&servers));
        let update = move || {
            if let Some(servers) = weak.upgrade() {
                mailbox.push(Update::Notice(Notice::Servers(servers.status())));
            }
        };
        update();
        servers.watch(Arc::new(update));
        // The handle is asked for them by clients.
        self.handle.set_servers(servers);
    }

    async fn build(&self, setup: impl Future<Output = Result<Setup, StartError>>) -> Result<Built, StartError> {
        let mut setup = setup.await?;
        self.handle.budget().configure(setup.spending.clone());
        let mut resumed = match setup.resumed.take() {
            Some(earlier) => Some(self.load_history(earlier).await?),
            None => None,
        };
        let unfinished = resumed.as_mut().map(|resumed| std::mem::take(&mut resumed.unfinished));
        let resumed = resumed.unwrap_or_default();
        let last = resumed.numbers.seq;
        for note in &setup.notes {
            self.handle.notice(Notice::Info(note.clone()));
        }
        let mailbox: Arc<dyn Listener> = self.handle.mailbox().clone();
        let mut all = setup.listeners.clone();
        all.push(mailbox);
        all.push(Arc::new(TurnMarks::new(Arc::clone(self.handle.changes()))));
        let (choice, compaction_request) = (Arc::clone(&self.choice), Arc::clone(&self.compaction_request));
        let listeners = ListenerList::new(&all).behind(last);
        let built = setup.build(&self.handle, choice, compaction_request, listeners, resumed).await;
        // What was open in the earlier process has ended by now: nobody is asked while that still seems to run.
        if let Some(unfinished) = unfinished {
            self.handle.notice(Notice::Unfinished(unfinished));
        }
        Ok(built?)
    }

    /// Tells what happened in an earlier process, no faster than it is taken; returns what the session goes on with.
    async fn load_history(&self, mut earlier: Box<dyn ResumeSource>) -> Result<Resumed, StartError> {
        let unreadable = |error: String| StartError::Failed(format!("cannot read the session: {error}"));
        loop {
            let read = tokio::task::spawn_blocking(move || {
                let events = earlier.events();
                (earlier, events)
            });
            let (rest, events) = read.await.map_err(|error| unreadable(error.to_string()))?;
            earlier = rest;
            let events = events.map_err(|error| unreadable(error.to_string()))?;
            if events.is_empty() {
                break;
            }
            for envelope in events {
                if let Event::Tokens(usage) = &envelope.event {
                    let model = usage.model.as_deref().unwrap_or_default();
                    self.handle.budget().charge(model, usage.context(), usage.cost_nanos);
                }
                self.handle.mailbox().push(Update::Envelope(envelope));
            }
            poll_fn(|context| self.handle.mailbox().poll_taken(context)).await;
        }
        let mut resumed = earlier.resumed();
        for note in std::mem::take(&mut resumed.notes) {
            self.handle.notice(Notice::Info(note));
        }
        for (turn, files) in std::mem::take(&mut resumed.undone) {
            self.handle.changes().note_undone(turn, &files);
        }
        self.handle.take_over(resumed.unfinished.pending.clone(), resumed.numbers.texts);
        Ok(resumed)
    }

    /// Gives every text back, now and later; answers what is asked, until the end.
    async fn give_up(&self, error: StartError) {
        let reason = error.to_string();
        let returned = self.handle.interloper().close();
        if !returned.is_empty() {
            self.handle.notice(Notice::Returned(returned));
        }
        self.handle.notice(Notice::BuildFailed(error));
        self.publish.send_replace(WorkerState::Broken(reason.clone()));
        loop {
            for command in self.handle.commands().take_commands() {
                match command {
                    Command::ListModels => {
                        self.handle.notice(Notice::Models(Err(reason.clone())));
                    }
                    Command::SwitchModel(name) => {
                        let outcome = Err(reason.clone());
                        self.handle.notice(Notice::ModelSwitch { name, outcome });
                    }
                    Command::Reset
                    | Command::Retry
                    | Command::CloseTask
                    | Command::Compact(_)
                    | Command::CheckImages => {}
                }
            }
            tokio::select! {
                () = self.end.notified() => return,
                () = self.handle.commands().woken() => {}
            }
        }
    }

    async fn take_turns(self, agent: Agent, guards: Guards, sources: Arc<Sources>) {
        let listeners = agent.listeners().clone();
        let undone = listeners.clone();
        self.handle.changes().on_undone(move |turn, files| {
            undone.emit(Event::ChangesUndone { turn, files: files.to_vec() });
        });
        let planned = listeners.clone();
        self.handle.plans().on_edit(move |agent, changed| {
            let parent = (!agent.is_main()).then(AgentId::main);
            planned.emit_as(agent.clone(), parent, Event::PlanChanged(changed));
        });
        self.say_rules(&listeners);
        let tasks = BackgroundTasks::new(&agent, sources, &self.choice, &self.compaction_request, &self.handle);
        let continued = Continued::new(self.handle.continuations(), self.handle.mailbox());
        let questions = OpenQuestions::new(&self.handle);
        let turns = TurnLoop { state: self.publish, end: self.end };
        let queue = Arc::clone(self.handle.interloper());
        let side = SessionWork {
            handle: self.handle,
            compaction_request: self.compaction_request,
            guards,
            tasks,
            due: Due::default(),
            continued,
            questions,
            listeners,
        };
        turns.run(agent, queue, side).await;
    }

    /// Says which rules of the user hold, if any do, and from now on after each change: before whoever changes them goes on.
    fn say_rules(&self, listeners: &ListenerList) {
        let say = {
            let (rules, listeners) = (Arc::downgrade(self.handle.rules()), listeners.clone());
            move || {
                if let Some(rules) = rules.upgrade() {
                    listeners.emit(Event::Rules { rules: rules.list() });
                }
            }
        };
        if !self.handle.rules().list().is_empty() {
            say();
        }
        self.handle.rules().watch(Arc::new(say));
    }
}

/// What a session does beside the turns: it follows the mode, runs the turns that the user gave finished sub-agents, keeps
/// the questions of agents open, and does
/// what clients ask of the worker.
struct SessionWork {
    handle: Handle,
    compaction_request: Arc<CompactionRequest>,
    guards: Guards,
    tasks: BackgroundTasks,
    due: Due,
    continued: Continued,
    questions: OpenQuestions,
    listeners: ListenerList,
}

impl SideWork for SessionWork {
    async fn attend(&mut self) {
        tokio::select! {
            () = self.guards.changed() => self.guards.say_change(&self.listeners),
            () = self.continued.advance() => {}
            () = self.questions.advance() => {}
            // A reset has stopped the turn already; it is made when that has ended.
            () = self.handle.commands().woken() => self.due.add(self.tasks.run(self.handle.commands().take_commands())),
        }
    }

    fn between_turns(&mut self, agent: &mut Agent) -> BetweenTurns {
        self.due.add(self.tasks.run(self.handle.commands().take_commands()));
        if let Err(error) = agent.adopt_model() {
            self.handle.notice(Notice::Info(error.to_string()));
        }
        let is_reset = self.due.resets > 0;
        if is_reset && self.continued.runs() {
            // That has been stopped too; what it says at its end belongs to the old conversation.
            return BetweenTurns::default();
        }
        if is_reset {
            agent.reset();
            self.continued.forget();
            self.questions.withdraw();
            for _ in 0..std::mem::take(&mut self.due).resets {
                self.handle.interloper().unblock();
            }
        }
        if std::mem::take(&mut self.due.closes_task) && !agent.close_task() {
            self.handle.notice(Notice::Info("no task is open: your next text begins one".to_owned()));
        }
        let retries = std::mem::take(&mut self.due.retry);
        // A turn makes room itself, before its first request.
        let compacts = self.compaction_request.is_requested() && !self.handle.interloper().deliverable();
        let first = match (compacts, retries) {
            (true, _) => Some(FirstWork::Compact),
            (false, true) => Some(FirstWork::Retry),
            (false, false) => None,
        };
        BetweenTurns { is_reset, first }
    }

    fn runs(&self) -> bool {
        self.continued.runs()
    }

    fn nothing_to_retry(&self) {
        let sentence = "nothing to send again: the conversation ends with an answer";
        self.handle.notice(Notice::Info(sentence.to_owned()));
    }
}

/// Returns the model server of this machine that could answer instead of the embedded model.
fn offer(current: &ChatTransport, sources: &Sources) -> Option<LocalServer> {
    if current.provider.as_deref() != Some("demo") {
        return None;
    }
    let source = sources.iter().find(|source| source.found.is_some())?;
    let model = source.transport.model.clone()?;
    let base = source.transport.api_base.as_deref()?;
    Some(LocalServer {
        what: source.found.clone()?,
        address: base.trim_start_matches("http://").trim_end_matches("/v1").to_owned(),
        name: format!("{}/{model}", source.name),
        model,
    })
}
