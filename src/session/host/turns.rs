//! The loop of every host: a turn whenever the queue holds something deliverable, until the host ends.
//!
//! There is one way in, the queue, so there is no "idle or running?" race (D2). `pending` events are emitted here, on
//! the agent's own task, between whatever the agent emits. What else a host does beside the turns is its [`SideWork`].

use std::sync::Arc;

use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use steersman_agent::Agent;
use steersman_base::error::RunError;
use steersman_base::event::Event;
use steersman_base::limits;
use steersman_core::control::Interloper;
use steersman_core::listener::ListenerList;
use steersman_core::tool::{BackgroundJobs, JobNews};

/// What a host does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerState {
    /// The agent is being built.
    Building,
    /// It could not be built; nothing will run.
    Broken(String),
    /// It waits for a message.
    Idle(LastRun),
    /// A turn runs.
    Running,
}

/// How the last run of turns ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LastRun {
    /// No turn ran yet.
    None,
    /// With an answer.
    Answered,
    /// The user stopped it.
    Cancelled,
    /// It failed; the sentence says why.
    Failed(String),
}

/// What a host does beside the turns of its agent.
pub(super) trait SideWork: Send {
    /// Waits for something to do, while a turn runs too, and does it. Dropping the future loses nothing.
    fn attend(&mut self) -> impl Future<Output = ()> + Send;

    /// Does what may only be done between turns, and says what comes before the queue.
    fn between_turns(&mut self, agent: &mut Agent) -> BetweenTurns;

    /// Tells whether turns run that are no part of the agent's own.
    fn runs(&self) -> bool;

    /// Hears that there was no request to send again.
    fn nothing_to_retry(&self);
}

/// What was done between two turns, and what comes next.
#[derive(Debug, Default)]
pub(super) struct BetweenTurns {
    /// The conversation is a new one.
    pub(super) is_reset: bool,
    /// What to do before anything of the queue.
    pub(super) first: Option<FirstWork>,
}

/// Work that comes before the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FirstWork {
    Compact,
    Retry,
    /// Sub-agents in the background have answered.
    Answers,
}

/// A host without any side work.
pub(super) struct TurnsOnly;

impl SideWork for TurnsOnly {
    async fn attend(&mut self) {
        std::future::pending::<()>().await;
    }

    fn between_turns(&mut self, _: &mut Agent) -> BetweenTurns {
        BetweenTurns::default()
    }

    fn runs(&self) -> bool {
        false
    }

    fn nothing_to_retry(&self) {}
}

/// The two ends of a host's loop: what it tells of itself, and how it is ended.
pub(super) struct TurnLoop {
    pub(super) state: watch::Sender<WorkerState>,
    pub(super) end: Arc<Notify>,
}

