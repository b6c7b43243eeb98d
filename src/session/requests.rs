//! What each request does to the run. Nothing here waits for an agent.
//!
//! Always holds: a request that comes again, by its client and number, is not carried out again; its reply is given again.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, OnceLock};

use crate::answers;
use crate::drafts::Drafts;
use crate::host::{Command, Handle};
use steersman_base::error::Refused;
use steersman_base::event::{Pending, TakenBack, UserText};
use steersman_base::fault;
use steersman_base::id::{AgentId, CallId, MessageId};
use steersman_base::protocol::{
    Accepted, ClientId, ContextOperation, Decision, Notice, Numbered, PauseState, QueueOperation, QueueOutcome, Reply,
    Request, TriggerChange, Withdrawn,
};
use steersman_base::steering::RuleScope;
use steersman_base::sync::lock;

/// Replies that are kept of each client in case a request comes again.
const KEPT: usize = 64;

/// The newest requests of one client by their numbers, each with its reply once it has been carried out.
type Replies = VecDeque<(u64, Arc<OnceLock<Option<Reply>>>)>;

/// What is done with a new reply of a client; returns what the client is told.
type Distribute = Box<dyn Fn(&ClientId, Reply) -> Reply + Send + Sync>;

/// What carries the requests of all clients out, each once.
pub struct Requests {
    handle: Handle,
    /// Called once for each reply; returns what its client is told.
    distribute: Distribute,
    replies: Mutex<HashMap<ClientId, Replies>>,
    drafts: Arc<Drafts>,
}

impl Requests {
    /// Carries requests out on this run.
    pub fn new(handle: Handle) -> Self {
        Self::distributing(handle, Arc::default(), |_, reply| reply)
    }

    /// Carries requests out on this run, and records drafts beside these. `distribute` is called with each new reply and
    /// returns what its client is told.
    pub(super) fn distributing(
        handle: Handle,
        drafts: Arc<Drafts>,
        distribute: impl Fn(&ClientId, Reply) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self { handle, distribute: Box::new(distribute), replies: Mutex::default(), drafts }
    }

    /// Carries a request out, unless that was done before, and returns its reply where it has one.
    pub fn carry_out(&self, numbered: Numbered) -> Option<Reply> {
        let Numbered { client, number, request } = numbered;
        // The same request on another thread waits for the reply; every other one goes on.
        let slot = self.slot(&client, number)?;
        let carry_out = || {
            let sender = Some(client.clone()).filter(|client| !client.is_first());
            carry_out(&self.handle, &self.drafts, request, sender).map(|reply| (self.distribute)(&client, reply))
        };
        slot.get_or_init(carry_out).clone()
    }

    /// Returns where the reply to a request is kept; `None` when it is so old that its reply may have been forgotten.
    fn slot(&self, client: &ClientId, number: u64) -> Option<Arc<OnceLock<Option<Reply>>>> {
        let mut replies = lock(&self.replies);
        let kept = replies.entry(client.clone()).or_default();
        if let Some((_, slot)) = kept.iter().find(|(known, _)| *known == number) {
            return Some(Arc::clone(slot));
        }
        if kept.len() >= KEPT && kept.iter().all(|(known, _)| number < *known) {
            return None;
        }
        let slot = Arc::default();
        kept.push_back((number, Arc::clone(&slot)));
        if kept.len() > KEPT {
            kept.pop_front();
        }
        Some(slot)
    }

    /// Forgets the requests of a client that does not come back.
    pub fn forget(&self, client: &ClientId) {
        lock(&self.replies).remove(client);
    }
}

