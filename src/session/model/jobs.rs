//! The commands in the background, as a client knows them: whose they are, how they stand, and their newest output.
//!
//! Folded from events, so that a resumed session, a replay and a screen that joined later know them too. Bounded: of each
//! job the newest output is kept, and of those that have ended the newest ones.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use steersman_base::event::{Envelope, Event, JobEnd, JobOwner, JobStart};
use steersman_base::id::{AgentId, JobId};
use steersman_base::limits::{BACKGROUND_ENDED, PROGRESS_BYTES};
use steersman_base::text::{CommandOutput, CommandOutputReader};

/// A command in the background.
#[derive(Debug, Clone)]
pub struct JobState {
    /// Its id.
    pub id: JobId,
    /// The agent that it belongs to.
    pub agent: AgentId,
    /// Who started it.
    pub owner: JobOwner,
    /// What its shell runs (untrusted).
    pub command: String,
    /// When it began.
    pub started: Timestamp,
    /// How it ended; `None` while it runs.
    pub end: Option<JobEnd>,
    output: Box<CommandOutputReader>,
    /// The output that its end told, where none came before.
    ended_with: Option<CommandOutput>,
}

impl JobState {
    /// Returns its newest output; safe to show.
    pub fn output(&self) -> &CommandOutput {
        self.ended_with.as_ref().unwrap_or_else(|| self.output.shown())
    }

    /// Returns how long it has run, or ran, milliseconds.
    pub fn elapsed_ms(&self, now: Timestamp) -> u64 {
        let running = || u64::try_from(now.duration_since(self.started).as_millis()).unwrap_or(0);
        self.end.as_ref().map_or_else(running, |end| end.elapsed_ms)
    }

    /// Returns the last line that says something; safe to show.
    pub fn last_line(&self) -> &str {
        self.output().text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default()
    }

    /// Says in a few words how it stands; safe to show.
    pub fn describe(&self) -> String {
        self.end.as_ref().map_or_else(|| "running".to_owned(), JobEnd::describe)
    }
}

/// The commands of a session in the background, in the order in which they began.
#[derive(Debug, Clone, Default)]
pub struct JobList {
    jobs: Vec<Arc<JobState>>,
}

impl JobList {
    /// Applies one event.
    pub fn apply(&mut self, envelope: &Envelope) {
        match &envelope.event {
            Event::JobStarted(start) => self.start(envelope, start),
            Event::JobOutput { id, text } => {
                if let Some(job) = self.change(id) {
                    job.output.push(text);
                    if job.output.shown().text.len() > PROGRESS_BYTES {
                        job.output.keep_newest(PROGRESS_BYTES / 2);
                    }
                }
            }
            Event::JobEnded(end) => {
                if let Some(job) = self.change(&end.id) {
                    let has_none = job.output.shown().text.is_empty();
                    job.ended_with = has_none.then(|| CommandOutput::parse(&end.output));
                    job.end = Some(JobEnd { output: String::new(), ..end.as_ref().clone() });
                }
            }
            _ => {}
        }
    }

    fn start(&mut self, Envelope { agent, at, .. }: &Envelope, start: &JobStart) {
        let JobStart { id, command, owner, call: _, elapsed_ms } = start.clone();
        let ran = Duration::from_millis(elapsed_ms.unwrap_or(0));
        let started = at.checked_sub(ran).unwrap_or(*at);
        let (output, end, ended_with) = (Box::default(), None, None);
        let job = JobState { id, agent: agent.clone(), owner, command, started, end, output, ended_with };
        self.jobs.push(Arc::new(job));
        let ended = || self.jobs.iter().filter(|job| job.end.is_some()).count();
        if ended() > BACKGROUND_ENDED
            && let Some(oldest) = self.jobs.iter().position(|job| job.end.is_some())
        {
            self.jobs.remove(oldest);
        }
    }

    fn change(&mut self, id: &JobId) -> Option<&mut JobState> {
        let job = self.jobs.iter_mut().rev().find(|job| job.id == *id)?;
        Some(Arc::make_mut(job))
    }

    /// Returns all of them, in the order in which they began.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = &JobState> {
        self.jobs.iter().map(AsRef::as_ref)
    }

    /// Returns a job.
    pub fn get(&self, id: &JobId) -> Option<&JobState> {
        self.all().find(|job| job.id == *id)
    }

    /// Returns how many run.
    pub fn running(&self) -> usize {
        self.all().filter(|job| job.end.is_none()).count()
    }

    /// Returns the shell line of the user that was started last and runs.
    pub fn shell_line(&self) -> Option<&JobState> {
        self.all().rev().find(|job| job.owner == JobOwner::User && job.end.is_none())
    }
}

/// How the note about a shell line of the user begins, for the agent.
pub(crate) const SHELL_NOTE: &str = "I ran this in my own shell:\n";
/// What stands behind the line in it.
pub(crate) const SHELL_NOTE_ENDED: &str = "\nIt ended with: ";

/// Returns the shell line that a note is about; `None` for any other text. Its output is shown where the line ran.
pub fn shell_line_of_note(text: &str) -> Option<&str> {
    text.strip_prefix(SHELL_NOTE)?.split_once(SHELL_NOTE_ENDED).map(|(line, _)| line)
}
