//! The texts that wait for delivery, as the user sees them.
//!
//! Fed by snapshots of the queue and by the events that say a text has arrived. Always holds: a text that has left the
//! queue but not yet entered the conversation is still shown, as being delivered; entries are told apart by id alone.

use crate::event::Pending;
use crate::id::{AgentId, MessageId};

/// Holds the shown entries, in order.
#[derive(Debug, Default)]
pub struct PendingList {
    entries: Vec<Entry>,
    /// True when a failed or stopped turn holds the queue back until the user sends again.
    pub paused: bool,
}

/// Is one shown entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The agent that it is for.
    pub agent: AgentId,
    /// What was accepted.
    pub message: Pending,
    /// Where it is.
    pub stage: Stage,
}

/// Says where an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// In the queue.
    Waiting,
    /// Taken by the agent, not yet in the conversation.
    Delivering,
}

impl PendingList {
    /// Returns the entries, those being delivered first.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Tells whether nothing is shown.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Tells whether anything still is in the queue.
    pub fn waiting(&self) -> bool {
        self.entries.iter().any(|entry| entry.stage == Stage::Waiting)
    }

    /// Takes over a snapshot of all queues; what is missing from it is being delivered.
    pub fn snapshot(&mut self, queues: Vec<(AgentId, Vec<Pending>)>, paused: bool) {
        self.paused = paused;
        let mut entries = std::mem::take(&mut self.entries);
        entries.retain_mut(|entry| {
            entry.stage = Stage::Delivering;
            let mut waiting = queues.iter().flat_map(|(_, queue)| queue);
            !waiting.any(|pending| pending.id == entry.message.id)
        });
        for (agent, queue) in queues {
            let waiting = |message| Entry { agent: agent.clone(), message, stage: Stage::Waiting };
            entries.extend(queue.into_iter().map(waiting));
        }
        self.entries = entries;
    }

    /// Forgets an entry: it is in the conversation, or back in the composer.
    pub fn settle(&mut self, id: &MessageId) {
        self.entries.retain(|entry| entry.message.id != *id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Delivery;

    fn pending(id: &str) -> Pending {
        let at = jiff::Timestamp::UNIX_EPOCH;
        Pending { id: id.into(), text: "same".to_owned(), delivery: Delivery::Steer, held: false, stale: false, at }
    }

    fn shown(list: &PendingList) -> Vec<(&str, Stage)> {
        list.entries().iter().map(|entry| (entry.message.id.as_str(), entry.stage)).collect()
    }

    #[test]
    fn an_entry_stays_from_the_drain_to_the_event() {
        let mut list = PendingList::default();
        list.snapshot(vec![(AgentId::main(), vec![pending("m1"), pending("m2")])], false);
        list.snapshot(vec![(AgentId::main(), vec![pending("m3")])], false);
        assert_eq!(shown(&list), [("m1", Stage::Delivering), ("m2", Stage::Delivering), ("m3", Stage::Waiting)]);
        list.settle(&"m1".into());
        assert_eq!(shown(&list), [("m2", Stage::Delivering), ("m3", Stage::Waiting)]);
        list.snapshot(vec![(AgentId::main(), vec![pending("m3")])], false);
        assert_eq!(shown(&list), [("m2", Stage::Delivering), ("m3", Stage::Waiting)]);
    }
}