fn carry_out(handle: &Handle, unsent: &Drafts, request: Request, sender: Option<ClientId>) -> Option<Reply> {
    Some(match request {
        Request::Inject { to, message } => {
            fault::block_at("send");
            fault::panic_at("break at send");
            let message = UserText { sender, ..message };
            let outcome = handle.inject_user_message(&to, message.clone()).map(|pending| pending.id);
            Reply::Injected { to, message: message.without_images(), outcome }
        }
        Request::ChangeRule { id, change } => {
            let accepted = handle.change_rule(&id, change.clone()).into();
            Reply::RuleChanged { id, change, accepted }
        }
        Request::EditPlan { agent, edit } => {
            let outcome = handle.edit_plan(&agent, &edit, sender);
            Reply::PlanEdited { agent, edit, outcome }
        }
        Request::Stop => stopped(handle, handle.stop()),
        Request::Reset => stopped(handle, handle.request(Command::Reset)),
        Request::Queue { agent, id, operation } => {
            let outcome = change(handle, &agent, &id, &operation);
            keep_change(handle, &operation, &outcome);
            Reply::Queue { agent, id, operation, outcome }
        }
        Request::NeverAskIfTrue => {
            handle.never_ask_if_true();
            return None;
        }
        Request::Resume => {
            handle.interloper().resume();
            return None;
        }
        Request::Pause { agent, state } => {
            let accepted = Accepted::from(pause(handle, agent.as_ref(), state));
            if accepted == Accepted::Yes {
                handle.notice(Notice::Pause { agent: agent.clone(), state });
            }
            Reply::Pause { agent, state, accepted }
        }
        Request::Decide { agent, call, decision } => decide(handle, agent, call.as_ref(), decision),
        Request::RunLine { to, line, output } => answers::run_line(handle, &to, line, output, sender),
        Request::AddInstruction { line } => answers::add_instruction(handle, line),
        Request::StopJob { job } => answers::stop_job(handle, job),
        Request::ToBackground { agent, call } => answers::to_background(handle, &agent, call),
        Request::Cancel { agents } => {
            Reply::Cancelling(agents.into_iter().filter(|agent| handle.cancel_agent(agent)).collect())
        }
        Request::Answer { id, answer } => answers::answer(handle, id, answer),
        Request::UserLeft => {
            handle.approvals().user_left();
            return None;
        }
        Request::SetMode { choice } => answers::set_mode(handle, choice),
        Request::ListChanges => Reply::Changes(handle.compare_changes()),
        Request::Context { operation } => context(handle, operation),
        Request::PreviewUndo { scope } => {
            let files = handle.undo_preview(&scope);
            Reply::UndoPreview { scope, files }
        }
        Request::PreviewRewind { to } => {
            let files = handle.rewind_preview(&to);
            Reply::RewindPreview { to, files }
        }
        Request::Undo { scope } => {
            let files = handle.undo(&scope);
            Reply::Undone { scope, files }
        }
        Request::Rules { request } => answers::rules(handle, request),
        Request::Servers { request } => answers::servers(handle, request),
        Request::Prompt { server, prompt, words } => answers::prompt(handle, server, prompt, &words),
        Request::Fill { call } => answers::fill(handle, call, sender),
        Request::StopFill => return answers::stop_fill(handle, sender.as_ref()),
        Request::SetBudget { limits } => {
            handle.budget().set_max_cost(limits.max_cost);
            handle.budget().set_max_tokens(limits.max_tokens);
            Reply::Budget(limits)
        }
        Request::Compact { words } => return ask_worker(handle, Command::Compact(words)),
        Request::SwitchModel { name } => return ask_worker(handle, Command::SwitchModel(name)),
        Request::Retry => return ask_worker(handle, Command::Retry),
        Request::CloseTask => return ask_worker(handle, Command::CloseTask),
        Request::ListModels => return ask_worker(handle, Command::ListModels),
        Request::CheckImages => return ask_worker(handle, Command::CheckImages),
        Request::ReadImage { digest } => Reply::Image { image: handle.context().image(&digest), digest },
        Request::KeepDrafts { drafts } => {
            unsent.record(handle, sender, drafts);
            return None;
        }
    })
}

/// Keeps which text left its queue by a change, and why.
fn keep_change(handle: &Handle, operation: &QueueOperation, outcome: &QueueOutcome) {
    match outcome {
        QueueOutcome::Withdrawn(entry) => {
            let is_deleted = matches!(operation, QueueOperation::Withdraw { to: Withdrawn::Removed, .. });
            let why = if is_deleted { TakenBack::Removed } else { TakenBack::ToMessage };
            handle.keep_taken_back(vec![entry.id.clone()], why);
        }
        QueueOutcome::Merged(first, second) => {
            handle.keep_taken_back(vec![second.id.clone()], TakenBack::Merged(first.id.clone()));
        }
        QueueOutcome::Done | QueueOutcome::Gone | QueueOutcome::Ended | QueueOutcome::Refused(_) => {}
    }
}

/// Tells what fills the context windows, once a request about a part is noted.
fn context(handle: &Handle, operation: ContextOperation) -> Reply {
    let refused = match operation {
        ContextOperation::List => None,
        ContextOperation::Request { agent, item, request } => {
            let is_noted = handle.context().request(&agent, &item, request);
            (!is_noted).then(|| "that is not in the conversation any more".to_owned())
        }
    };
    Reply::Context { reports: handle.context().reports(), refused }
}

/// Asks the worker for something that it tells about by events and notices.
fn ask_worker(handle: &Handle, command: Command) -> Option<Reply> {
    handle.request(command);
    None
}

/// Pauses agents or lets them go on, and returns whether there was one.
fn pause(handle: &Handle, agent: Option<&AgentId>, state: PauseState) -> bool {
    match (agent, state) {
        (Some(agent), PauseState::Paused) => handle.pause(agent),
        (Some(agent), PauseState::Running) => handle.resume(agent),
        (None, PauseState::Paused) => {
            handle.pause_all();
            true
        }
        (None, PauseState::Running) => {
            handle.resume_all();
            true
        }
    }
}

