//! A journal's records back into the updates that the screen was told, each with its moment.
//!
//! Called by `steersman replay`, and by the exports that are made of the screen. The queues are told as the host told
//! them: from the texts that were accepted, and the agents' own lists.
//!
//! # Where things are
//!
//! - all of it: `mod.rs`; the screen that takes the updates: `src/tui/replay/mod.rs`; tests: `tests/program/sessions/replay.rs`

use std::collections::{HashSet, VecDeque};
use std::iter;

use jiff::Timestamp;

use crate::journal::Record;
use crate::queue_log::{QueueChange, QueueLog};
use steersman_base::event::{Envelope, Event, Outcome, Pending, TakenBack};
use steersman_base::id::{AgentId, MessageId};
use steersman_base::protocol::{Notice, QueueOperation, QueueOutcome, Reply, Update, Withdrawn};

/// One thing that the screen was told.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    /// The number of the event, or of the one before.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// What.
    pub update: Update,
}

/// Returns what a screen was told, in order.
pub fn moments(records: impl IntoIterator<Item = Record>) -> impl Iterator<Item = Moment> {
    let (mut records, mut reducer) = (records.into_iter(), ReplayReducer::default());
    iter::from_fn(move || {
        loop {
            if let Some(moment) = reducer.moments.pop_front() {
                return Some(moment);
            }
            let Some(record) = records.next() else {
                reducer.end(|_| true);
                return reducer.moments.pop_front();
            };
            reducer.add(record);
        }
    })
}

#[derive(Default)]
struct ReplayReducer {
    /// What follows from the last record.
    moments: VecDeque<Moment>,
    seq: u64,
    queues: QueueLog,
    /// The texts that left their queue without a word, and of which that was told: the journals of earlier versions have none
    /// for a text that was given back.
    ended: HashSet<MessageId>,
    at: Timestamp,
    /// True from a turn of the main agent that failed or was stopped until the next one.
    is_paused: bool,
}

impl ReplayReducer {
    fn push(&mut self, at: Timestamp, update: Update) {
        self.moments.push_back(Moment { seq: self.seq, at, update });
    }

    fn push_queues(&mut self, at: Timestamp) {
        self.push(at, Update::Queues { queues: self.queues.queues(), paused: self.is_paused });
    }

    fn add(&mut self, record: Record) {
        let change = self.queues.apply(&record);
        match (record, change) {
            (Record::Accepted { to, entry }, _) => self.accept(to, entry),
            (Record::Restored { entry, .. }, _) => self.push_queues(entry.at),
            (Record::TakenBack { why, at, .. }, QueueChange::TakenBack(back)) => self.take_back(back, &why, at),
            (Record::Event(envelope), change) => self.apply(envelope, change != QueueChange::Nothing),
            _ => {}
        }
    }

    fn accept(&mut self, to: AgentId, entry: Pending) {
        let Pending { id, at, message, .. } = entry;
        let message = message.without_images();
        self.push(at, Update::Reply(Reply::Injected { to, message, outcome: Ok(id) }));
        self.push_queues(at);
    }

    /// Tells which texts are the user's again, as the reply to what took them back told it.
    fn take_back(&mut self, back: Vec<(AgentId, Pending)>, why: &TakenBack, at: Timestamp) {
        self.push_queues(at);
        match why {
            TakenBack::Stopped => {
                let entries = back.into_iter().map(|(_, entry)| entry).collect();
                self.push(at, Update::Reply(Reply::Stopped(entries)));
            }
            TakenBack::ToMessage | TakenBack::Removed => {
                let to = if *why == TakenBack::Removed { Withdrawn::Removed } else { Withdrawn::Message };
                for (agent, entry) in back {
                    let operation = QueueOperation::Withdraw { to, before: Vec::new() };
                    let (id, outcome) = (entry.id.clone(), QueueOutcome::Withdrawn(entry));
                    self.push(at, Update::Reply(Reply::Queue { agent, id, operation, outcome }));
                }
            }
            TakenBack::Merged(first) => {
                let Some((_, first)) = self.queues.get(first).cloned() else { return };
                for (agent, second) in back {
                    let outcome = QueueOutcome::Merged(first.clone(), Box::new(second));
                    self.push(
                        at,
                        Update::Reply(Reply::Queue {
                            agent,
                            id: first.id.clone(),
                            operation: QueueOperation::Merge,
                            outcome,
                        }),
                    );
                }
            }
        }
    }

    /// Tells that the texts are the user's again which have left an agent's queue, and which it did not get by now.
    fn end(&mut self, is_over: impl Fn(&AgentId) -> bool) {
        let gone = self.queues.gone().filter(|(agent, entry)| is_over(agent) && !self.ended.contains(&entry.id));
        let over: Vec<Pending> = gone.map(|(_, entry)| entry.clone()).collect();
        if !over.is_empty() {
            self.ended.extend(over.iter().map(|entry| entry.id.clone()));
            self.push(self.at, Update::Notice(Notice::Returned(over)));
        }
    }

    fn apply(&mut self, envelope: Envelope, is_changed: bool) {
        self.seq = envelope.seq;
        let at = envelope.at;
        self.at = at;
        match &envelope.event {
            // What is to enter a conversation stands in it before the model is asked.
            Event::RoundStarted { .. } | Event::TurnEnded { .. } => self.end(|agent| *agent == envelope.agent),
            Event::AgentFinished { child, .. } => self.end(|agent| agent == child),
            _ => {}
        }
        let was_paused = self.is_paused;
        if envelope.agent.is_main() {
            match &envelope.event {
                Event::TurnStarted { .. } => self.is_paused = false,
                Event::TurnEnded { outcome: Outcome::Failed | Outcome::Cancelled, .. } => self.is_paused = true,
                _ => {}
            }
        }
        self.push(at, Update::Envelope(envelope));
        if is_changed || self.is_paused != was_paused {
            self.push_queues(at);
        }
    }
}
