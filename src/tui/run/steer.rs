//! What the screen asks for, put into the host's words, and what the host says, put into the screen's.
//!
//! Called by the loop, and by whoever plays a screen without a terminal. Nothing here waits for an agent.

use crate::error::Refused;
use crate::fault;
use crate::host::{Command, Decision, Handle, LocalOffer, Notice, Post, Shift};
use crate::id::{AgentId, CallId, MessageId};
use crate::tui::fuzzy::find;
use crate::tui::msg::{Accepted, Effect, Msg, QueueAct, QueueOutcome, Towards};
use crate::tui::run::approvals::{look_at_changes, reply, rules, set_mode, undo_changes};
use crate::tui::state::budget::Spent;
use crate::tui::state::hold::{Gate, Verdict};
use crate::tui::state::status::Offer;

/// Carries out an effect that concerns the agent; returns what the screen is to be told. Never waits for an agent.
pub fn steer(effect: Effect, handle: &Handle) -> Vec<Msg> {
    let answer = match effect {
        Effect::Send { to, text, delivery } => {
            fault::block_at("send");
            let outcome = handle.inject_user_message(&to, (text.as_str(), delivery));
            Msg::Sent { to, text, outcome }
        }
        Effect::Stop => Msg::Stopped(handle.stop()),
        Effect::Queue { agent, id, act } => {
            let outcome = change(handle, &agent, &id, &act);
            Msg::QueueAnswer { agent, id, act, outcome }
        }
        Effect::Gate { agent, gate } => return vec![set_gate(handle, agent, gate)],
        Effect::Decide { agent, call, verdict } => return vec![decide(handle, agent, call.as_ref(), verdict)],
        Effect::Cancel { agents } => {
            return vec![Msg::Cancelling(agents.into_iter().filter(|agent| handle.cancel_agent(agent)).collect())];
        }
        Effect::Reply { id, reply: answer } => return reply(handle, id, answer),
        Effect::SetMode(choice) => return set_mode(handle, choice),
        Effect::LookAtChanges => return vec![look_at_changes(handle)],
        Effect::UndoChanges => return vec![undo_changes(handle)],
        Effect::Rules(act) => return vec![rules(handle, act)],
        Effect::Resume => {
            handle.interloper().resume();
            return vec![queue(handle)];
        }
        Effect::Reset => Msg::Stopped(handle.request(Command::Reset)),
        Effect::SetBudget(limits) => {
            handle.budget().set_max_cost(limits.max_cost);
            handle.budget().set_max_tokens(limits.max_tokens);
            return vec![Msg::Budget(limits)];
        }
        Effect::Compact(words) => {
            handle.request(Command::Compact(words));
            return Vec::new();
        }
        Effect::SwitchModel(name) => {
            handle.request(Command::SwitchModel(name));
            return Vec::new();
        }
        Effect::ListModels => {
            handle.request(Command::ListModels);
            return Vec::new();
        }
        Effect::NeverAskIfTrue => {
            handle.never_ask_if_true();
            return vec![queue(handle)];
        }
        // A short list needs no thread; the loop has one for each search.
        Effect::Match(quest) => return find(&quest, || true).map(Msg::Matched).into_iter().collect(),
        Effect::Remember(_)
        | Effect::ListPaths
        | Effect::Redraw
        | Effect::Quit
        | Effect::Suspend
        | Effect::Notify(_)
        | Effect::Mouse(_)
        | Effect::Copy(_)
        | Effect::Edit { .. }
        | Effect::Colour(_)
        | Effect::Tell(_)
        | Effect::Write { .. } => return Vec::new(),
    };
    vec![answer, queue(handle)]
}

/// Closes or opens gates.
fn set_gate(handle: &Handle, agent: Option<AgentId>, gate: Gate) -> Msg {
    let done = match (&agent, gate) {
        (Some(agent), Gate::Closed) => handle.hold(agent),
        (Some(agent), Gate::Open) => handle.go_on(agent),
        (None, Gate::Closed) => {
            handle.hold_all();
            true
        }
        (None, Gate::Open) => {
            handle.go_on_all();
            true
        }
    };
    Msg::Gated { agent, gate, accepted: accepted(done) }
}

/// Passes a decision on to a parked agent.
fn decide(handle: &Handle, agent: AgentId, call: Option<&CallId>, verdict: Verdict) -> Msg {
    let decision = match verdict.clone() {
        Verdict::Run => Decision::Run,
        Verdict::Edited(arguments) => Decision::Edited(arguments),
        Verdict::Skip(reason) => Decision::Skip(reason),
    };
    let accepted = accepted(handle.decide(&agent, call, decision));
    Msg::Decided { agent, verdict, accepted }
}

