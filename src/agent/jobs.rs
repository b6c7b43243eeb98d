//! The agent and its commands in the background: at a boundary and before a turn it gets what it asked to know.
//!
//! Called by `run_loop`. Always holds: a note is a message of its own, in a frame that says that the program tells it and
//! not the user; it never stands between a call and its result, and no note starts a turn.

use crate::Agent;
use steersman_base::message::{JobReport, UserAbout};
use steersman_core::wrapper::job_note;

impl Agent {
    /// Emits what happened to jobs since, those of other agents too.
    pub(super) fn emit_job_events(&self) {
        for news in self.tree.jobs.take_news() {
            self.listeners.emit_as(news.agent, news.parent, news.event);
        }
    }

    /// Puts what the agent asked to know of its jobs into the conversation.
    pub(super) fn deliver_job_notes(&mut self) {
        for note in self.tree.jobs.take_notes(&self.id) {
            let job = Some(note.end.id.clone());
            self.history.push_user_about(job_note(&note), Vec::new(), UserAbout::Job(JobReport { job }));
        }
        self.emit_job_events();
        self.notify_history();
    }

    /// Ends the jobs of the agent, which has done its work.
    pub(crate) async fn end_jobs(&self) -> Vec<String> {
        let ended = self.tree.jobs.end_of(&self.id).await;
        self.emit_job_events();
        ended
    }
}