/// Passes a decision on to a paused agent.
fn decide(handle: &Handle, agent: AgentId, call: Option<&CallId>, decision: Decision) -> Reply {
    let accepted = Accepted::from(handle.decide(&agent, call, decision.clone()));
    Reply::Decided { agent, decision, accepted }
}

/// Changes one pending entry.
fn change(handle: &Handle, agent: &AgentId, id: &MessageId, operation: &QueueOperation) -> QueueOutcome {
    let Some(controls) = handle.agent_controls().get(agent) else { return QueueOutcome::Ended };
    let queue = &controls.interloper;
    let was_there = |there| if there { QueueOutcome::Done } else { QueueOutcome::Gone };
    let accepted = |answer: Result<bool, Refused>| answer.map_or_else(QueueOutcome::Refused, was_there);
    if new_delivery(operation).is_some_and(|delivery| !handle.takes(agent, delivery)) {
        return QueueOutcome::Refused(Refused::OneTurn);
    }
    let outcome = match operation {
        QueueOperation::Hold { .. } => was_there(queue.hold(id)),
        QueueOperation::Release => was_there(queue.release(id)),
        QueueOperation::Commit { text, delivery: None, kind: None, trigger: None, images: None } => {
            accepted(queue.commit(id, text))
        }
        QueueOperation::Commit { text, delivery, kind, trigger, images } => match queue.replace(id, text) {
            // It is held until the text is put in, so it is taken neither half changed nor with the old delivery.
            Ok(true) => {
                if let Some(kind) = kind {
                    queue.set_kind(id, *kind, RuleScope::default());
                }
                if let Some(delivery) = delivery {
                    queue.set_delivery(id, *delivery);
                }
                if let Some(images) = images {
                    queue.set_images(id, images);
                }
                match trigger {
                    None => {}
                    Some(TriggerChange::Set(trigger)) => {
                        queue.set_trigger(id, Some(trigger.clone()));
                    }
                    Some(TriggerChange::Clear) => {
                        queue.set_trigger(id, None);
                    }
                }
                accepted(queue.commit(id, text))
            }
            answer => accepted(answer),
        },
        QueueOperation::SetKind { kind, scope } => was_there(queue.set_kind(id, *kind, *scope)),
        QueueOperation::Withdraw { .. } => queue.withdraw(id).map_or(QueueOutcome::Gone, QueueOutcome::Withdrawn),
        QueueOperation::Restore { entry, before } => {
            handle.keep_restored(agent, entry);
            if queue.restore_behind((**entry).clone(), before) {
                QueueOutcome::Done
            } else {
                handle.keep_taken_back(vec![entry.id.clone()], TakenBack::ToMessage);
                QueueOutcome::Ended
            }
        }
        QueueOperation::Move { shift } => was_there(queue.shift(id, *shift)),
        QueueOperation::Deliver { delivery } => was_there(queue.set_delivery(id, *delivery)),
        QueueOperation::Merge => match queue.merge(id) {
            Ok(Some((first, second))) => QueueOutcome::Merged(first, Box::new(second)),
            Ok(None) => QueueOutcome::Gone,
            Err(refused) => QueueOutcome::Refused(refused),
        },
        // The first gets its own words before the second comes back, so the second is never in both.
        QueueOperation::Split { first, second } => match queue.replace_by(id, first) {
            Ok(true) => {
                handle.keep_restored(agent, second);
                if queue.restore_behind(second.as_ref().clone(), std::slice::from_ref(id)) {
                    QueueOutcome::Done
                } else {
                    QueueOutcome::Withdrawn(second.as_ref().clone())
                }
            }
            answer => accepted(answer),
        },
        QueueOperation::Confirm => was_there(queue.confirm(id)),
    };
    // The agent ended between the look at the controls and the operation: what was pending comes back, it was not delivered.
    if outcome == QueueOutcome::Gone && queue.is_closed() { QueueOutcome::Ended } else { outcome }
}

/// Keeps which texts a stop gave back; returns the reply that says so.
fn stopped(handle: &Handle, entries: Vec<Pending>) -> Reply {
    handle.keep_taken_back(entries.iter().map(|entry| entry.id.clone()).collect(), TakenBack::Stopped);
    Reply::Stopped(entries)
}

fn new_delivery(operation: &QueueOperation) -> Option<steersman_base::event::Delivery> {
    match operation {
        QueueOperation::Deliver { delivery } => Some(*delivery),
        QueueOperation::Commit { delivery, .. } => *delivery,
        QueueOperation::Hold { .. }
        | QueueOperation::Release
        | QueueOperation::Withdraw { .. }
        | QueueOperation::Restore { .. }
        | QueueOperation::Move { .. }
        | QueueOperation::SetKind { .. }
        | QueueOperation::Merge
        | QueueOperation::Split { .. }
        | QueueOperation::Confirm => None,
    }
}
