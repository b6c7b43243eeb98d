//! The progress of a run without a screen: the turns, as every client knows them, and the delivery of each accepted message.

use std::collections::HashSet;

use super::steering::start_of;
use crate::program::cli::output::Output;
use steersman_base::clock;
use steersman_base::event::{Envelope, Event, Outcome};
use steersman_base::id::{AgentId, MessageId};
use steersman_base::protocol::Post;
use steersman_session::fold::RunState;

/// The state of the turns and of each accepted message; returned messages are reported.
pub(super) struct Progress {
    run: RunState,
    /// Messages that were accepted and are not yet in the conversation.
    open: HashSet<MessageId>,
    /// Messages that entered the conversation before the queue's answer came.
    early: HashSet<MessageId>,
    /// Whether the turns are not waited for any more.
    is_given_up: bool,
    /// How the last turn of the main agent ended.
    pub outcome: Option<Outcome>,
    err: Output,
}

impl Progress {
    /// Makes the state before the first turn.
    pub fn new(err: Output) -> Self {
        let (open, early) = (HashSet::new(), HashSet::new());
        Self { run: RunState::default(), open, early, is_given_up: false, outcome: None, err }
    }

    /// Notes anything that is no event.
    pub fn on_post(&mut self, post: &Post) {
        self.run.post(post, clock::now());
    }

    /// Returns the agents that take texts while they run; the main agent first, also while it is idle.
    pub fn addressed(&self) -> Vec<AgentId> {
        let running = self.run.agents.running_nodes().filter(|node| node.takes_messages());
        let others = running.map(|node| node.id.clone()).filter(|id| !id.is_main());
        std::iter::once(AgentId::main()).chain(others).collect()
    }

    /// Returns the agents that a text can name: those that run, and finished ones that it continues.
    pub fn named(&self) -> Vec<AgentId> {
        let continued = self.run.continuable.iter().filter(|agent| self.run.continues(agent)).cloned();
        self.addressed().into_iter().chain(continued).collect()
    }

    /// Notes that a queue has accepted a message.
    pub fn accepted(&mut self, id: MessageId) {
        if !self.early.remove(&id) {
            self.open.insert(id);
        }
    }

    /// Notes that a queue has accepted a message that starts no turn: nothing waits for it.
    pub fn accepted_beside(&mut self, id: &MessageId) {
        self.early.remove(id);
    }

    fn delivered(&mut self, id: &MessageId) {
        if !self.open.remove(id) {
            self.early.insert(id.clone());
        }
    }

    /// Notes that a message was returned to the user.
    pub fn returned(&mut self, id: &MessageId) {
        self.open.remove(id);
    }

    /// Takes one event; returns the outcome and the message of a turn of the main agent that ended with it.
    pub fn saw<'e>(&mut self, envelope: &'e Envelope) -> Option<(Outcome, Option<&'e str>)> {
        let main = envelope.agent.is_main();
        self.run.apply(envelope);
        match &envelope.event {
            Event::UserTurn { injection: Some(id), .. } => self.delivered(id),
            Event::Returned { entries } => {
                for entry in entries {
                    self.returned(&entry.id);
                    let why =
                        if main { "not sent".to_owned() } else { format!("not sent, {} has ended", envelope.agent) };
                    self.err.say(&format!("{why}: {}", start_of(&entry.text)));
                }
            }
            Event::TurnEnded { outcome, message, .. } if main => {
                self.outcome = Some(*outcome);
                return Some((*outcome, message.as_deref()));
            }
            _ => {}
        }
        None
    }

    /// Stops waiting for the turn and for messages.
    pub fn give_up(&mut self) {
        self.is_given_up = true;
        self.open.clear();
    }

    /// Returns whether a turn runs, the main agent's or one that the user gave a finished sub-agent.
    pub fn is_running(&self) -> bool {
        self.run.runs() && !self.is_given_up
    }

    /// Returns whether no turn runs and no message waits for delivery.
    pub fn idle(&self) -> bool {
        !self.is_running() && self.open.is_empty()
    }
}
