//! A journal's records back into the posts that the screen was told, each with its moment.
//!
//! Called by `steersman replay`, and by the exports that are made of the screen. The queues are told as the host told
//! them: from the texts that were accepted, and the agents' own lists.
//!
//! # Where things are
//!
//! - all of it: `mod.rs`; the screen that takes the posts: `src/tui/replay/mod.rs`; tests: `tests/program/sessions/replay.rs`

use std::collections::VecDeque;
use std::iter;

use jiff::Timestamp;

use crate::journal::Record;
use crate::queue_log::QueueLog;
use steersman_base::event::{Envelope, Event, Outcome, Pending, TakenBack};
use steersman_base::id::{AgentId, MessageId};
use steersman_base::protocol::{Notice, Post, QueueAct, QueueOutcome, Reply, Withdrawn};

/// One thing that the screen was told.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    /// The number of the event, or of the one before.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// What.
    pub post: Post,
}

/// Returns what a screen was told, in order.
pub fn moments(records: impl IntoIterator<Item = Record>) -> impl Iterator<Item = Moment> {
    let (mut records, mut fold) = (records.into_iter(), Fold::default());
    iter::from_fn(move || {
        loop {
            if let Some(moment) = fold.moments.pop_front() {
                return Some(moment);
            }
            let Some(record) = records.next() else {
                fold.end_all();
                return fold.moments.pop_front();
            };
            match record {
                Record::Accepted { to, entry } => fold.accept(to, entry),
                Record::TakenBack { texts, why, at } => fold.take_back(&texts, &why, at),
                Record::Event(envelope) => fold.apply(envelope),
                Record::History { replaced, messages } => {
                    fold.queues.add_messages(&AgentId::main(), replaced, &messages);
                }
                Record::AgentHistory { agent, replaced, messages } => {
                    fold.queues.add_messages(&agent, replaced, &messages);
                }
                Record::Run { .. } => fold.queues.begin_run(),
                Record::Session(_)
                | Record::Drafts { .. }
                | Record::Missing { .. }
                | Record::Unattended
                | Record::Unknown => {}
            }
        }
    })
}

#[derive(Default)]
struct Fold {
    /// What follows from the last record.
    moments: VecDeque<Moment>,
    seq: u64,
    queues: QueueLog,
    /// Gone from the list of their queue, and no record has said so far why: the journals of earlier versions have none for a
    /// text that was given back.
    gone: Vec<(AgentId, Pending)>,
    at: Timestamp,
    /// True from a turn of the main agent that failed or was stopped until the next one.
    is_paused: bool,
}

impl Fold {
    fn push(&mut self, at: Timestamp, post: Post) {
        self.moments.push_back(Moment { seq: self.seq, at, post });
    }

    fn push_queues(&mut self, at: Timestamp) {
        self.push(at, Post::Queues { queues: self.queues.queues(), paused: self.is_paused });
    }

    fn accept(&mut self, to: AgentId, entry: Pending) {
        let at = entry.at;
        let (message, outcome) = (entry.message.clone().without_images(), Ok(entry.id.clone()));
        self.queues.accept(&to, entry);
        self.push(at, Post::Reply(Reply::Injected { to, message, outcome }));
        self.push_queues(at);
    }

    /// Tells which texts are the user's again, as the reply to what took them back told it.
    fn take_back(&mut self, texts: &[MessageId], why: &TakenBack, at: Timestamp) {
        let back = self.queues.take_back(texts, why);
        self.gone.retain(|(_, entry)| !texts.contains(&entry.id));
        self.push_queues(at);
        match why {
            TakenBack::Stopped => {
                let entries = back.into_iter().map(|(_, entry)| entry).collect();
                self.push(at, Post::Reply(Reply::Stopped(entries)));
            }
            TakenBack::ToMessage | TakenBack::Removed => {
                let to = if *why == TakenBack::Removed { Withdrawn::Removed } else { Withdrawn::Message };
                for (agent, entry) in back {
                    let act = QueueAct::Withdraw { to, before: Vec::new() };
                    let (id, outcome) = (entry.id.clone(), QueueOutcome::Withdrawn(entry));
                    self.push(at, Post::Reply(Reply::Queue { agent, id, act, outcome }));
                }
            }
            TakenBack::Merged(first) => {
                let Some((_, first)) = self.queues.get(first).cloned() else { return };
                for (agent, second) in back {
                    let outcome = QueueOutcome::Merged(first.clone(), Box::new(second));
                    self.push(
                        at,
                        Post::Reply(Reply::Queue { agent, id: first.id.clone(), act: QueueAct::Merge, outcome }),
                    );
                }
            }
        }
    }

    /// Tells that the texts are the user's again which an agent's queue has no more, and which it did not get by now.
    fn end(&mut self, is_over: impl Fn(&AgentId) -> bool) {
        let over: Vec<Pending> =
            self.gone.extract_if(.., |(agent, _)| is_over(agent)).map(|(_, entry)| entry).collect();
        if !over.is_empty() {
            self.push(self.at, Post::Notice(Notice::Returned(over)));
        }
    }

    /// Tells the same at the end of the journal, of every agent.
    fn end_all(&mut self) {
        self.end(|_| true);
    }

    /// Takes over the list of an agent's queue; returns whether that changed anything.
    fn list(&mut self, agent: &AgentId, entries: &[Pending]) -> bool {
        let waited: Vec<Pending> =
            self.queues.waiting().filter(|(to, _)| to == agent).map(|(_, entry)| entry.clone()).collect();
        let changed = self.queues.list(agent, entries);
        let left = waited.into_iter().filter(|entry| self.queues.get(&entry.id).is_none());
        self.gone.extend(left.map(|entry| (agent.clone(), entry)));
        self.gone.retain(|(_, gone)| entries.iter().all(|entry| entry.id != gone.id));
        changed
    }

    fn apply(&mut self, envelope: Envelope) {
        self.seq = envelope.seq;
        let at = envelope.at;
        self.at = at;
        match &envelope.event {
            // What is to enter a conversation stands in it before the model is asked.
            Event::RoundStarted { .. } | Event::TurnEnded { .. } => self.end(|agent| *agent == envelope.agent),
            Event::AgentFinished { child, .. } => self.end(|agent| agent == child),
            _ => {}
        }
        let changed = match &envelope.event {
            Event::Pending { entries } => self.list(&envelope.agent, entries),
            Event::UserTurn { injection: Some(id), kind, .. } => {
                self.gone.retain(|(_, entry)| entry.id != *id);
                self.queues.deliver(&envelope.agent, id, *kind).is_some()
            }
            Event::Returned { entries } => {
                self.gone.retain(|(_, gone)| entries.iter().all(|entry| entry.id != gone.id));
                self.queues.give_back(entries)
            }
            Event::TurnStarted { .. } if envelope.agent.is_main() => {
                self.queues.begin_turn();
                std::mem::take(&mut self.is_paused)
            }
            Event::TurnEnded { outcome: Outcome::Failed | Outcome::Cancelled, .. } if envelope.agent.is_main() => {
                self.is_paused = true;
                true
            }
            _ => false,
        };
        self.push(at, Post::Envelope(envelope));
        if changed {
            self.push_queues(at);
        }
    }
}
