//! The receipts: for each text that the user sent, where it truly is.
//!
//! A fold over the queue's snapshots and the agents' events; nothing is guessed. A text is *delivered* when its agent said
//! that it is in the conversation, and *seen* when the first token came of a reply to a request that carried it. A turn that
//! ends before says so; a later reply may still have seen it. Always holds: a receipt never goes back from delivered.
//!
//! What a text has cost is the usage of its agent's rounds from its delivery until the agent calls a tool of another
//! name than the last one before the delivery (at a turn's start: any tool), or until the turn ends: what it took until
//! the model changed its course, or finished.

use std::collections::HashMap;

use jiff::Timestamp;

use crate::clock::seconds_between;
use crate::event::{Delivery, Envelope, Event, Outcome, Pending};
use crate::id::{AgentId, MessageId};
use crate::limits;

/// The receipts of a session, in the order in which the texts were sent.
#[derive(Debug, Default)]
pub struct Receipts {
    list: Vec<Receipt>,
    places: HashMap<MessageId, usize>,
    courses: HashMap<AgentId, Course>,
}

/// What became of one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// Its id.
    pub id: MessageId,
    /// The agent that it is for.
    pub agent: AgentId,
    /// The text, exactly as typed; of a merged entry the whole.
    pub text: String,
    /// Where it was to enter.
    pub delivery: Delivery,
    /// When it was sent; `None` when only its delivery was told.
    pub sent: Option<Timestamp>,
    /// Where it is.
    pub state: State,
    /// What it has cost so far.
    pub spent: Spent,
}

/// Where a text is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// In the queue.
    Pending,
    /// Out of the queue, and nobody has said yet that it is in the conversation.
    Leaving,
    /// In the conversation; no reply to it has begun.
    Delivered(Arrival),
    /// In the conversation of a turn that ended before a reply to it began.
    Unseen(Arrival, Why),
    /// A reply to a request that carried it has begun.
    Seen(Arrival, Sight),
    /// Its agent ended, or was stopped, before it was delivered: it is the user's again.
    Returned,
    /// The user took it back.
    Withdrawn,
    /// The user joined it to another, which carries its words.
    Merged(MessageId),
}

/// When and where a text entered the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrival {
    /// The turn of its agent.
    pub turn: u32,
    /// Tool calls of that turn before it.
    pub step: u32,
    /// The boundary.
    pub place: Place,
    /// When.
    pub at: Timestamp,
}

/// A boundary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// It started the turn.
    TurnStart,
    /// Behind the result of this tool (untrusted).
    After(String),
    /// In place of an answer that gave way.
    Cut,
    /// Behind a whole reply, none of whose calls was started.
    NoCall,
}

/// When the first reply to a text began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sight {
    /// The turn of its agent.
    pub turn: u32,
    /// Tool calls of that turn before the reply.
    pub step: u32,
    /// When.
    pub at: Timestamp,
}

/// Why no reply began to a text that was delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// The turn was stopped.
    Cancelled,
    /// The turn failed.
    Failed,
    /// The turn ended otherwise.
    Ended,
    /// The conversation was cleared.
    Reset,
}

/// Counts what a text has cost; `None` where nothing is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// Tokens, prompts and replies together.
    pub tokens: Option<u64>,
    /// Billionths of a US dollar.
    pub nanos: Option<u64>,
}

/// Where one agent is.
#[derive(Debug, Default)]
struct Course {
    parent: Option<AgentId>,
    turn: u32,
    /// True once the reply of the round that runs is whole.
    replied: bool,
    /// The tool that it called last in this turn.
    tool: Option<String>,
    /// Texts that no reply was given to yet.
    unseen: Vec<MessageId>,
    /// Texts whose cost is still counted, each with the tool that was called before it.
    counted: Vec<(MessageId, Option<String>)>,
}

impl Receipt {
    fn is_copy_of(&self, other: &Self) -> bool {
        self.agent != other.agent && self.sent.is_some() && self.sent == other.sent && self.text == other.text
    }

    fn new(id: MessageId, agent: AgentId, text: String, delivery: Delivery) -> Self {
        Self { id, agent, text, delivery, sent: None, state: State::Pending, spent: Spent::default() }
    }

    /// Returns how it entered the conversation; `None` when it has not.
    pub fn arrival(&self) -> Option<&Arrival> {
        match &self.state {
            State::Delivered(arrival) | State::Unseen(arrival, _) | State::Seen(arrival, _) => Some(arrival),
            State::Pending | State::Leaving | State::Returned | State::Withdrawn | State::Merged(_) => None,
        }
    }

