//! The receipts: for each text that the user sent, where it truly is.
//!
//! Reduced from the queue's snapshots and the agents' events; nothing is guessed. A text is *delivered* when its agent said
//! that it is in the conversation, and *seen* when the first token came of a reply to a request that carried it. A turn that
//! ends before says so; a later reply may still have seen it. It is *answered* when the model said in its own words what it
//! did with it (`steering::text_answers`); without that nothing is claimed. Always holds: a receipt never goes back from
//! delivered, and never from answered.
//!
//! What a text has cost is the usage of its agent's rounds from its delivery until the agent calls a tool of another
//! name than the last one before the delivery (at a turn's start: any tool), or until the turn ends: what it took until
//! the model did something else, or finished.

use std::collections::HashMap;

use jiff::Timestamp;

use super::receipt::{Arrival, Boundary, FirstReply, Receipt, ReceiptAnswer, ReceiptState, UnseenReason};
use steersman_base::event::{Delivery, Envelope, Event, Outcome, Pending, TakenBack, add_known};
use steersman_base::id::{AgentId, MessageId};
use steersman_base::limits;
use steersman_base::protocol::{SettledText, Unfinished};
use steersman_base::steering::text_answers;

/// The receipts of a session, in the order in which the texts were sent.
#[derive(Debug, Clone, Default)]
pub struct Receipts {
    list: Vec<Receipt>,
    places: HashMap<MessageId, usize>,
    agents: HashMap<AgentId, AgentProgress>,
    /// When texts were sent that waited, as their agents say: a client that joins later saw no snapshot of that time.
    queued: HashMap<MessageId, Timestamp>,
}

/// Where one agent is.
#[derive(Debug, Clone, Default)]
struct AgentProgress {
    parent: Option<AgentId>,
    turn: u32,
    /// Whether its turn is the user's and no part of its parent's.
    has_own_turn: bool,
    /// True once the reply of the round that runs is whole.
    replied: bool,
    /// Tool calls of this turn so far.
    steps: u32,
    /// The tool that it called last in this turn.
    tool: Option<String>,
    /// Texts that no reply was given to yet.
    unseen: Vec<MessageId>,
    /// Texts whose cost is still counted, each with the tool that was called before it.
    counted: Vec<(MessageId, Option<String>)>,
}

impl Receipts {
    /// Returns all receipts, in the order of sending.
    pub fn list(&self) -> &[Receipt] {
        &self.list
    }

    /// Returns the receipt of a text.
    pub fn get(&self, id: &MessageId) -> Option<&Receipt> {
        self.places.get(id).and_then(|place| self.list.get(*place))
    }

    /// Tells whether another agent has, or will get, the same text by the same sending (`@all`).
    pub fn is_with_others(&self, id: &MessageId) -> bool {
        let Some(one) = self.get(id) else { return false };
        let is_back = |other: &Receipt| {
            matches!(other.state, ReceiptState::Returned | ReceiptState::Withdrawn | ReceiptState::Merged(_))
        };
        self.list.iter().any(|other| other.is_copy_of(one) && !is_back(other))
    }

    /// Tells whether both are the same text by the same sending, for two agents.
    pub fn are_copies(&self, one: &MessageId, other: &MessageId) -> bool {
        self.get(one).zip(self.get(other)).is_some_and(|(one, other)| one.is_copy_of(other))
    }

    /// Notes that a queue has taken a text.
    pub fn sent(&mut self, id: &MessageId, agent: &AgentId, text: &str, at: Timestamp) {
        let receipt = self.entry(id, agent, text, Delivery::Steer);
        receipt.sent.get_or_insert(at);
    }

