//! A client of a session that another program writes: it shows what was recorded until now, and nothing can be sent.
//!
//! Called by the program for the screen and the lines. Each request is refused in the reply that it has, so that the
//! text stays with its user.

use std::mem;
use std::sync::{Arc, Mutex};

use crate::client::{Client, Wake, WakeReason, Wakeable};
use crate::host::{ResumeSource, Resumed};
use steersman_base::error::Refused;
use steersman_base::id::AgentId;
use steersman_base::limits;
use steersman_base::plan::PlanRefused;
use steersman_base::protocol::{Accepted, Notice, QueueOutcome, Reply, Request, Unfinished, Update};
use steersman_base::sync::lock;

/// A client of what was recorded.
pub struct RecordedClient {
    /// What was not shown yet.
    recorded: Mutex<Option<Box<dyn ResumeSource>>>,
    answers: Mutex<Vec<Update>>,
    wake: Wakeable,
    /// Why nothing can be sent.
    why: String,
}

impl RecordedClient {
    /// Shows what was recorded; `why` says who writes the session now.
    pub fn new(recorded: Box<dyn ResumeSource>, why: String) -> Self {
        Self { recorded: Mutex::new(Some(recorded)), answers: Mutex::default(), wake: Wakeable::default(), why }
    }

    /// Ends what was recorded: it says why nothing can be sent, and shows what waits.
    fn end_events(&self, recorded: Box<dyn ResumeSource>, why: String) -> Vec<Update> {
        let Resumed { notes, unfinished, .. } = recorded.resumed();
        let Unfinished { pending, settled, sent, .. } = unfinished;
        let queues = if pending.is_empty() { Vec::new() } else { vec![(AgentId::main(), pending)] };
        lock(&self.answers).push(Update::Queues { queues, paused: true });
        self.wake.wake(WakeReason::Answers);
        let notes = notes.into_iter().map(|note| Update::Notice(Notice::Info(note)));
        let known = Unfinished { settled, sent, ..Unfinished::default() };
        let known = (known != Unfinished::default()).then_some(Update::Notice(Notice::Unfinished(known)));
        notes.chain(known).chain([Update::Notice(Notice::ReadOnly(why))]).collect()
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
            Request::Queue { agent, id, operation } => {
                Reply::Queue { agent, id, operation, outcome: QueueOutcome::Refused(Refused::NotBuilt) }
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
                lock(&self.answers).push(Update::Notice(Notice::Info(why)));
                return None;
            }
            Request::ReadImage { digest } => Reply::Image { digest, image: None },
            Request::UserLeft | Request::CheckImages | Request::KeepDrafts { .. } | Request::StopFill => return None,
        })
    }
}

impl Client for RecordedClient {
    fn send(&self, request: Request) {
        let reply = self.refuse(request).map(Update::Reply);
        lock(&self.answers).extend(reply);
        self.wake.wake(WakeReason::Answers);
    }

    fn answers(&self) -> Vec<Update> {
        mem::take(&mut *lock(&self.answers))
    }

    fn events(&self) -> Vec<Update> {
        let mut updates = Vec::new();
        let mut held = lock(&self.recorded);
        while let Some(mut recorded) = held.take() {
            match recorded.events() {
                Ok(events) if events.is_empty() => updates.extend(self.end_events(recorded, self.why.clone())),
                Ok(events) => {
                    updates.extend(events.into_iter().map(Update::Envelope));
                    *held = Some(recorded);
                    if updates.len() >= limits::RESUME_EVENTS {
                        self.wake.wake(WakeReason::Events);
                        break;
                    }
                }
                Err(error) => updates.extend(self.end_events(recorded, format!("cannot read the session: {error}"))),
            }
        }
        updates
    }

    fn on_wake(&self, wake: Wake) {
        self.wake.set(Some(Arc::clone(&wake)));
        wake(WakeReason::Answers);
        wake(WakeReason::Events);
    }

    fn end(&self) {}
}
