//! The texts of all agents on their way: which wait, which were taken, which are in their conversation, which are the
//! user's again.
//!
//! Filled from what a journal says, record by record, by whoever reads one: a session that goes on, a replay, the index of
//! the sessions. Pure. Always holds: a text is in one stage; one that was delivered, taken back, withdrawn or returned never
//! waits again, whatever the order in which its records were written, until a record says that it was restored.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::journal::Record;
use steersman_base::event::{Event, Pending, TakenBack};
use steersman_base::id::{AgentId, MessageId};
use steersman_base::message::{Message, UserAbout};
use steersman_base::protocol::DraftText;
use steersman_base::steering::TextKind;

/// The pending texts of all agents.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct QueueLog {
    /// In the order of each agent's queue.
    waiting: Vec<(AgentId, Pending)>,
    /// Gone from the list of their queue in this turn and run, and no record has said why. A stop empties the list before the
    /// record of the texts that it gave back is written: a program that is killed between has not lost them.
    gone: Vec<(AgentId, Pending)>,
    delivering: Vec<Delivering>,
    /// Given back to the user, and not sent again since.
    returned: Vec<Pending>,
    /// Those of which newer words stand in the message.
    #[serde(default)]
    edited: Vec<MessageId>,
    /// The texts that have left their queue, and those that a list of a queue has shown.
    settled: HashSet<MessageId>,
    listed: HashSet<MessageId>,
}

/// A text whose delivery was recorded, and its message not yet: a program that is killed between the two has not lost it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Delivering {
    to: AgentId,
    id: MessageId,
    /// The record of a text can come behind the event of its delivery.
    entry: Option<Pending>,
}

/// What a record changed.
#[derive(Debug, Clone, PartialEq)]
pub enum QueueChange {
    /// No text that waits.
    Nothing,
    /// Which texts wait.
    Waiting,
    /// This text waits no more: it enters its conversation.
    Delivered(Pending),
    /// These texts are the user's again.
    TakenBack(Vec<(AgentId, Pending)>),
}

impl QueueLog {
    /// Takes what a record says of texts on their way.
    pub fn apply(&mut self, record: &Record) -> QueueChange {
        let is_changed = match record {
            Record::Accepted { to, entry } => self.accept(to, entry.clone()),
            Record::Restored { to, entry } => self.restore(to, entry.clone()),
            Record::TakenBack { texts, why, .. } => return QueueChange::TakenBack(self.take_back(texts, why)),
            Record::Event(envelope) => match &envelope.event {
                Event::Pending { entries } => self.list(&envelope.agent, entries),
                Event::Returned { entries } => self.give_back(entries),
                Event::UserTurn { injection: Some(id), kind, .. } => {
                    let entry = self.deliver(&envelope.agent, id, *kind);
                    return entry.map_or(QueueChange::Nothing, QueueChange::Delivered);
                }
                Event::TurnStarted { .. } if envelope.agent.is_main() => {
                    // The run went on, and whoever took texts back has them.
                    self.gone.clear();
                    false
                }
                _ => false,
            },
            Record::History { replaced, messages } => {
                self.add_messages(&AgentId::main(), *replaced, messages);
                false
            }
            Record::AgentHistory { agent, replaced, messages } => {
                self.add_messages(agent, *replaced, messages);
                false
            }
            Record::Run { .. } => {
                // The run before it ended, and this one goes on with what that had left.
                self.waiting.append(&mut self.gone);
                self.end_edits();
                false
            }
            Record::Drafts { texts } => {
                self.set_drafts(texts);
                false
            }
            Record::Session(_) | Record::Unattended | Record::Missing { .. } | Record::Unknown => false,
        };
        if is_changed { QueueChange::Waiting } else { QueueChange::Nothing }
    }

    /// Returns the texts that wait in queues, with their agents.
    pub fn waiting(&self) -> impl Iterator<Item = &(AgentId, Pending)> {
        self.waiting.iter()
    }

    /// Returns the texts that have left their queue, and of which no record says why.
    pub fn gone(&self) -> impl Iterator<Item = &(AgentId, Pending)> {
        self.gone.iter()
    }

    /// Returns the texts that wait in queues, agent by agent.
    pub fn queues(&self) -> Vec<(AgentId, Vec<Pending>)> {
        let mut queues: Vec<(AgentId, Vec<Pending>)> = Vec::new();
        for (agent, entry) in &self.waiting {
            match queues.iter_mut().find(|(known, _)| known == agent) {
                Some((_, queue)) => queue.push(entry.clone()),
                None => queues.push((agent.clone(), vec![entry.clone()])),
            }
        }
        queues
    }