impl TurnLoop {
    /// Runs turns until the end, then closes the agent and returns it. A turn that runs at the end is to be stopped by whoever
    /// ends it.
    pub(super) async fn run(self, mut agent: Agent, queue: Arc<Interloper>, mut side: impl SideWork) -> Agent {
        let changed = Arc::new(Notify::new());
        let wake = Arc::clone(&changed);
        queue.watch(Arc::new(move || wake.notify_one()));
        let listeners = agent.listeners().clone();
        let jobs = JobEvents::new(&agent);
        let say_pending = || listeners.emit(Event::Pending { entries: queue.undelivered() });
        if queue.pending() {
            // Typed while the agent was being built, before anybody watched.
            say_pending();
        }
        let mut last = LastRun::None;
        // From the end of a turn on, until hooks were told or the next begins.
        let mut idle_at: Option<Instant> = None;
        let has_hooks = agent.has_hooks();
        let mut is_ending = false;
        while !is_ending {
            let BetweenTurns { is_reset, first } = side.between_turns(&mut agent);
            if is_reset {
                last = LastRun::None;
            }
            // Answers go with whatever starts a turn, or start one; not when the user or a failure has stopped the last.
            let answers =
                (!queue.deliverable() && queue.starts_turns() && agent.has_answers()).then_some(FirstWork::Answers);
            let first = first.or(answers);
            if first.is_none() && !queue.deliverable() {
                let idle = if side.runs() { WorkerState::Running } else { WorkerState::Idle(last.clone()) };
                self.state.send_replace(idle);
                tokio::select! {
                    () = self.end.notified() => break,
                    () = wait_until(idle_at), if !side.runs() => {
                        idle_at = None;
                        // What they do delays no text.
                        agent.idle_hooks().map(tokio::spawn);
                    }
                    () = changed.notified() => say_pending(),
                    () = queue.keep_time() => {}
                    () = jobs.next() => {}
                    () = side.attend() => {}
                }
                continue;
            }
            self.state.send_replace(WorkerState::Running);
            let work = async {
                match first {
                    Some(FirstWork::Compact) => agent.compact().await.map(|()| true),
                    Some(FirstWork::Retry) => agent.retry().await,
                    Some(FirstWork::Answers) => agent.run_answers().await.map(|_| true),
                    None => agent.run_queue().await.map(|_| true),
                }
            };
            let mut work = std::pin::pin!(work);
            let result = loop {
                tokio::select! {
                    biased;
                    () = self.end.notified(), if !is_ending => is_ending = true,
                    () = changed.notified() => say_pending(),
                    () = queue.keep_time() => {}
                    () = jobs.next() => {}
                    () = side.attend() => {}
                    result = &mut work => break result,
                }
            };
            if first == Some(FirstWork::Compact) {
                continue;
            }
            idle_at = has_hooks.then(|| Instant::now() + limits::HOOK_IDLE_TIME);
            last = match result {
                Ok(is_done) => {
                    if !is_done {
                        side.nothing_to_retry();
                    }
                    LastRun::Answered
                }
                Err(RunError::Cancelled(_)) => LastRun::Cancelled,
                Err(error) => LastRun::Failed(error.to_string()),
            };
        }
        // What it runs ends, and says so.
        drop(side);
        jobs.end().await;
        // Who ends the session waits for a moment only.
        let _ = tokio::time::timeout(limits::HOOK_END_TIME, agent.run_end_hooks()).await;
        agent.close();
        agent
    }
}

/// Waits until a time; forever without one.
async fn wait_until(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}

/// Waits until no turn runs and nothing waits for one; returns how the last turns ended.
///
/// # Errors
/// The sentence of a construction that failed, or of a host that has ended.
pub(super) async fn settled(
    state: &mut watch::Receiver<WorkerState>,
    waits: impl Fn() -> bool,
) -> Result<LastRun, String> {
    loop {
        state.borrow_and_update();
        // In this order: once the queue was taken, the state says `Running` already.
        let is_waiting = waits();
        let now = state.borrow().clone();
        match now {
            WorkerState::Broken(reason) => return Err(reason),
            WorkerState::Idle(last) if !is_waiting => return Ok(last),
            WorkerState::Building | WorkerState::Idle(_) | WorkerState::Running => {}
        }
        if state.changed().await.is_err() {
            return Err("the worker ended".to_owned());
        }
    }
}

/// Tells what happens to commands in the background, between whatever the agent emits.
struct JobEvents {
    jobs: Arc<dyn BackgroundJobs>,
    listeners: ListenerList,
}

impl JobEvents {
    fn new(agent: &Agent) -> Self {
        Self { jobs: Arc::clone(agent.jobs()), listeners: agent.listeners().clone() }
    }

    async fn next(&self) {
        self.jobs.has_news().await;
        self.emit_job_events();
    }

    /// Ends every command that still runs.
    async fn end(&self) {
        self.jobs.end_all().await;
        self.emit_job_events();
    }

    fn emit_job_events(&self) {
        for JobNews { agent, parent, event } in self.jobs.take_news() {
            self.listeners.emit_as(agent, parent, event);
        }
    }
}