    /// Takes over a snapshot of all queues.
    pub fn snapshot(&mut self, queues: &[(AgentId, Vec<Pending>)]) {
        for receipt in self.list.iter_mut().filter(|receipt| receipt.state == ReceiptState::Pending) {
            receipt.state = ReceiptState::Leaving;
        }
        for (agent, pending) in queues.iter().flat_map(|(agent, queue)| queue.iter().map(move |entry| (agent, entry))) {
            let receipt = self.entry(&pending.id, agent, &pending.text, pending.delivery);
            if receipt.arrival().is_none() {
                receipt.state = ReceiptState::Pending;
                receipt.delivery = pending.delivery;
                receipt.kind = pending.kind;
                receipt.sent.get_or_insert(pending.at);
                receipt.sender.clone_from(&pending.sender);
                if receipt.text != pending.text {
                    receipt.text.clone_from(&pending.text);
                }
            }
        }
    }

    /// Notes that the user has these texts back because their agent was stopped or has ended.
    pub fn returned(&mut self, entries: &[Pending]) {
        self.left(entries.iter().map(|entry| &entry.id), &ReceiptState::Returned);
    }

    /// Notes that the user took a text back.
    pub fn withdrawn(&mut self, id: &MessageId) {
        self.left([id], &ReceiptState::Withdrawn);
    }

    /// Takes over what no event tells of the texts of an earlier process: what became of those that were never delivered,
    /// each at its place in the order of sending, and when the others were sent.
    pub fn take_over(&mut self, left: &Unfinished) {
        for (id, at) in &left.sent {
            if let Some(receipt) = self.change(id) {
                receipt.sent.get_or_insert(*at);
            }
        }
        for SettledText { to, entry, why } in &left.settled {
            let receipt = self.entry(&entry.id, to, &entry.text, entry.delivery);
            if receipt.arrival().is_some() {
                continue;
            }
            receipt.state = match why {
                TakenBack::Stopped => ReceiptState::Returned,
                TakenBack::ToMessage | TakenBack::Removed => ReceiptState::Withdrawn,
                TakenBack::Merged(into) => ReceiptState::Merged(into.clone()),
            };
            receipt.sent = Some(entry.at);
            receipt.kind = entry.kind;
            receipt.sender.clone_from(&entry.sender);
        }
        self.list.sort_by_key(|receipt| receipt.id.number().unwrap_or(u64::MAX));
        self.places = places_of(&self.list);
    }

    /// Notes that a text was joined to another.
    pub fn merged(&mut self, id: &MessageId, into: &MessageId) {
        self.left([id], &ReceiptState::Merged(into.clone()));
    }

    /// Applies one event; returns the texts of which something else is true from now on.
    pub fn apply(&mut self, envelope: &Envelope) -> Vec<MessageId> {
        match &envelope.event {
            Event::Pending { entries } => {
                self.queued.extend(entries.iter().map(|entry| (entry.id.clone(), entry.at)));
            }
            Event::TurnStarted { turn } => {
                let progress = self.progress(envelope);
                progress.turn = *turn;
                progress.tool = None;
                progress.steps = 0;
            }
            Event::UserTurn {
                content,
                mid_loop,
                injection: Some(id),
                step,
                after,
                sender,
                kind,
                met: _,
                images: _,
            } => {
                let boundary = match (mid_loop, after) {
                    (false, _) => Boundary::TurnStart,
                    (true, Some(tool)) => Boundary::After(tool.clone()),
                    (true, None) if self.progress(envelope).replied => Boundary::NoCall,
                    (true, None) => Boundary::Cut,
                };
                self.arrived(envelope, id, content, *step, boundary);
                let sent = self.queued.remove(id);
                if let Some(receipt) = self.change(id) {
                    receipt.sent = receipt.sent.or(sent);
                    receipt.sender.clone_from(sender);
                    receipt.kind = *kind;
                }
                return vec![id.clone()];
            }
            Event::Seen { injections, step } => return self.seen(envelope, injections, *step),
            Event::Returned { entries } => self.returned(entries),
            Event::RoundStarted { .. } => self.progress(envelope).replied = false,
            Event::Tokens(usage) => {
                self.progress(envelope).replied = true;
                self.count(&envelope.agent, usage.context(), usage.cost_nanos);
            }
            Event::ToolCall { name, .. } => {
                let progress = self.progress(envelope);
                progress.counted.retain(|(_, before)| before.as_ref() == Some(name));
                progress.tool = Some(name.clone());
                progress.steps = progress.steps.saturating_add(1);
            }
            Event::Assistant { text, interrupted: false } => return self.answered(envelope, text),
            Event::TurnEnded { outcome, .. } => return self.ended(&envelope.agent, unseen_reason(*outcome)),
            Event::AgentSpawned { child, call, .. } => {
                self.agents.entry(child.clone()).or_default().has_own_turn = call.is_none();
            }
            Event::AgentBackgrounded { child } => self.agents.entry(child.clone()).or_default().has_own_turn = true,
            Event::AgentFinished { child, outcome, .. } => return self.ended(child, unseen_reason(*outcome)),
            Event::Reset {} => return self.reset(&envelope.agent),
            // All other kinds say nothing about a text that was sent.
            _ => {}
        }
        Vec::new()
    }