    /// Returns the text that waits with this name, and its agent.
    pub fn get(&self, id: &MessageId) -> Option<&(AgentId, Pending)> {
        self.waiting.iter().find(|(_, entry)| entry.id == *id)
    }

    /// Returns how many texts the user has to decide about when nothing more happens.
    pub fn left(&self) -> usize {
        self.delivering.iter().filter(|text| text.entry.is_some()).count()
            + self.waiting.len()
            + self.gone.len()
            + self.returned.len()
    }

    /// Returns those texts: what was being delivered, what waited, what was given back.
    pub fn into_left(mut self) -> Vec<Pending> {
        self.end_edits();
        let delivering = self.delivering.into_iter().filter_map(|text| text.entry);
        let queued = self.waiting.into_iter().chain(self.gone).map(|(_, entry)| entry);
        delivering.chain(queued).chain(self.returned).collect()
    }

    /// Records a text that a queue has accepted; returns whether it waits there from now on.
    fn accept(&mut self, to: &AgentId, entry: Pending) -> bool {
        // What another client writes in the same words is a text of its own.
        let is_again = |earlier: &Pending| {
            earlier.text == entry.text && (entry.sender.is_none() || earlier.sender == entry.sender)
        };
        self.returned.retain(|returned| !is_again(returned));
        self.gone.retain(|(_, gone)| gone.id == entry.id || !is_again(gone));
        if let Some(delivering) = self.delivering.iter_mut().find(|text| text.id == entry.id) {
            delivering.entry = Some(entry);
            return false;
        }
        let is_gone = self.settled.contains(&entry.id) || self.gone.iter().any(|(_, gone)| gone.id == entry.id);
        let is_new = !is_gone && self.get(&entry.id).is_none();
        if is_new {
            self.waiting.push((to.clone(), entry));
        }
        is_new
    }

    /// Records a text that waits again; returns whether that is news.
    fn restore(&mut self, to: &AgentId, entry: Pending) -> bool {
        // The record is written before the text is in the queue, so it has not been delivered yet.
        self.settle(&entry.id);
        self.settled.remove(&entry.id);
        self.waiting.push((to.clone(), entry));
        true
    }

    /// Records the whole queue of an agent; returns whether that changed anything. A text that no list has shown yet may have come behind
    /// this one was made.
    fn list(&mut self, agent: &AgentId, entries: &[Pending]) -> bool {
        let new = entries.iter().map(|entry| &entry.id).filter(|id| !self.settled.contains(*id));
        self.listed.extend(new.cloned().collect::<Vec<_>>());
        let mut before: Vec<Pending> = Vec::new();
        let mut others: Vec<(AgentId, Pending)> = Vec::new();
        let mut unlisted: Vec<Pending> = Vec::new();
        for (to, entry) in self.waiting.drain(..) {
            if to == *agent {
                if !self.listed.contains(&entry.id) {
                    unlisted.push(entry.clone());
                } else if entries.iter().all(|listed| listed.id != entry.id) {
                    self.gone.push((to, entry.clone()));
                }
                before.push(entry);
            } else {
                others.push((to, entry));
            }
        }
        let listed = entries.iter().filter(|entry| !self.settled.contains(&entry.id)).cloned();
        let now: Vec<Pending> = listed.chain(unlisted).collect();
        self.gone.retain(|(_, gone)| entries.iter().all(|listed| listed.id != gone.id));
        let is_news = before != now;
        self.waiting = now.into_iter().map(|entry| (agent.clone(), entry)).chain(others).collect();
        is_news
    }

    /// Records that a text enters the conversation of an agent: its message follows, but not that of a rule, which holds from
    /// here on. Returns the text if it waited.
    fn deliver(&mut self, agent: &AgentId, id: &MessageId, kind: TextKind) -> Option<Pending> {
        let entry = self.settle(id);
        if kind != TextKind::Rule {
            self.delivering.push(Delivering { to: agent.clone(), id: id.clone(), entry: entry.clone() });
        }
        entry
    }

    /// Tells whether a text was delivered whose message was not seen yet.
    pub fn is_delivering(&self) -> bool {
        !self.delivering.is_empty()
    }

