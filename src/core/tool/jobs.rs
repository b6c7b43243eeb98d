//! Commands in the background, as the loop sees them: what happened to them, and what an agent asked to know.

use std::any::Any;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, pending, ready};

use steersman_base::event::{Event, JobEnd};
use steersman_base::id::AgentId;

/// What happened to a job, to be emitted in the name of its agent.
#[derive(Debug, Clone, PartialEq)]
pub struct JobNews {
    /// The agent.
    pub agent: AgentId,
    /// The agent that spawned it.
    pub parent: Option<AgentId>,
    /// What happened.
    pub event: Event,
}

/// What an agent is told of the end of its job. All texts are untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobNote {
    /// How it ended.
    pub end: Arc<JobEnd>,
    /// What its shell ran.
    pub command: String,
    /// The last lines that it printed.
    pub last: String,
}

/// The commands of a session that go on in the background, shared by its agents. `steersman_tools::Jobs` is one; the tools that
/// start commands need that one.
pub trait BackgroundJobs: Any + Send + Sync {
    /// Takes what happened, to be emitted in this order.
    fn take_news(&self) -> Vec<JobNews>;

    /// Waits until something happened.
    fn has_news(&self) -> BoxFuture<'_, ()>;

    /// Takes what an agent is to be told.
    fn take_notes(&self, agent: &AgentId) -> Vec<JobNote>;

    /// Ends the jobs of an agent, and waits for that, at most a moment; returns what was ended, each in a few words.
    fn end_of<'a>(&'a self, agent: &'a AgentId) -> BoxFuture<'a, Vec<String>>;

    /// Begins the end of the jobs of an agent that is gone.
    fn abandon(&self, agent: &AgentId);

    /// Ends all jobs, because the session ends: no other starts any more.
    fn end_all(&self) -> BoxFuture<'_, ()>;
}

/// No command goes on in the background.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoJobs;

impl BackgroundJobs for NoJobs {
    fn take_news(&self) -> Vec<JobNews> {
        Vec::new()
    }

    fn has_news(&self) -> BoxFuture<'_, ()> {
        pending().boxed()
    }

    fn take_notes(&self, _: &AgentId) -> Vec<JobNote> {
        Vec::new()
    }

    fn end_of<'a>(&'a self, _: &'a AgentId) -> BoxFuture<'a, Vec<String>> {
        ready(Vec::new()).boxed()
    }

    fn abandon(&self, _: &AgentId) {}

    fn end_all(&self) -> BoxFuture<'_, ()> {
        ready(()).boxed()
    }
}
