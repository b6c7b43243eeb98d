//! A client of a session that another program writes: it shows what was recorded until now, and nothing can be sent.
//!
//! Called by the program for the screen and the lines. Each request is refused in the reply that it has, so that the
//! text stays with its user.

use std::mem;
use std::sync::{Arc, Mutex};

use crate::client::{Client, Wake, WakeReason, Wakeable};
use crate::host::{Earlier, Resumed};
use steersman_base::error::{Refused, StartError};
use steersman_base::id::AgentId;
use steersman_base::limits;
use steersman_base::plan::PlanRefused;
use steersman_base::protocol::{Accepted, Notice, Post, QueueOutcome, Reply, Request};
use steersman_base::sync::lock;

/// A client of what was recorded.
pub struct RecordedClient {
    /// What was not shown yet.
    recorded: Mutex<Option<Box<dyn Earlier>>>,
    answers: Mutex<Vec<Post>>,
    wake: Wakeable,
    /// Why nothing can be sent.
    why: String,
}

impl RecordedClient {
    /// Shows what was recorded; `why` says who writes the session now.
    pub fn new(recorded: Box<dyn Earlier>, why: String) -> Self {
        Self { recorded: Mutex::new(Some(recorded)), answers: Mutex::default(), wake: Wakeable::default(), why }
    }

    /// Ends what was recorded: it says why nothing can be sent, and shows what waits.
    fn end_events(&self, recorded: Box<dyn Earlier>, why: String) -> Vec<Post> {
        let Resumed { notes, unfinished, .. } = recorded.resumed();
        let pending = unfinished.pending;
        let queues = if pending.is_empty() { Vec::new() } else { vec![(AgentId::main(), pending)] };
        lock(&self.answers).push(Post::Queues { queues, paused: true });
        self.wake.wake(WakeReason::Answers);
        let notes = notes.into_iter().map(|note| Post::Notice(Notice::Info(note)));
        notes.chain([Post::Notice(Notice::BuildFailed(StartError::Failed(why)))]).collect()
    }

    fn refuse(&self, request: Request) -> Option<Reply> {
        let why = self.why.clone();
        Some(match request {
            Request::Inject { to, message } => {
                Reply::Injected { to, message: message.without_images(), outcome: Err(Refused::NotBuilt) }
            }
            Request::ChangeRule { id, change } => Reply::RuleChanged { id, change, accepted: Accepted::No },
            Request::EditPlan { agent, edit } => Reply::PlanEdited { agent, edit, outcome: Err(PlanRefused::NotReady) },
            Request::Stop | Request::Reset => Reply::Stopped(Vec::new()),
            Request::Queue { agent, id, act } => {
                Reply::Queue { agent, id, act, outcome: QueueOutcome::Refused(Refused::NotBuilt) }
            }
            Request::Pause { agent, state } => Reply::Pause { agent, state, accepted: Accepted::No },
            Request::Decide { agent, decision, .. } => Reply::Decided { agent, decision, accepted: Accepted::No },
            Request::RunLine { line, .. } => Reply::ShellLine { line, outcome: Err(why) },
            Request::AddInstruction { line } => Reply::InstructionAdded { line, outcome: Err(why) },
            Request::StopJob { job } => Reply::JobStopped { job, accepted: Accepted::No },
            Request::ToBackground { call, .. } => Reply::Background { call, outcome: Err(why) },
            Request::Cancel { .. } => Reply::Cancelling(Vec::new()),
            Request::Answer { id, answer } => Reply::Answered { id, answer, outcome: Err(why) },
            Request::SetMode { .. } => Reply::Mode(Err(why)),
            Request::ListChanges => Reply::Changes(Vec::new()),
            Request::Context { .. } => Reply::Context { reports: Vec::new(), refused: Some(why) },
            Request::PreviewUndo { scope } => Reply::UndoPreview { scope, files: Vec::new() },
            Request::PreviewRewind { to } => Reply::RewindPreview { to, files: Vec::new() },
            Request::Undo { scope } => Reply::Undone { scope, files: Vec::new() },
            Request::Rules { .. } => Reply::Rules(vec![why]),
            Request::Servers { .. } => Reply::Servers { failed: None, servers: Vec::new() },
            Request::Prompt { server, prompt, .. } => Reply::Prompt { server, prompt, outcome: Err(why) },
            Request::Fill { call } => Reply::Filled { call, outcome: Err(why) },
            Request::SetBudget { .. }
            | Request::Compact { .. }
            | Request::SwitchModel { .. }
            | Request::ListModels
            | Request::Retry
            | Request::CloseTask
            | Request::Resume
            | Request::NeverAskIfTrue => {
                lock(&self.answers).push(Post::Notice(Notice::Info(why)));
                return None;
            }
            Request::ReadImage { digest } => Reply::Image { digest, image: None },
            Request::UserLeft | Request::CheckImages | Request::KeepDrafts { .. } | Request::StopFill => return None,
        })
    }
}

impl Client for RecordedClient {
    fn send(&self, request: Request) {
        let reply = self.refuse(request).map(Post::Reply);
        lock(&self.answers).extend(reply);
        self.wake.wake(WakeReason::Answers);
    }

    fn answers(&self) -> Vec<Post> {
        mem::take(&mut *lock(&self.answers))
    }

    fn events(&self) -> Vec<Post> {
        let mut posts = Vec::new();
        let mut held = lock(&self.recorded);
        while let Some(mut recorded) = held.take() {
            match recorded.events() {
                Ok(events) if events.is_empty() => posts.extend(self.end_events(recorded, self.why.clone())),
                Ok(events) => {
                    posts.extend(events.into_iter().map(Post::Envelope));
                    *held = Some(recorded);
                    if posts.len() >= limits::RESUME_EVENTS {
                        self.wake.wake(WakeReason::Events);
                        break;
                    }
                }
                Err(error) => posts.extend(self.end_events(recorded, format!("cannot read the session: {error}"))),
            }
        }
        posts
    }

    fn on_wake(&self, wake: Wake) {
        self.wake.set(Some(Arc::clone(&wake)));
        wake(WakeReason::Answers);
        wake(WakeReason::Events);
    }

    fn end(&self) {}
}