    fn settle(&mut self, id: &MessageId) -> Option<Pending> {
        self.settled.insert(id.clone());
        // What is settled never waits again, unless it is restored.
        self.listed.remove(id);
        if let Some(place) = self.returned.iter().position(|entry| entry.id == *id) {
            return Some(self.returned.remove(place));
        }
        let found = |list: &Vec<(AgentId, Pending)>| list.iter().position(|(_, entry)| entry.id == *id);
        if let Some(place) = found(&self.waiting) {
            return Some(self.waiting.remove(place).1);
        }
        found(&self.gone).map(|place| self.gone.remove(place).1)
    }

    /// Records messages of an agent's conversation: the texts among them are delivered.
    fn add_messages(&mut self, agent: &AgentId, replaced: bool, messages: &[Message]) {
        self.delivering
            .retain(|text| text.to != *agent || !(replaced || messages.iter().any(|message| is_of(message, &text.id))));
    }

    /// Records which texts are the user's again; returns them with their agents, as far as they waited. What went into the
    /// message comes back once, if that was not kept any more; what was joined to another is in that.
    fn take_back(&mut self, texts: &[MessageId], why: &TakenBack) -> Vec<(AgentId, Pending)> {
        let known = |id: &MessageId| self.waiting.iter().chain(&self.gone).find(|(_, entry)| entry.id == *id).cloned();
        let taken: Vec<(AgentId, Pending)> = texts.iter().filter_map(known).collect();
        let settled: Vec<Pending> = texts.iter().filter_map(|id| self.settle(id)).collect();
        match why {
            TakenBack::Stopped | TakenBack::ToMessage => self.returned.extend(settled),
            TakenBack::Merged(first) => {
                if let Some((_, first)) = self.waiting.iter_mut().find(|(_, entry)| entry.id == *first) {
                    for (_, second) in &taken {
                        // A list may have said it already.
                        if !ends_in(&first.text, &second.text) {
                            first.text = format!("{}\n\n{}", first.text, second.text);
                            first.images.extend_from_slice(&second.images);
                        }
                    }
                }
            }
            TakenBack::Removed => {}
        }
        taken
    }

    /// Records texts that are the user's again because their agent was stopped or has ended; tells whether any waited.
    fn give_back(&mut self, entries: &[Pending]) -> bool {
        let waited = entries.iter().filter(|entry| self.settle(&entry.id).is_some()).count();
        self.returned.extend(entries.iter().cloned());
        waited > 0
    }

    /// Ends the edits of a program that has ended: what was written is a draft now, and its text waits no more.
    fn end_edits(&mut self) {
        for id in std::mem::take(&mut self.edited) {
            self.settle(&id);
        }
    }

    /// Records what the user is writing: what was given back is in the message again.
    fn set_drafts(&mut self, drafts: &[DraftText]) {
        let is_written = |entry: &Pending| drafts.iter().any(|draft| has_words(&draft.text, &entry.text));
        self.returned.retain(|returned| !is_written(returned));
        self.gone.retain(|(_, gone)| !is_written(gone));
        self.edited = drafts.iter().filter_map(|draft| draft.edits.clone()).collect();
    }
}

/// Tells whether a text ends in this other one, which was joined to it.
fn ends_in(text: &str, other: &str) -> bool {
    text.strip_suffix(other).is_some_and(|before| before.ends_with("\n\n"))
}

/// Tells whether a text has all of this other one, and not only as letters within its words: more may have been typed before
/// it and behind it.
fn has_words(text: &str, other: &str) -> bool {
    let is_apart = |at: usize| {
        let (before, from) = (text.get(..at).unwrap_or_default(), text.get(at + other.len()..).unwrap_or_default());
        !before.ends_with(char::is_alphanumeric) && !from.starts_with(char::is_alphanumeric)
    };
    text.match_indices(other).any(|(at, _)| is_apart(at))
}

/// Tells whether a message is, or may be, this text.
fn is_of(message: &Message, id: &MessageId) -> bool {
    match message {
        Message::User { about, .. } => match about.as_deref() {
            Some(UserAbout::Text(text)) => text.id.as_ref() == Some(id),
            Some(
                UserAbout::Rule(_)
                | UserAbout::Plan(_)
                | UserAbout::Job(_)
                | UserAbout::Agent(_)
                | UserAbout::Kept(_)
                | UserAbout::Images,
            ) => false,
            None => true,
        },
        Message::System { .. } | Message::Assistant(_) | Message::Tool { .. } => false,
    }
}
