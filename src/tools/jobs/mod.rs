//! The commands that go on in the background: those that agents start with `bash`, and the user's own shell lines.
//!
//! [`Jobs`] is one list for a session, shared by its agents and its host. What happens to a job waits in an outbox until
//! the host's worker, or the agent at its boundary, emits it, so that all events keep one order. Nothing that a job prints
//! steers by itself: an agent reads it with `job_output`, and hears of an end at a boundary where it asked for that.
//!
//! A job runs under the guard and in the sandbox of every command, which keeps protected names closed however it ends. A
//! job of a sub-agent ends with it, and every job with the session.
//!
//! # Where things are
//!
//! - the list, the outbox, the notes for agents: `mod.rs`; one job: `job.rs`; its newest output: `kept.rs`; a shell
//!   line of the user: `line.rs`, `src/session/host/shell.rs`; the tools: `tools.rs`; tests: `jobs/mod.rs`,
//!   `jobs/notifications.rs`, `jobs/termination.rs`, `jobs/concurrency.rs`, `tests/pty/jobs.rs`

mod job;
mod kept;
mod line;
mod tools;

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

use futures_util::future::BoxFuture;
use tokio::sync::Notify as Wake;

use steersman_base::event::{Event, JobEnd, JobEnding, JobOwner, JobStart};
use steersman_base::id::{AgentId, CallId, JobId};
use steersman_base::limits;
use steersman_base::sync::lock;
use steersman_base::text::{clip, visible_line};
use steersman_core::control::Cancellable;
use steersman_core::tool::{BackgroundJobs, JobNews, JobNote, ToolContext};

pub(crate) use job::{BackgroundJob, NewJob, Notify};
pub use line::UserLine;
pub use tools::job_tools;

/// The commands of a session that go on in the background.
#[derive(Default)]
pub struct Jobs {
    inner: Mutex<Inner>,
    /// Wakes who emits what happened.
    news: Wake,
    /// Set once the session ends: nobody answers any more.
    closing: Cancellable,
}

#[derive(Default)]
struct Inner {
    started: u64,
    jobs: Vec<Arc<BackgroundJob>>,
    /// The running calls that could go on in the background.
    foreground: HashMap<(AgentId, CallId), Arc<Wake>>,
    outbox: Vec<JobNews>,
    notes: Vec<(AgentId, JobNote)>,
}

/// Whose job something is: the agent, and the one that spawned it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct JobScope {
    pub(crate) agent: AgentId,
    pub(crate) parent: Option<AgentId>,
    pub(crate) call: Option<CallId>,
}

/// Returns the jobs that a call reaches.
///
/// # Errors
/// One sentence when its agent has none.
pub(crate) fn jobs_of(context: &ToolContext) -> Result<Arc<Jobs>, String> {
    let jobs: Arc<dyn Any + Send + Sync> = Arc::clone(&context.jobs) as _;
    jobs.downcast().map_err(|_| "this agent was given no place for commands in the background".to_owned())
}

impl fmt::Debug for Jobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Jobs({} running)", self.running())
    }
}

