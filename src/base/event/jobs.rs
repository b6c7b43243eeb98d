//! Commands that go on in the background: how one began, and how it ended.
//!
//! An agent starts them with `bash`, the user with a shell line of their own. Every text in it is untrusted.

use serde::{Deserialize, Serialize};

use crate::details::CommandEnd;
use crate::id::{CallId, JobId};
use crate::summary::seconds;
use crate::text::visible_line;

/// The start of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobStart {
    /// The job.
    pub id: JobId,
    /// What its shell runs.
    pub command: String,
    /// Who started it.
    pub owner: JobOwner,
    /// The call that started it; null for a shell line of the user.
    pub call: Option<CallId>,
    /// How long its command had run before it went to the background, milliseconds; absent below a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_ms: Option<u64>,
}

/// Whose job it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum JobOwner {
    /// The agent of the envelope started it with `bash`.
    Agent,
    /// The user wrote it as a shell line; nothing confines it.
    User,
}

/// The end of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobEnd {
    /// The job.
    pub id: JobId,
    /// What brought the end about.
    pub ending: JobEnding,
    /// Why, where that needs words.
    pub message: Option<String>,
    /// How its command ended.
    pub end: CommandEnd,
    /// What it printed; of long output the beginning and the end.
    #[serde(default)]
    pub output: String,
    /// How long it ran, milliseconds.
    pub elapsed_ms: u64,
    /// What was found out at its end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What brought the end of a job about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum JobEnding {
    /// It ended by itself.
    Itself,
    /// The user or its agent stopped it.
    Stopped,
    /// It took too long.
    TimedOut,
    /// It could not be started, or it was ended because it took too much of the machine.
    Failed,
    /// Its agent, its session or its program ended first.
    Interrupted,
}

impl JobEnd {
    /// Makes the end of a job whose program has ended.
    pub fn interrupted(id: JobId, why: &str) -> Self {
        let (ending, message) = (JobEnding::Interrupted, Some(why.to_owned()));
        let (end, output, notes) = (CommandEnd::default(), String::new(), Vec::new());
        Self { id, ending, message, end, output, elapsed_ms: 0, notes }
    }

    /// Returns whether it did what it was to do.
    pub fn is_success(&self) -> bool {
        self.ending == JobEnding::Itself && self.end.code == Some(0)
    }

    /// Says when and how it ended; safe to show. One that was found ended has no known time.
    pub fn sentence(&self) -> String {
        let after = if self.elapsed_ms == 0 { String::new() } else { format!(" after {}", seconds(self.elapsed_ms)) };
        format!("{} ended{after}: {}", self.id, self.describe())
    }

    /// Says how it ended, in a few words; safe to show.
    pub fn describe(&self) -> String {
        let why = self.message.as_deref().map(|why| format!(": {}", visible_line(why))).unwrap_or_default();
        match (self.ending, self.end.code, self.end.signal.as_deref()) {
            (JobEnding::Itself, Some(code), _) => format!("exit code {code}"),
            (JobEnding::Itself, None, Some(signal)) => format!("ended by {}", visible_line(signal)),
            (JobEnding::Itself, None, None) => "ended, how is unknown".to_owned(),
            (JobEnding::Stopped, ..) => "stopped".to_owned(),
            (JobEnding::TimedOut, ..) => format!("timed out{why}"),
            (JobEnding::Failed, ..) => format!("failed{why}"),
            (JobEnding::Interrupted, ..) => {
                self.message.as_deref().map_or_else(|| "interrupted".to_owned(), |why| visible_line(why).into_owned())
            }
        }
    }
}
