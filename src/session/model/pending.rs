//! The texts that wait for delivery.
//!
//! Fed by snapshots of the queue and by the events that say a text has arrived. Always holds: a text that has left the
//! queue but not yet entered the conversation is still listed, as being delivered; texts are told apart by id alone.

use steersman_base::event::Pending;
use steersman_base::id::{AgentId, MessageId};

/// The texts that wait for delivery, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PendingTexts {
    entries: Vec<PendingText>,
    /// True when a failed or stopped turn holds the queue back until the user sends again.
    pub paused: bool,
}

/// One text that waits for delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingText {
    /// The agent that it is for.
    pub agent: AgentId,
    /// What was accepted.
    pub message: Pending,
    /// Where it is.
    pub stage: PendingStage,
}

/// Where a pending text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PendingStage {
    /// In the queue.
    Waiting,
    /// Taken by the agent, not yet in the conversation.
    Delivering,
}

impl PendingTexts {
    /// Returns the texts, those being delivered first.
    pub fn entries(&self) -> &[PendingText] {
        &self.entries
    }

    /// Tells whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Tells whether one of them starts a turn when none runs, or is on its way already.
    pub fn starts_turn(&self) -> bool {
        self.entries.iter().any(|entry| entry.stage == PendingStage::Delivering || entry.message.starts_turn())
    }

    /// Returns the texts that are still in a queue.
    pub fn waiting(&self) -> impl Iterator<Item = &PendingText> {
        self.entries.iter().filter(|entry| entry.stage == PendingStage::Waiting)
    }

    /// Tells whether a text is still in a queue that a failed or stopped turn holds back.
    pub fn is_held_back(&self) -> bool {
        self.paused && self.stopped().next().is_some()
    }

    /// Returns the texts that a stop gives back: those that would start a turn.
    pub fn stopped(&self) -> impl Iterator<Item = &PendingText> {
        self.waiting().filter(|entry| entry.message.starts_turn())
    }

    /// Returns the text with this id.
    pub fn get(&self, id: &MessageId) -> Option<&PendingText> {
        self.entries.iter().find(|entry| entry.message.id == *id)
    }

    /// Returns the place of the text with this id.
    pub fn index_of(&self, id: &MessageId) -> Option<usize> {
        self.entries.iter().position(|entry| entry.message.id == *id)
    }

    /// Returns the ids that stand before a text in its own queue.
    pub fn before(&self, id: &MessageId) -> Vec<MessageId> {
        let Some(agent) = self.get(id).map(|entry| &entry.agent) else { return Vec::new() };
        let queue = self.waiting().filter(|entry| entry.agent == *agent);
        queue.map(|entry| entry.message.id.clone()).take_while(|other| other != id).collect()
    }

    /// Returns the text behind this one in the same queue.
    pub fn behind(&self, id: &MessageId) -> Option<&PendingText> {
        let agent = &self.get(id)?.agent;
        let mut queue = self.waiting().filter(|entry| entry.agent == *agent);
        queue.find(|entry| entry.message.id == *id)?;
        queue.next()
    }

    /// Takes over a snapshot of all queues; what is missing from it is being delivered.
    pub fn snapshot(&mut self, queues: &[(AgentId, Vec<Pending>)], paused: bool) {
        self.paused = paused;
        self.entries.retain_mut(|entry| {
            entry.stage = PendingStage::Delivering;
            let mut waiting = queues.iter().flat_map(|(_, queue)| queue);
            !waiting.any(|pending| pending.id == entry.message.id)
        });
        for (agent, queue) in queues {
            let waiting = |message: &Pending| PendingText {
                agent: agent.clone(),
                message: message.clone(),
                stage: PendingStage::Waiting,
            };
            self.entries.extend(queue.iter().map(waiting));
        }
    }

    /// Forgets a text: it is in the conversation, or the user's again.
    pub fn remove(&mut self, id: &MessageId) {
        self.entries.retain(|entry| entry.message.id != *id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pending(id: &str) -> Pending {
        let at = jiff::Timestamp::UNIX_EPOCH;
        Pending::new(id.into(), "same", at)
    }

    fn shown(list: &PendingTexts) -> Vec<(&str, PendingStage)> {
        list.entries().iter().map(|entry| (entry.message.id.as_str(), entry.stage)).collect()
    }

    #[test]
    fn a_text_stays_from_the_drain_to_the_event() {
        use PendingStage::{Delivering, Waiting};
        let mut list = PendingTexts::default();
        list.snapshot(&[(AgentId::main(), vec![pending("m1"), pending("m2")])], false);
        list.snapshot(&[(AgentId::main(), vec![pending("m3")])], false);
        assert_eq!(shown(&list), [("m1", Delivering), ("m2", Delivering), ("m3", Waiting)]);
        list.remove(&"m1".into());
        assert_eq!(shown(&list), [("m2", Delivering), ("m3", Waiting)]);
        list.snapshot(&[(AgentId::main(), vec![pending("m3")])], false);
        assert_eq!(shown(&list), [("m2", Delivering), ("m3", Waiting)]);
    }
}
