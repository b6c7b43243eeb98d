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
use steersman_base::protocol::{Post, QueueAct, QueueOutcome, Reply, Withdrawn};

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
            match records.next()? {
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

    fn apply(&mut self, envelope: Envelope) {
        self.seq = envelope.seq;
        let at = envelope.at;
        let changed = match &envelope.event {
            Event::Pending { entries } => self.queues.list(&envelope.agent, entries),
            Event::UserTurn { injection: Some(id), kind, .. } => {
                self.queues.deliver(&envelope.agent, id, *kind).is_some()
            }
            Event::Returned { entries } => self.queues.give_back(entries),
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