fn accepted(done: bool) -> Accepted {
    if done { Accepted::Yes } else { Accepted::No }
}

/// Changes one pending entry.
fn change(handle: &Handle, agent: &AgentId, id: &MessageId, act: &QueueAct) -> QueueOutcome {
    let Some(controls) = handle.crew().get(agent) else { return QueueOutcome::Ended };
    let queue = &controls.interloper;
    let was_there = |there| if there { QueueOutcome::Done } else { QueueOutcome::Gone };
    let accepted = |answer: Result<bool, Refused>| answer.map_or_else(QueueOutcome::Refused, was_there);
    let delivery = match act {
        QueueAct::Deliver(delivery) => Some(*delivery),
        QueueAct::Commit { delivery, .. } => *delivery,
        _ => None,
    };
    if delivery.is_some_and(|delivery| !handle.takes(agent, delivery)) {
        return QueueOutcome::Refused(Refused::OneTurn);
    }
    let outcome = match act {
        QueueAct::Hold { .. } => was_there(queue.hold(id)),
        QueueAct::Release => was_there(queue.release(id)),
        QueueAct::Commit { text, delivery: None } => accepted(queue.commit(id, text)),
        QueueAct::Commit { text, delivery: Some(delivery) } => match queue.replace(id, text) {
            // It is held until the text is put in, so it is taken neither half changed nor with the old delivery.
            Ok(true) => {
                queue.set_delivery(id, *delivery);
                accepted(queue.commit(id, text))
            }
            answer => accepted(answer),
        },
        QueueAct::Withdraw { .. } => queue.withdraw(id).map_or(QueueOutcome::Gone, QueueOutcome::Withdrawn),
        QueueAct::Restore { entry, before } => {
            if queue.restore_behind(entry.clone(), before) {
                QueueOutcome::Done
            } else {
                QueueOutcome::Ended
            }
        }
        QueueAct::Shift(Towards::Front) => was_there(queue.shift(id, Shift::Earlier)),
        QueueAct::Shift(Towards::Back) => was_there(queue.shift(id, Shift::Later)),
        QueueAct::Deliver(delivery) => was_there(queue.set_delivery(id, *delivery)),
        QueueAct::Merge => match queue.merge(id) {
            Ok(Some((first, second))) => QueueOutcome::Merged(first, second),
            Ok(None) => QueueOutcome::Gone,
            Err(refused) => QueueOutcome::Refused(refused),
        },
        // The first gets its own words before the second comes back, so the second is never in both.
        QueueAct::Part { first, second } => match queue.replace(id, &first.text) {
            Ok(true) if queue.restore_behind(second.clone(), std::slice::from_ref(id)) => QueueOutcome::Done,
            Ok(true) => QueueOutcome::Withdrawn(second.clone()),
            answer => accepted(answer),
        },
        QueueAct::Confirm => was_there(queue.confirm(id)),
    };
    // The agent ended between the look at the crew and the act: what was pending comes back, it was not delivered.
    if outcome == QueueOutcome::Gone && queue.is_closed() { QueueOutcome::Ended } else { outcome }
}

/// Puts what the host says into the screen's words.
pub fn msg_of(post: Post) -> Msg {
    match post {
        Post::Envelope(envelope) => Msg::Envelope(envelope),
        Post::Notice(Notice::Ready) => Msg::Ready,
        Post::Notice(Notice::BuildFailed(error)) => Msg::BuildFailed(error.to_string()),
        Post::Notice(Notice::Info(sentence)) => Msg::Info(sentence),
        Post::Notice(Notice::Returned(entries)) => Msg::GivenBack(entries),
        Post::Notice(Notice::Models(models)) => Msg::Models(models),
        Post::Notice(Notice::Offer(LocalOffer { what, address, model, name })) => {
            Msg::Offer(Offer { what, address, model, name })
        }
    }
}

/// Returns what the session has spent up to here.
pub fn spent(handle: &Handle) -> Spent {
    let standing = handle.budget().standing();
    Spent { nanos: standing.nanos, tokens: standing.tokens }
}

/// Takes a snapshot of the queues.
pub fn queue(handle: &Handle) -> Msg {
    Msg::Queue { queues: handle.peek(), paused: handle.interloper().paused() }
}