    fn entry(&mut self, id: &MessageId, agent: &AgentId, text: &str, delivery: Delivery) -> &mut Receipt {
        let new = self.list.len();
        let place = *self.places.entry(id.clone()).or_insert(new);
        if place == new {
            self.list.push(Receipt::new(id.clone(), agent.clone(), text.to_owned(), delivery));
        }
        &mut self.list[place]
    }

    fn change(&mut self, id: &MessageId) -> Option<&mut Receipt> {
        self.places.get(id).and_then(|place| self.list.get_mut(*place))
    }

    /// Notes what became of texts that left their queue, unless they were delivered.
    fn left<'a>(&mut self, ids: impl IntoIterator<Item = &'a MessageId>, state: &ReceiptState) {
        for id in ids {
            if let Some(receipt) = self.change(id).filter(|receipt| receipt.arrival().is_none()) {
                receipt.state = state.clone();
            }
        }
    }

    fn progress(&mut self, envelope: &Envelope) -> &mut AgentProgress {
        let progress = self.agents.entry(envelope.agent.clone()).or_default();
        if progress.parent != envelope.parent {
            progress.parent.clone_from(&envelope.parent);
        }
        progress
    }

    fn arrived(&mut self, envelope: &Envelope, id: &MessageId, text: &str, step: u32, boundary: Boundary) {
        let progress = self.progress(envelope);
        let arrival = Arrival { turn: progress.turn, step, boundary, at: envelope.at };
        progress.unseen.push(id.clone());
        let before = progress.tool.clone();
        progress.counted.push((id.clone(), before));
        let receipt = self.entry(id, &envelope.agent, text, Delivery::Steer);
        if receipt.text != text {
            text.clone_into(&mut receipt.text);
        }
        receipt.state = ReceiptState::Delivered(arrival);
    }

    fn seen(&mut self, envelope: &Envelope, ids: &[MessageId], step: u32) -> Vec<MessageId> {
        let progress = self.progress(envelope);
        let reply = FirstReply { turn: progress.turn, step, at: envelope.at };
        progress.unseen.retain(|id| !ids.contains(id));
        let mut changed = Vec::new();
        for id in ids {
            let Some(receipt) = self.change(id) else { continue };
            if let ReceiptState::Delivered(arrival) | ReceiptState::Unseen(arrival, _) = &receipt.state {
                receipt.state = ReceiptState::Seen(arrival.clone(), reply);
                changed.push(id.clone());
            }
        }
        changed
    }

    /// Notes what a whole reply says that was done with texts of its agent; the first sentence about each counts.
    fn answered(&mut self, envelope: &Envelope, reply: &str) -> Vec<MessageId> {
        let (turn, step) = self.agents.get(&envelope.agent).map(|agent| (agent.turn, agent.steps)).unwrap_or_default();
        let mut changed = Vec::new();
        for found in text_answers(reply) {
            let receipt = self.change(&found.id).filter(|receipt| receipt.awaits_answer_of(&envelope.agent));
            if let Some(receipt) = receipt {
                let (seq, at, sentence) = (envelope.seq, envelope.at, found.sentence);
                receipt.answer = Some(ReceiptAnswer { seq, at, turn, step, sentence });
                changed.push(found.id);
            }
        }
        changed
    }

    fn count(&mut self, agent: &AgentId, tokens: u64, nanos: Option<u64>) {
        let Some(progress) = self.agents.get(agent) else { return };
        for (id, _) in &progress.counted {
            let Some(receipt) = self.places.get(id).and_then(|place| self.list.get_mut(*place)) else { continue };
            add_known(&mut receipt.spent.tokens, Some(tokens));
            add_known(&mut receipt.spent.nanos, nanos);
        }
    }

    /// Notes the end of an agent's turn, and so of everything beneath it that is no turn of its own.
    fn ended(&mut self, agent: &AgentId, why: UnseenReason) -> Vec<MessageId> {
        let waiting = self.agents.iter().filter(|(_, progress)| progress.waits()).map(|(id, _)| id);
        let over: Vec<AgentId> = waiting.filter(|id| self.ends_with(id, agent)).cloned().collect();
        over.iter().flat_map(|agent| self.unseen(agent, why)).collect()
    }

    /// Tells whether an agent is another one or stands anywhere beneath it, with no turn of its own in between.
    fn ends_with(&self, agent: &AgentId, other: &AgentId) -> bool {
        let above = |id: &&AgentId| self.agents.get(*id).filter(|agent| !agent.has_own_turn)?.parent.as_ref();
        let line = std::iter::successors(Some(agent), above);
        line.take(limits::AGENT_DEPTH).any(|id| id == other)
    }

    /// Says of every text of the agent that no reply was given to it so far; returns those of which this is news.
    fn unseen(&mut self, agent: &AgentId, why: UnseenReason) -> Vec<MessageId> {
        let Some(progress) = self.agents.get_mut(agent) else { return Vec::new() };
        progress.counted.clear();
        let unseen = progress.unseen.clone();
        let mut changed = Vec::new();
        for id in unseen {
            let Some(receipt) = self.change(&id) else { continue };
            if let ReceiptState::Delivered(arrival) = &receipt.state {
                receipt.state = ReceiptState::Unseen(arrival.clone(), why);
                changed.push(id);
            }
        }
        changed
    }

    /// Forgets what entered a conversation that is over; what still waits is for the next one.
    pub fn begin_again(&mut self) {
        self.agents.clear();
        self.list.retain(Receipt::is_pending);
        self.places = places_of(&self.list);
    }

    /// Notes that an agent's conversation was cleared: what no reply was given to is never seen any more.
    fn reset(&mut self, agent: &AgentId) -> Vec<MessageId> {
        let Some(progress) = self.agents.get_mut(agent) else { return Vec::new() };
        progress.counted.clear();
        let gone = std::mem::take(&mut progress.unseen);
        for id in &gone {
            let Some(receipt) = self.change(id) else { continue };
            if let ReceiptState::Delivered(arrival) | ReceiptState::Unseen(arrival, _) = &receipt.state {
                receipt.state = ReceiptState::Unseen(arrival.clone(), UnseenReason::Reset);
            }
        }
        gone
    }
}

impl AgentProgress {
    fn waits(&self) -> bool {
        !self.unseen.is_empty() || !self.counted.is_empty()
    }
}

fn places_of(list: &[Receipt]) -> HashMap<MessageId, usize> {
    list.iter().enumerate().map(|(place, receipt)| (receipt.id.clone(), place)).collect()
}

fn unseen_reason(outcome: Outcome) -> UnseenReason {
    match outcome {
        Outcome::Cancelled => UnseenReason::Cancelled,
        Outcome::Failed => UnseenReason::Failed,
        Outcome::Completed | Outcome::Synthesized => UnseenReason::Ended,
    }
}
