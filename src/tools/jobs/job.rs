//! One command in the background: what is known of it, and the task that takes its output until it ends.
//!
//! Made by [`super::Jobs`]. Always holds: a job that is over has an end, and everything that it started is dead.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use tokio::io::AsyncWriteExt as _;
use tokio::sync::watch;

use super::kept::{KeptOutput, LinePattern, Unread};
use super::{JobScope, Jobs};
use crate::command_run::{Aftermath, CommandRun, End, OutputSink, command_end, failure_text};
use crate::workspace::JobInput;
use steersman_base::details::TouchedFiles;
use steersman_base::event::{Event, JobEnd, JobEnding, JobOwner};
use steersman_base::id::JobId;
use steersman_base::limits;
use steersman_base::sync::lock;

/// Whether the agent is told of the end of its job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notify {
    /// At the next boundary.
    AtEnd,
    Never,
}

/// A command that is to go on in the background.
pub(crate) struct NewJob {
    /// Whose it is, and where its events go.
    pub(crate) scope: JobScope,
    pub(crate) owner: JobOwner,
    /// What its shell runs.
    pub(crate) command: String,
    pub(crate) run: CommandRun,
    pub(crate) input: Option<JobInput>,
    /// What is to be looked at when it has ended.
    pub(crate) aftermath: Option<Aftermath>,
    /// Whether its agent is told of its end.
    pub(crate) notify: Notify,
    pub(crate) began: Instant,
}

/// A job, running or ended.
#[derive(Debug)]
pub(crate) struct BackgroundJob {
    pub(super) id: JobId,
    pub(super) scope: JobScope,
    pub(super) owner: JobOwner,
    pub(super) command: String,
    pub(super) notify: Notify,
    began: Instant,
    state: Mutex<JobState>,
    /// Counts what happened to it.
    changes: watch::Sender<u64>,
    /// How it is to end; the first wish counts.
    stop: watch::Sender<Option<JobEnding>>,
    input: tokio::sync::Mutex<Option<JobInput>>,
}

#[derive(Debug)]
struct JobState {
    output: KeptOutput,
    /// The file with its whole output, where there is more than the agent gets.
    file: Option<PathBuf>,
    end: Option<Arc<JobEnd>>,
}

impl BackgroundJob {
    pub(super) fn new(id: JobId, new: &mut NewJob) -> Self {
        let (bytes, before) = new.run.kept();
        let state =
            JobState { output: KeptOutput::new(bytes, before), file: new.run.file().map(Path::to_owned), end: None };
        Self {
            id,
            scope: new.scope.clone(),
            owner: new.owner,
            command: new.command.clone(),
            notify: new.notify,
            began: new.began,
            state: Mutex::new(state),
            changes: watch::Sender::new(0),
            stop: watch::Sender::new(None),
            input: tokio::sync::Mutex::new(new.input.take()),
        }
    }

    fn state(&self) -> MutexGuard<'_, JobState> {
        lock(&self.state)
    }

    /// Returns how it ended, once it has.
    pub(crate) fn end(&self) -> Option<Arc<JobEnd>> {
        self.state().end.clone()
    }

    /// Returns how long it has run, or ran, milliseconds.
    pub(crate) fn elapsed_ms(&self) -> u64 {
        let running = || u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.end().map_or_else(running, |end| end.elapsed_ms)
    }

    /// Returns the file with its whole output, where there is one.
    pub(crate) fn file(&self) -> Option<PathBuf> {
        self.state().file.clone()
    }

    pub(super) fn last_lines(&self) -> String {
        self.state().output.last_lines()
    }

    /// Ends it, with everything that it started; the end itself comes a moment later.
    pub(crate) fn stop(&self, ending: JobEnding) {
        self.stop.send_if_modified(|wish| {
            let is_first = wish.is_none();
            wish.get_or_insert(ending);
            is_first
        });
    }

    pub(crate) async fn ended(&self) -> Arc<JobEnd> {
        let mut changes = self.changes.subscribe();
        loop {
            if let Some(end) = self.end() {
                return end;
            }
            // The sender lives as long as this does.
            let _ = changes.changed().await;
        }
    }

    /// Waits until a line comes that fits, among what was not read yet, or the job ends; returns whether one came.
    pub(crate) async fn line(&self, pattern: LinePattern) -> bool {
        let mut changes = self.changes.subscribe();
        let wait = LineWaitGuard { job: self, number: self.state().output.wait_for(pattern) };
        loop {
            let (is_met, has_ended) = {
                let state = self.state();
                (state.output.is_met(wait.number), state.end.is_some())
            };
            if is_met || has_ended {
                return is_met;
            }
            let _ = changes.changed().await;
        }
    }

    /// Returns what it printed since that was asked last.
    pub(crate) fn read_new(&self) -> Unread {
        let mut state = self.state();
        let unread = state.output.unread(state.end.is_some());
        state.output.set_read(unread.up_to);
        unread
    }

    /// Writes to it.
    ///
    /// # Errors
    /// One sentence.
    pub(crate) async fn write(&self, text: &str) -> Result<(), String> {
        let mut input = self.input.lock().await;
        let Some(pipe) = input.as_mut() else {
            return Err("it takes no input: it was started without, or its input was closed".to_owned());
        };
        match tokio::time::timeout(limits::BACKGROUND_INPUT_TIME, pipe.write_all(text.as_bytes())).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(format!("it takes no input any more: {error}")),
            Err(_) => {
                let time = limits::BACKGROUND_INPUT_TIME.as_secs();
                Err(format!("it did not take all of it within {time} s; a part of it may be written"))
            }
        }
    }

    /// Closes its input: it reads the end of that.
    pub(crate) async fn close_input(&self) {
        *self.input.lock().await = None;
    }

    fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }
}