    /// Returns the whole seconds from the sending to the delivery.
    pub fn waited(&self) -> Option<u64> {
        Some(seconds_between(self.sent?, self.arrival()?.at))
    }
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
        let is_back = |other: &Receipt| matches!(other.state, State::Returned | State::Withdrawn | State::Merged(_));
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
        for receipt in self.list.iter_mut().filter(|receipt| receipt.state == State::Pending) {
            receipt.state = State::Leaving;
        }
        for (agent, pending) in queues.iter().flat_map(|(agent, queue)| queue.iter().map(move |entry| (agent, entry))) {
            let receipt = self.entry(&pending.id, agent, &pending.text, pending.delivery);
            if receipt.arrival().is_none() {
                receipt.state = State::Pending;
                receipt.delivery = pending.delivery;
                receipt.sent.get_or_insert(pending.at);
                if receipt.text != pending.text {
                    receipt.text.clone_from(&pending.text);
                }
            }
        }
    }

    /// Notes that the user has these texts back because their agent was stopped or has ended.
    pub fn returned(&mut self, entries: &[Pending]) {
        self.left(entries.iter().map(|entry| &entry.id), &State::Returned);
    }

    /// Notes that the user took a text back.
    pub fn withdrawn(&mut self, id: &MessageId) {
        self.left([id], &State::Withdrawn);
    }

    /// Notes that a text was joined to another.
    pub fn merged(&mut self, id: &MessageId, into: &MessageId) {
        self.left([id], &State::Merged(into.clone()));
    }

    /// Folds one event in; returns the texts of which something else is true from now on.
    pub fn apply(&mut self, envelope: &Envelope) -> Vec<MessageId> {
        match &envelope.event {
            Event::TurnStarted { turn } => {
                let course = self.course(envelope);
                course.turn = *turn;
                course.tool = None;
            }
            Event::UserTurn { content, mid_loop, injection: Some(id), step, after } => {
                let place = match (mid_loop, after) {
                    (false, _) => Place::TurnStart,
                    (true, Some(tool)) => Place::After(tool.clone()),
                    (true, None) if self.course(envelope).replied => Place::NoCall,
                    (true, None) => Place::Cut,
                };
                self.arrived(envelope, id, content, *step, place);
                return vec![id.clone()];
            }
            Event::Seen { injections, step } => return self.seen(envelope, injections, *step),
            Event::Returned { entries } => self.returned(entries),
            Event::RoundStarted { .. } => self.course(envelope).replied = false,
            Event::Tokens(usage) => {
                self.course(envelope).replied = true;
                self.count(&envelope.agent, usage.context(), usage.cost_nanos);
            }
            Event::ToolCall { name, .. } => {
                let course = self.course(envelope);
                course.counted.retain(|(_, before)| before.as_ref() == Some(name));
                course.tool = Some(name.clone());
            }
            Event::TurnEnded { outcome, .. } => return self.ended(&envelope.agent, why(*outcome)),
            Event::AgentFinished { child, outcome, .. } => return self.ended(child, why(*outcome)),
            Event::Reset {} => return self.reset(&envelope.agent),
            Event::SessionStarted { .. }
            | Event::RoundEnded { .. }
            | Event::UserTurn { injection: None, .. }
            | Event::Parked { .. }
            | Event::Unparked { .. }
            | Event::ThinkingDelta { .. }
            | Event::AssistantDelta { .. }
            | Event::Thinking { .. }
            | Event::Assistant { .. }
            | Event::ToolProgress { .. }
            | Event::ToolDetails { .. }
            | Event::Guards { .. }
            | Event::ToolResult { .. }
            | Event::AgentSpawned { .. }
            | Event::ContextCap { .. }
            | Event::FallbackNotice { .. }
            | Event::Retrying { .. }
            | Event::Cancelled {}
            | Event::Pending { .. }
            | Event::Question { .. }
            | Event::Answer { .. }
            | Event::StepLimit { .. }
            | Event::ModelSwitched { .. }
            | Event::Compacting { .. }
            | Event::Compacted { .. }
            | Event::ContextSize { .. }
            | Event::Notice { .. }
            | Event::History { .. }
            | Event::SessionEnded { .. }
            | Event::Extension { .. }
            | Event::Unknown => {}
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
    fn left<'a>(&mut self, ids: impl IntoIterator<Item = &'a MessageId>, state: &State) {
        for id in ids {
            if let Some(receipt) = self.change(id).filter(|receipt| receipt.arrival().is_none()) {
                receipt.state = state.clone();
            }
        }
    }

    fn course(&mut self, envelope: &Envelope) -> &mut Course {
        let course = self.courses.entry(envelope.agent.clone()).or_default();
        if course.parent != envelope.parent {
            course.parent.clone_from(&envelope.parent);
        }
        course
    }

    fn arrived(&mut self, envelope: &Envelope, id: &MessageId, text: &str, step: u32, place: Place) {
        let course = self.course(envelope);
        let arrival = Arrival { turn: course.turn, step, place, at: envelope.at };
        course.unseen.push(id.clone());
        let before = course.tool.clone();
        course.counted.push((id.clone(), before));
        let receipt = self.entry(id, &envelope.agent, text, Delivery::Steer);
        if receipt.text != text {
            text.clone_into(&mut receipt.text);
        }
        receipt.state = State::Delivered(arrival);
    }

    fn seen(&mut self, envelope: &Envelope, ids: &[MessageId], step: u32) -> Vec<MessageId> {
        let course = self.course(envelope);
        let sight = Sight { turn: course.turn, step, at: envelope.at };
        course.unseen.retain(|id| !ids.contains(id));
        let mut changed = Vec::new();
        for id in ids {
            let Some(receipt) = self.change(id) else { continue };
            if let State::Delivered(arrival) | State::Unseen(arrival, _) = &receipt.state {
                receipt.state = State::Seen(arrival.clone(), sight);
                changed.push(id.clone());
            }
        }
        changed
    }

    fn count(&mut self, agent: &AgentId, tokens: u64, nanos: Option<u64>) {
        let Some(course) = self.courses.get(agent) else { return };
        let add = |sum: Option<u64>, more: u64| Some(sum.unwrap_or(0).saturating_add(more));
        for (id, _) in &course.counted {
            let Some(receipt) = self.places.get(id).and_then(|place| self.list.get_mut(*place)) else { continue };
            let spent = &mut receipt.spent;
            spent.tokens = add(spent.tokens, tokens);
            if let Some(nanos) = nanos {
                spent.nanos = add(spent.nanos, nanos);
            }
        }
    }

    /// Notes the end of an agent's turn, and so of everything beneath it.
    fn ended(&mut self, agent: &AgentId, why: Why) -> Vec<MessageId> {
        let waiting = self.courses.iter().filter(|(_, course)| course.waits()).map(|(id, _)| id);
        let over: Vec<AgentId> = waiting.filter(|id| self.is_within(id, agent)).cloned().collect();
        over.iter().flat_map(|agent| self.unseen(agent, why)).collect()
    }

    /// Tells whether an agent is another one or stands anywhere beneath it.
    fn is_within(&self, agent: &AgentId, other: &AgentId) -> bool {
        let parent = |id: &&AgentId| self.courses.get(*id).and_then(|course| course.parent.as_ref());
        let line = std::iter::successors(Some(agent), parent);
        line.take(limits::AGENT_DEPTH).any(|id| id == other)
    }

    /// Says of every text of the agent that no reply was given to it so far; returns those of which this is news.
    fn unseen(&mut self, agent: &AgentId, why: Why) -> Vec<MessageId> {
        let Some(course) = self.courses.get_mut(agent) else { return Vec::new() };
        course.counted.clear();
        let unseen = course.unseen.clone();
        let mut changed = Vec::new();
        for id in unseen {
            let Some(receipt) = self.change(&id) else { continue };
            if let State::Delivered(arrival) = &receipt.state {
                receipt.state = State::Unseen(arrival.clone(), why);
                changed.push(id);
            }
        }
        changed
    }

    /// Forgets what entered a conversation that is over; what still waits is for the next one.
    pub fn begin_again(&mut self) {
        self.courses.clear();
        self.list.retain(|receipt| matches!(receipt.state, State::Pending | State::Leaving));
        self.places = self.list.iter().enumerate().map(|(place, receipt)| (receipt.id.clone(), place)).collect();
    }

    /// Notes that an agent's conversation was cleared: what no reply was given to is never seen any more.
    fn reset(&mut self, agent: &AgentId) -> Vec<MessageId> {
        let Some(course) = self.courses.get_mut(agent) else { return Vec::new() };
        course.counted.clear();
        let gone = std::mem::take(&mut course.unseen);
        for id in &gone {
            let Some(receipt) = self.change(id) else { continue };
            if let State::Delivered(arrival) | State::Unseen(arrival, _) = &receipt.state {
                receipt.state = State::Unseen(arrival.clone(), Why::Reset);
            }
        }
        gone
    }
}

impl Course {
    fn waits(&self) -> bool {
        !self.unseen.is_empty() || !self.counted.is_empty()
    }
}

fn why(outcome: Outcome) -> Why {
    match outcome {
        Outcome::Cancelled => Why::Cancelled,
        Outcome::Failed => Why::Failed,
        Outcome::Completed | Outcome::Synthesized => Why::Ended,
    }
}
