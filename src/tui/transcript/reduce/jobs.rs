//! Commands in the background in a transcript: a shell line of the user is a cell of its own, with its output while it runs;
//! of a command that the agent started there is a line when it ends.
//!
//! Used by the reducer of the transcript alone. A shell line belongs to no turn, so no turn's end closes it.

use jiff::Timestamp;

use super::Transcript;
use crate::transcript::cell::{Body, CallCell, CallState, Level};
use crate::transcript::result::Shown;
use steersman_base::details::Details;
use steersman_base::event::{JobEnd, JobEnding, JobOwner, JobStart};
use steersman_base::id::{CallId, JobId};
use steersman_base::message::Arguments;
use steersman_base::text::{self, CommandOutput};

/// The name of the cell of a shell line.
const SHELL: &str = "!";

impl Transcript {
    pub(super) fn job_started(&mut self, start: &JobStart, at: Timestamp) -> bool {
        match start.owner {
            // The call that started it says so.
            JobOwner::Agent => false,
            JobOwner::User => {
                let none = Arguments::Object(serde_json::Map::new());
                let id = CallId::new(format!("! {}", start.id));
                let shown = text::visible_line(&start.command).into_owned();
                let call = CallCell::new(id, SHELL.to_owned(), none, shown, at);
                let call = CallCell { owner: JobOwner::User, ..call };
                let cell = self.push(Body::Call(Box::new(call)));
                self.shell_lines.insert(start.id.clone(), cell);
                true
            }
        }
    }

    pub(super) fn job_output(&mut self, id: &JobId, piece: &str) -> bool {
        self.shell_lines.get(id).copied().is_some_and(|cell| self.print(cell, piece))
    }

    pub(super) fn job_ended(&mut self, end: &JobEnd) -> bool {
        let Some(cell) = self.shell_lines.remove(&end.id) else {
            let level = if end.is_success() { Level::Info } else { Level::Warning };
            self.say(level, &end.sentence());
            for note in &end.notes {
                self.say(Level::Warning, &text::visible_line(note));
            }
            return true;
        };
        if let Some(call) = self.change_call(cell) {
            let is_error = match end.ending {
                JobEnding::Itself => end.end.code != Some(0),
                JobEnding::Stopped | JobEnding::TimedOut | JobEnding::Failed | JobEnding::Interrupted => true,
            };
            call.shown = Shown::from_details(&Details::Command(end.end.clone()))
                .map(|shown| shown.with_summary(&end.describe()));
            let mut content = CommandOutput::parse(&end.output);
            if let CallState::Running { progress, .. } = &mut call.state {
                content = content.coloured_by(&std::mem::take(progress).finish());
            }
            call.state = CallState::Ended { content, is_error, elapsed_ms: end.elapsed_ms };
        }
        true
    }
}