/// Ends a wait for a line when nobody waits any more.
struct LineWaitGuard<'a> {
    job: &'a BackgroundJob,
    number: u64,
}

impl Drop for LineWaitGuard<'_> {
    fn drop(&mut self) {
        self.job.state().output.end_wait(self.number);
    }
}

/// Takes the output of a job.
struct JobSink<'a> {
    job: &'a BackgroundJob,
    jobs: &'a Jobs,
}

impl OutputSink for JobSink<'_> {
    fn took(&mut self, piece: &[u8]) {
        if self.job.state().output.push(piece) {
            self.job.changed();
        }
    }

    fn saves(&mut self, file: &Path) {
        self.job.state().file = Some(file.to_owned());
    }

    fn shows(&mut self, text: String) {
        self.jobs.emit(&self.job.scope, Event::JobOutput { id: self.job.id.clone(), text });
    }
}

/// Takes the output of a job until it has ended, and says how it did.
pub(super) async fn accompany(job: Arc<BackgroundJob>, jobs: Arc<Jobs>, new: NewJob) {
    let NewJob { mut run, aftermath, .. } = new;
    let mut sink = JobSink { job: &job, jobs: &jobs };
    let stop = async {
        let mut wish = job.stop.subscribe();
        tokio::select! {
            _ = wish.wait_for(Option::is_some) => End::Cancelled,
            () = tokio::time::sleep(limits::BACKGROUND_MOST_TIME) => End::TimedOut,
        }
    };
    // Nothing lets it go on elsewhere, so that it comes back with its end.
    let followed = async {
        let mut stop = std::pin::pin!(stop);
        loop {
            let ended = run.follow(&mut stop, std::future::pending(), &mut sink).await;
            if let Some(ended) = ended {
                return ended;
            }
        }
    };
    let (end, ended) = followed.await;
    let captured = run.finish(&mut sink).await;
    job.close_input().await;
    let (notes, touched) = match aftermath {
        Some(aftermath) => aftermath.conclude(&ended, &captured.text, jobs.closing()).await,
        None => (Vec::new(), TouchedFiles::default()),
    };
    let (ending, message) = match (end, &ended.failure) {
        (End::Cancelled, _) => (job.stop.borrow().unwrap_or(JobEnding::Stopped), None),
        (End::TimedOut, _) => (
            JobEnding::TimedOut,
            Some(format!("it ran longer than {} h", limits::BACKGROUND_MOST_TIME.as_secs() / 3_600)),
        ),
        (End::Itself, Some(failure)) => (JobEnding::Failed, Some(failure_text(failure))),
        (End::Itself, None) => (JobEnding::Itself, None),
    };
    let elapsed_ms = u64::try_from(job.began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let end = command_end(end, &ended, &captured, touched);
    let end = Arc::new(JobEnd { id: job.id.clone(), ending, message, end, output: captured.text, elapsed_ms, notes });
    {
        let mut state = job.state();
        state.file = end.end.saved.clone().map(PathBuf::from);
        state.end = Some(Arc::clone(&end));
    }
    jobs.job_ended(&job, &end);
    job.changed();
}
