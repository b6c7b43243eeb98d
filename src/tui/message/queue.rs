//! Texts that a queue gives out or takes in at the user's wish: where each goes when the queue has replied.

use super::Message;
use super::entry::written;
use super::removed::{Removed, RemovedEntry};
use crate::id::AgentId;
use crate::protocol::{QueueAct, QueueOutcome, Withdrawn};

impl Message {
    /// Takes what became of a change of a pending text. Where its text is the user's now, it goes into the message, or
    /// where it can be brought back from.
    pub fn queue_answered(&mut self, agent: &AgentId, act: &QueueAct, outcome: &QueueOutcome) {
        match (act, outcome) {
            (QueueAct::Withdraw { to, before }, QueueOutcome::Withdrawn(entry)) => {
                let taken = RemovedEntry { agent: agent.clone(), entry: entry.clone(), before: before.clone() };
                match to {
                    Withdrawn::Removed => self.set_aside(Removed::Deleted(taken)),
                    Withdrawn::Message => {
                        self.take_kind_of(std::slice::from_ref(entry));
                        self.put_before_draft(&[written(entry)]);
                        self.set_aside(Removed::TakenBack(taken));
                    }
                }
            }
            (QueueAct::Restore { .. } | QueueAct::Split { .. }, QueueOutcome::Done) => {}
            (QueueAct::Restore { entry, .. }, _) => self.put_before_draft(&[written(entry)]),
            (QueueAct::Split { second, .. }, QueueOutcome::Withdrawn(_)) => {
                self.put_before_draft(std::slice::from_ref(&second.text));
            }
            (QueueAct::Merge, QueueOutcome::Merged(first, second)) => {
                let text = format!("{}\n\n{}", first.text, second.text);
                let (first, second) = (first.clone(), second.as_ref().clone());
                self.set_aside(Removed::Merged { agent: agent.clone(), first, second, text });
            }
            _ => {}
        }
    }
}
