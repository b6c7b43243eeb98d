//! A shell line of the user as a job: it has no sandbox and no call, and no agent can read it or write to it.

use std::sync::Arc;
use std::time::Instant;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::{JobScope, Jobs, NewJob, Notify};
use crate::command_run::CommandRun;
use crate::workspace::Running;
use steersman_base::event::{JobEnd, JobOwner};
use steersman_base::id::{AgentId, JobId};
use steersman_core::tool::Outputs;

/// A shell line of the user that has just been started.
pub struct UserLine {
    /// The agent in whose transcript it is shown.
    pub agent: AgentId,
    /// What the shell runs.
    pub line: String,
    /// It runs.
    pub running: Running,
    /// Where long output goes whole.
    pub outputs: Option<Arc<Outputs>>,
}

impl Jobs {
    /// Takes a shell line of the user; returns its id, and its end once that comes.
    ///
    /// # Panics
    /// Outside of a runtime.
    pub fn start_line(self: &Arc<Self>, line: UserLine) -> (JobId, BoxFuture<'static, Arc<JobEnd>>) {
        let UserLine { agent, line, running, outputs } = line;
        let scope = JobScope { agent, parent: None, call: None };
        let id = self.start(NewJob {
            scope,
            owner: JobOwner::User,
            command: line,
            run: CommandRun::new(running, outputs),
            input: None,
            aftermath: None,
            notify: Notify::Never,
            began: Instant::now(),
        });
        let (jobs, wanted) = (Arc::clone(self), id.clone());
        let end = async move {
            let job = jobs.inner().jobs.iter().find(|job| job.id == wanted).cloned();
            match job {
                Some(job) => job.ended().await,
                None => Arc::new(JobEnd::interrupted(wanted, "it is not known any more")),
            }
        };
        (id, end.boxed())
    }
}
