//! What the program tells the agent by itself, at a boundary and before a turn: the news of its commands in the background,
//! and of sub-agents that the user continued.
//!
//! Called by `run_loop`. Always holds: a note is a message of its own, in a frame that says that the program tells it and
//! not the user; it never stands between a call and its result, and no note starts a turn. Before each note about a job
//! protected files are compared while jobs run, and what differs is decided about first.

use crate::agent::Agent;
use crate::agent::frame::{agent_note, job_note};
use crate::message::{AgentReport, JobReport, UserAbout};

impl Agent {
    /// Emits what happened to jobs since, those of other agents too.
    pub(super) fn tell_jobs(&self) {
        for news in self.tree.jobs.take_news() {
            self.listeners.emit_as(news.agent, news.parent, news.event);
        }
    }

    /// Puts what the agent asked to be told of its jobs into the conversation.
    pub(super) async fn hear_of_jobs(&mut self) {
        let over = self.handles.cancellable.clone().unwrap_or_default();
        let found = self.tree.jobs.check(&self.tree.approvals, &over).await;
        for note in found {
            self.history.push_user_about(note, Vec::new(), UserAbout::Job(JobReport { job: None }));
        }
        for note in self.tree.jobs.take_notes(&self.id) {
            let job = Some(note.end.id.clone());
            self.history.push_user_about(job_note(&note), Vec::new(), UserAbout::Job(JobReport { job }));
        }
        self.tell_jobs();
        self.tell_history();
    }

    /// Ends the jobs of the agent, which has done its work.
    pub(crate) async fn end_jobs(&self) {
        self.tree.jobs.end_of(&self.id).await;
        self.tell_jobs();
    }

    /// Puts what the user had sub-agents do into the conversation.
    pub(super) fn hear_of_agents(&mut self) {
        let notes = self.tree.agent_notes.take(&self.id);
        for note in &notes {
            let report = AgentReport { agent: note.agent.clone() };
            self.history.push_user_about(agent_note(note), Vec::new(), UserAbout::Agent(report));
        }
        if !notes.is_empty() {
            self.tell_history();
        }
    }
}
