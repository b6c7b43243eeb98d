//! The progress of a run without a screen: what every client knows of it, and which texts the program waits for.

use std::collections::{BTreeSet, HashSet};

use super::steering::start_of;
use crate::program::cli::output::Output;
use steersman_base::clock;
use steersman_base::event::{Envelope, Event, Outcome};
use steersman_base::id::{AgentId, MessageId};
use steersman_base::protocol::Update;
use steersman_session::model::{PendingStage, PendingText, Receipt, RunState};

/// The state of the run, and the texts that this program sent; returned texts are reported.
pub(super) struct Progress {
    run: RunState,
    /// The texts whose delivery is waited for.
    sent: HashSet<MessageId>,
    /// The sub-agents in the background whose answers are waited for.
    awaited: BTreeSet<AgentId>,
    /// Whether the turns are not waited for any more.
    is_given_up: bool,
    /// How the last turn of the main agent ended.
    pub outcome: Option<Outcome>,
    err: Output,
}

impl Progress {
    /// Makes the state before the first turn.
    pub(super) fn new(err: Output) -> Self {
        Self {
            run: RunState::default(),
            sent: HashSet::new(),
            awaited: BTreeSet::new(),
            is_given_up: false,
            outcome: None,
            err,
        }
    }

    /// Notes anything that is no event.
    pub(super) fn on_update(&mut self, update: &Update) {
        self.run.apply_update(update, clock::now());
    }

    /// Returns the agents that take texts while they run; the main agent first, also while it is idle.
    pub(super) fn addressed(&self) -> Vec<AgentId> {
        let running = self.run.agents.running_nodes().filter(|node| node.takes_messages());
        let others = running.map(|node| node.id.clone()).filter(|id| !id.is_main());
        std::iter::once(AgentId::main()).chain(others).collect()
    }

    /// Returns the agents that a text can name: those that run, and finished ones that it continues.
    pub(super) fn named(&self) -> Vec<AgentId> {
        let continued = self.run.continuable.iter().filter(|agent| self.run.continues(agent)).cloned();
        self.addressed().into_iter().chain(continued).collect()
    }

    /// Waits for the delivery of a text that a queue has accepted.
    pub(super) fn await_delivery(&mut self, id: MessageId) {
        self.sent.insert(id);
    }

    /// Takes one event; returns the outcome and the message of a turn of the main agent that ended with it.
    pub(super) fn saw<'e>(&mut self, envelope: &'e Envelope) -> Option<(Outcome, Option<&'e str>)> {
        let main = envelope.agent.is_main();
        self.run.apply(envelope);
        match &envelope.event {
            Event::Returned { entries } => {
                let why = if main { "not sent".to_owned() } else { format!("not sent, {} has ended", envelope.agent) };
                for entry in entries {
                    self.err.say(&format!("{why}: {}", start_of(&entry.text)));
                }
            }
            Event::AgentBackgrounded { child } => {
                self.awaited.insert(child.clone());
            }
            // Behind a stop the answer waits for the next text.
            Event::AgentAnswered { child, .. } | Event::AgentFinished { child, outcome: Outcome::Cancelled, .. } => {
                self.awaited.remove(child);
            }
            Event::Reset {} if main => self.awaited.clear(),
            Event::TurnEnded { outcome, message, .. } if main => {
                self.outcome = Some(*outcome);
                return Some((*outcome, message.as_deref()));
            }
            _ => {}
        }
        None
    }

    /// Returns the sub-agents in the background whose answers start a turn of the main agent, which has ended its own.
    pub(super) fn awaited(&self) -> impl Iterator<Item = &AgentId> {
        let is_waiting = matches!(self.outcome, Some(Outcome::Completed | Outcome::Synthesized));
        self.awaited.iter().filter(move |_| is_waiting)
    }

    /// Stops waiting for answers of sub-agents: after a stop they start no turn.
    pub(super) fn forget_awaited(&mut self) {
        self.awaited.clear();
    }

    /// Stops waiting for the turn and for messages.
    pub(super) fn give_up(&mut self) {
        self.is_given_up = true;
    }

    /// Returns whether a turn runs, the main agent's or one that the user gave a finished sub-agent.
    pub(super) fn is_running(&self) -> bool {
        (self.run.runs() || self.awaited().next().is_some()) && !self.is_given_up
    }

    /// Returns whether no turn runs and no text is waited for.
    pub(super) fn idle(&self) -> bool {
        self.is_given_up
            || !self.run.runs()
                && self.awaited().next().is_none()
                && !self.sent.iter().any(|id| self.is_on_its_way(id))
                && !self.run.pending.entries().iter().any(|entry| self.comes_of_another(entry))
    }

    /// Tells whether a text that this program sent is still to be delivered by itself.
    fn is_on_its_way(&self, id: &MessageId) -> bool {
        // Before the first snapshot of the queue it is in no list.
        self.run.receipts.get(id).is_none_or(Receipt::is_pending)
            && self.run.pending.get(id).is_none_or(is_delivered_by_itself)
    }

    /// Tells whether a text of another client is still to be delivered by itself.
    fn comes_of_another(&self, entry: &PendingText) -> bool {
        entry.message.sender.is_some()
            && is_delivered_by_itself(entry)
            && (entry.stage == PendingStage::Delivering || !(self.run.pending.paused || entry.message.held))
    }
}

/// Tells whether a pending text waits for nothing but its boundary. An edit can have made it a note.
fn is_delivered_by_itself(entry: &PendingText) -> bool {
    entry.stage == PendingStage::Delivering || entry.message.starts_turn()
}