impl Jobs {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        lock(&self.inner)
    }

    /// Sets the number of the last job that was started, in an earlier process.
    pub fn number_from(&self, last: u64) {
        let mut inner = self.inner();
        inner.started = inner.started.max(last);
    }

    /// Returns how many run.
    pub fn running(&self) -> usize {
        self.inner().jobs.iter().filter(|job| job.end().is_none()).count()
    }

    /// Says whether another job may start.
    ///
    /// # Errors
    /// One sentence.
    pub fn check_room(&self) -> Result<(), String> {
        if self.closing.is_cancelled() {
            return Err("the session ends".to_owned());
        }
        if self.running() < limits::BACKGROUND_JOBS {
            return Ok(());
        }
        Err(format!("{} commands run in the background, and no more may; stop one first", limits::BACKGROUND_JOBS))
    }

    /// Lets a command go on in the background.
    ///
    /// # Panics
    /// Outside of a runtime.
    pub(crate) fn start(self: &Arc<Self>, mut new: NewJob) -> JobId {
        let job = {
            let mut inner = self.inner();
            inner.started += 1;
            let job = Arc::new(BackgroundJob::new(JobId::of_number(inner.started), &mut new));
            inner.jobs.push(Arc::clone(&job));
            let ended = inner.jobs.iter().filter(|job| job.end().is_some()).count();
            if ended > limits::BACKGROUND_ENDED
                && let Some(oldest) = inner.jobs.iter().position(|job| job.end().is_some())
            {
                inner.jobs.remove(oldest);
            }
            job
        };
        let start = JobStart {
            id: job.id.clone(),
            command: job.command.clone(),
            owner: job.owner,
            call: job.scope.call.clone(),
            elapsed_ms: Some(job.elapsed_ms()).filter(|elapsed| *elapsed >= 1_000),
        };
        self.emit(&job.scope, Event::JobStarted(start));
        let id = job.id.clone();
        tokio::spawn(job::accompany(job, Arc::clone(self), new));
        id
    }

    pub(crate) fn of_agent(&self, agent: &AgentId, id: &str) -> Result<Arc<BackgroundJob>, String> {
        let inner = self.inner();
        let own = || inner.jobs.iter().filter(|job| job.owner == JobOwner::Agent && job.scope.agent == *agent);
        if let Some(job) = own().find(|job| job.id.as_str() == id) {
            return Ok(Arc::clone(job));
        }
        let known: Vec<&str> = own().map(|job| job.id.as_str()).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Err(format!("there is no job {id}; your jobs are: {known}"))
    }

    /// Ends a job, with everything that it started; false when it does not run.
    pub fn stop(&self, id: &JobId) -> bool {
        let job = self.inner().jobs.iter().find(|job| job.id == *id && job.end().is_none()).cloned();
        job.map(|job| job.stop(JobEnding::Stopped)).is_some()
    }

    /// Ends those that run; returns them.
    async fn end_where(&self, is_one: impl Fn(&BackgroundJob) -> bool) -> Vec<Arc<BackgroundJob>> {
        let jobs = self.inner().jobs.clone();
        let running: Vec<_> = jobs.into_iter().filter(|job| job.end().is_none() && is_one(job)).collect();
        for job in &running {
            job.stop(JobEnding::Interrupted);
        }
        let ends = async {
            for job in &running {
                job.ended().await;
            }
        };
        let _ = tokio::time::timeout(limits::BACKGROUND_END_TIME, ends).await;
        running
    }

    /// Returns the flag that is set once the session ends.
    pub(crate) fn closing(&self) -> &Cancellable {
        &self.closing
    }

    /// Notes that a call runs that could go on in the background; dropping the guard ends that.
    pub(crate) fn foreground(self: &Arc<Self>, agent: &AgentId, call: &CallId) -> ForegroundCall {
        let wake = Arc::new(Wake::new());
        let key = (agent.clone(), call.clone());
        self.inner().foreground.insert(key.clone(), Arc::clone(&wake));
        ForegroundCall { jobs: Arc::clone(self), key, wake }
    }

    /// Lets a running command go on in the background: its call ends, it does not.
    ///
    /// # Errors
    /// One sentence.
    pub fn to_background(&self, agent: &AgentId, call: &CallId) -> Result<(), String> {
        self.check_room()?;
        let wake = self.inner().foreground.get(&(agent.clone(), call.clone())).cloned();
        wake.map(|wake| wake.notify_one()).ok_or_else(|| "no command of this call runs any more".to_owned())
    }

    /// Puts an event into the outbox; a piece of output behind one of the same job joins it.
    pub(crate) fn emit(&self, scope: &JobScope, event: Event) {
        {
            let mut inner = self.inner();
            if let (
                Some(JobNews { event: Event::JobOutput { id, text }, .. }),
                Event::JobOutput { id: same, text: more },
            ) = (inner.outbox.last_mut(), &event)
                && id == same
            {
                text.push_str(more);
            } else {
                inner.outbox.push(JobNews { agent: scope.agent.clone(), parent: scope.parent.clone(), event });
            }
        }
        self.news.notify_one();
    }

    /// Forgets what an agent is to be told of a job: it knows.
    pub(crate) fn forget_note(&self, id: &JobId) {
        self.inner().notes.retain(|(_, note)| note.end.id != *id);
    }

    fn job_ended(&self, job: &BackgroundJob, end: &Arc<JobEnd>) {
        let has_agent = match end.ending {
            JobEnding::Itself | JobEnding::Stopped | JobEnding::TimedOut | JobEnding::Failed => true,
            // It has ended, or the session has.
            JobEnding::Interrupted => false,
        };
        let is_notified = has_agent && job.owner == JobOwner::Agent && job.notify == Notify::AtEnd;
        if is_notified {
            let note = JobNote { end: Arc::clone(end), command: job.command.clone(), last: job.last_lines() };
            self.inner().notes.push((job.scope.agent.clone(), note));
        }
        self.emit(&job.scope, Event::JobEnded(Box::new(end.as_ref().clone())));
    }
}

impl BackgroundJobs for Jobs {
    fn take_news(&self) -> Vec<JobNews> {
        std::mem::take(&mut self.inner().outbox)
    }

    fn has_news(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            loop {
                let woken = self.news.notified();
                if !self.inner().outbox.is_empty() {
                    return;
                }
                woken.await;
            }
        })
    }

    fn take_notes(&self, agent: &AgentId) -> Vec<JobNote> {
        let mut inner = self.inner();
        let (due, rest) = std::mem::take(&mut inner.notes).into_iter().partition(|(of, _)| of == agent);
        inner.notes = rest;
        let due: Vec<(AgentId, JobNote)> = due;
        due.into_iter().map(|(_, note)| note).collect()
    }

    fn end_of<'a>(&'a self, agent: &'a AgentId) -> BoxFuture<'a, Vec<String>> {
        Box::pin(async move {
            let ended = self.end_where(|job| job.scope.agent == *agent).await;
            self.inner().notes.retain(|(of, _)| of != agent);
            let words = |job: &Arc<BackgroundJob>| {
                format!("{} ({})", job.id, clip(&visible_line(&job.command), limits::CONTEXT_NAME_COLUMNS))
            };
            ended.iter().map(words).collect()
        })
    }

    fn abandon(&self, agent: &AgentId) {
        let jobs = self.inner().jobs.clone();
        jobs.iter().filter(|job| job.scope.agent == *agent).for_each(|job| job.stop(JobEnding::Interrupted));
    }

    fn end_all(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            self.closing.cancel();
            self.end_where(|_| true).await;
        })
    }
}

/// A running call that could go on in the background.
pub(crate) struct ForegroundCall {
    jobs: Arc<Jobs>,
    key: (AgentId, CallId),
    wake: Arc<Wake>,
}

impl ForegroundCall {
    /// Waits until it is to go on there.
    pub(crate) async fn left(&self) {
        self.wake.notified().await;
    }
}

impl Drop for ForegroundCall {
    fn drop(&mut self) {
        self.jobs.inner().foreground.remove(&self.key);
    }
}
