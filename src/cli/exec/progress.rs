//! The progress of a run without a screen: the main agent's turns, and the delivery of each accepted message.

use std::collections::HashSet;

use super::steering::start_of;
use crate::cli::output::Output;
use crate::event::{Envelope, Event, Outcome};
use crate::id::MessageId;

/// The state of the main agent's turns and of each accepted message; returned messages are reported.
pub(super) struct Progress {
    /// Messages that were accepted and are not yet in the conversation.
    open: HashSet<MessageId>,
    /// Messages that were accepted and start no turn: nothing waits for them.
    beside: HashSet<MessageId>,
    /// Messages that entered the conversation before the queue's answer came.
    early: HashSet<MessageId>,
    running: bool,
    pub outcome: Option<Outcome>,
    err: Output,
}

impl Progress {
    /// Makes the state before the first turn.
    pub fn new(err: Output) -> Self {
        Self { open: HashSet::new(), beside: HashSet::new(), early: HashSet::new(), running: false, outcome: None, err }
    }

    /// Notes that a queue has accepted a message.
    pub fn accepted(&mut self, id: MessageId) {
        if !self.early.remove(&id) {
            self.open.insert(id);
        }
    }

    /// Notes that a queue has accepted a message that starts no turn.
    pub fn accepted_beside(&mut self, id: MessageId) {
        if !self.early.remove(&id) {
            self.beside.insert(id);
        }
    }

    /// Returns whether messages that start no turn wait for one.
    pub fn has_beside(&self) -> bool {
        !self.beside.is_empty()
    }

    fn delivered(&mut self, id: &MessageId) {
        if !self.open.remove(id) && !self.beside.remove(id) {
            self.early.insert(id.clone());
        }
    }

    /// Notes that a message was returned to the user.
    pub fn returned(&mut self, id: &MessageId) {
        self.open.remove(id);
        self.beside.remove(id);
    }

    /// Takes one event; returns the outcome and the message of a turn of the main agent that ended with it.
    pub fn saw<'e>(&mut self, envelope: &'e Envelope) -> Option<(Outcome, Option<&'e str>)> {
        let main = envelope.agent.is_main();
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
            Event::TurnStarted { .. } if main => self.running = true,
            Event::TurnEnded { outcome, message, .. } if main => {
                self.running = false;
                self.outcome = Some(*outcome);
                return Some((*outcome, message.as_deref()));
            }
            _ => {}
        }
        None
    }

    /// Stops waiting for the turn and for messages.
    pub fn give_up(&mut self) {
        self.running = false;
        self.open.clear();
    }

    pub fn is_running(&self) -> bool {
        self.running
    }

    /// Returns whether no turn runs and no message waits for delivery.
    pub fn idle(&self) -> bool {
        !self.running && self.open.is_empty()
    }
}
