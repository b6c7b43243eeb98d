//! Random lives of three agents' texts, cut at every record: what a session goes on with there is what a plain list says.

use jiff::Timestamp;
use proptest::prelude::*;
use steersman_base::event::{Envelope, Event, Pending, TakenBack};
use steersman_base::id::{AgentId, MessageId};
use steersman_base::message::{DeliveredText, Message, UserAbout};
use steersman_base::protocol::DraftText;
use steersman_base::steering::TextKind;
use steersman_session::journal::{Record, restore};
use steersman_session::queue_log::QueueLog;

use crate::support::journals::entry;

/// Where a text is, as the plain list tells it.
#[derive(Debug, Clone, PartialEq)]
enum Place {
    Waiting,
    Entering,
    Back,
}

/// One text that is not done with.
#[derive(Debug, Clone)]
struct Text {
    agent: usize,
    entry: Pending,
    place: Place,
}

/// A life: its records, and behind each of them what is left.
#[derive(Default)]
struct Life {
    records: Vec<Record>,
    left: Vec<Vec<(MessageId, String)>>,
    texts: Vec<Text>,
    number: u64,
}

fn agent(number: usize) -> AgentId {
    [AgentId::main(), AgentId::new("miner 0"), AgentId::new("miner 1")][number].clone()
}

impl Life {
    fn record(&mut self, record: Record) {
        self.records.push(record);
        let mut left: Vec<(MessageId, String)> =
            self.texts.iter().map(|text| (text.entry.id.clone(), text.entry.text.clone())).collect();
        left.sort();
        self.left.push(left);
    }

    fn event(&mut self, of: usize, event: Event) {
        let seq = self.records.len() as u64 + 1;
        let parent = (of > 0).then(AgentId::main);
        let envelope = Envelope { seq, at: Timestamp::UNIX_EPOCH, agent: agent(of), parent, event };
        self.record(Record::Event(envelope));
    }

    /// Says the queue of an agent as it is.
    fn list(&mut self, of: usize) {
        let waits = |text: &&Text| text.agent == of && text.place != Place::Back;
        let entries = self.texts.iter().filter(waits).map(|text| text.entry.clone()).collect();
        self.event(of, Event::Pending { entries });
    }

    fn accept(&mut self, of: usize, text: &str) -> MessageId {
        self.number += 1;
        let entry = entry(&format!("m{}", self.number), text);
        self.texts.retain(|known| known.place != Place::Back || known.entry.text != text);
        self.texts.push(Text { agent: of, entry: entry.clone(), place: Place::Waiting });
        self.record(Record::Accepted { to: agent(of), entry: entry.clone() });
        entry.id
    }

    fn restore(&mut self, of: usize, entry: Pending) {
        self.texts.retain(|text| text.entry.id != entry.id);
        self.texts.push(Text { agent: of, entry: entry.clone(), place: Place::Waiting });
        self.record(Record::Restored { to: agent(of), entry });
    }

    /// Returns the place of the text that a number chooses among those that wait.
    fn chosen(&self, number: usize) -> Option<usize> {
        let waiting: Vec<usize> =
            (0..self.texts.len()).filter(|index| self.texts[*index].place == Place::Waiting).collect();
        (!waiting.is_empty()).then(|| waiting[number % waiting.len()])
    }

    fn enter(&mut self, index: usize) {
        self.texts[index].place = Place::Entering;
        let Text { agent: of, entry, .. } = self.texts[index].clone();
        self.event(
            of,
            Event::UserTurn {
                content: entry.text.clone(),
                mid_loop: false,
                injection: Some(entry.id.clone()),
                step: 0,
                after: None,
                sender: None,
                kind: TextKind::Add,
                met: None,
                images: Vec::new(),
            },
        );
    }

    /// The message of a text that entered is in the conversation.
    fn converse(&mut self, id: &MessageId) {
        let Some(index) = self.texts.iter().position(|text| text.entry.id == *id) else { return };
        let Text { agent: of, entry, .. } = self.texts.remove(index);
        let about = DeliveredText {
            id: Some(entry.id),
            kind: TextKind::Add,
            words: None,
            turn: 1,
            round: 1,
            begins_turn: true,
        };
        let about = Some(Box::new(UserAbout::Text(about)));
        let messages = vec![Message::User { content: entry.message.text, images: Vec::new(), about }];
        let record = if of == 0 {
            Record::History { replaced: false, messages }
        } else {
            Record::AgentHistory { agent: agent(of), replaced: false, messages }
        };
        self.record(record);
    }

    #[allow(clippy::too_many_lines)] // One arm for each thing that can happen.
    fn step(&mut self, what: usize, of: usize, which: usize) {
        let at = Timestamp::UNIX_EPOCH;
        match what {
            // A text, with its list behind it or not yet.
            0 | 1 => {
                let text = format!("text {} of {of}.", self.number + 1);
                self.accept(of, &text);
                if what == 1 {
                    self.list(of);
                }
            }
            // It enters the conversation; the list may come before the message, or after it.
            2 | 3 => {
                let Some(index) = self.chosen(which) else { return };
                let (id, of) = (self.texts[index].entry.id.clone(), self.texts[index].agent);
                self.enter(index);
                if what == 2 {
                    self.list(of);
                }
                self.converse(&id);
                self.list(of);
            }
            // It is changed.
            4 => {
                let Some(index) = self.chosen(which) else { return };
                self.texts[index].entry.text.push_str(" Changed.");
                self.list(self.texts[index].agent);
            }
            // It goes back into the message, is written there, and perhaps sent again.
            5 | 6 => {
                let Some(index) = self.chosen(which) else { return };
                let Text { agent: of, entry, .. } = self.texts[index].clone();
                self.texts[index].place = Place::Back;
                if which.is_multiple_of(2) {
                    // The list says it first: until the rest is told it may be anywhere.
                    self.list(of);
                }
                self.record(Record::TakenBack { texts: vec![entry.id.clone()], why: TakenBack::ToMessage, at });
                if what == 5 {
                    self.texts.retain(|text| text.entry.id != entry.id);
                    let draft = DraftText {
                        to: agent(of),
                        text: entry.message.text,
                        kind: TextKind::Add,
                        edits: None,
                        images: Vec::new(),
                        sender: None,
                    };
                    self.record(Record::Drafts { texts: vec![draft] });
                } else {
                    self.accept(of, &entry.text);
                }
                self.list(of);
            }
            // It is removed.
            7 => {
                let Some(index) = self.chosen(which) else { return };
                let Text { agent: of, entry, .. } = self.texts.remove(index);
                self.record(Record::TakenBack { texts: vec![entry.id], why: TakenBack::Removed, at });
                self.list(of);
            }
            // It is joined to another of the same agent.
            8 => {
                let Some(index) = self.chosen(which) else { return };
                let of = self.texts[index].agent;
                let is_other = |(place, text): &(usize, &Text)| {
                    *place != index && text.agent == of && text.place == Place::Waiting
                };
                let Some((first, _)) = self.texts.iter().enumerate().find(is_other) else { return };
                let second = self.texts[index].entry.clone();
                let first_id = self.texts[first].entry.id.clone();
                let joined = format!("{}\n\n{}", self.texts[first].entry.text, second.text);
                self.texts[first].entry.text = joined;
                self.texts.remove(index);
                self.record(Record::TakenBack { texts: vec![second.id], why: TakenBack::Merged(first_id), at });
                self.list(of);
            }
            // Everything is stopped.
            9 => {
                let waiting = self.texts.iter_mut().filter(|text| text.place == Place::Waiting);
                let texts: Vec<MessageId> = waiting
                    .map(|text| {
                        text.place = Place::Back;
                        text.entry.id.clone()
                    })
                    .collect();
                self.record(Record::TakenBack { texts, why: TakenBack::Stopped, at });
                (0..3).for_each(|of| self.list(of));
            }
            // It is removed, and the user brings it back.
            11 => {
                let Some(index) = self.chosen(which) else { return };
                let Text { agent: of, entry, .. } = self.texts.remove(index);
                self.record(Record::TakenBack { texts: vec![entry.id.clone()], why: TakenBack::Removed, at });
                self.list(of);
                self.restore(of, entry);
                self.list(of);
            }
            // Everything is stopped, or the program ends: what is left waits again for the main agent.
            12 => {
                if which.is_multiple_of(2) {
                    self.step(9, of, which);
                } else {
                    self.record(Record::Run { pid: 1, program: "steersman".to_owned(), at });
                }
                let left: Vec<Pending> = self.texts.iter().map(|text| text.entry.clone()).collect();
                for mut entry in left {
                    entry.held = true;
                    self.restore(0, entry);
                }
                (0..3).for_each(|of| self.list(of));
            }
            // An agent ends: what waited for it comes back.
            _ => {
                let waiting = self.texts.iter_mut().filter(|text| text.place == Place::Waiting && text.agent == of);
                let entries: Vec<Pending> = waiting
                    .map(|text| {
                        text.place = Place::Back;
                        text.entry.clone()
                    })
                    .collect();
                self.event(of, Event::Returned { entries });
                self.list(of);
            }
        }
    }
}

fn left(records: &[Record]) -> Vec<(MessageId, String)> {
    let pending = restore(records.to_vec()).unfinished.pending;
    let mut left: Vec<(MessageId, String)> = pending.into_iter().map(|entry| (entry.id, entry.message.text)).collect();
    left.sort();
    left
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_life_that_is_cut_behind_any_record_leaves_what_a_plain_list_says(
        steps in prop::collection::vec((0_usize..13, 0_usize..3, 0_usize..100), 1..40)
    ) {
        let mut life = Life::default();
        for (what, of, which) in steps {
            life.step(what, of, which);
        }
        for cut in 1..=life.records.len() {
            prop_assert_eq!(&left(&life.records[..cut]), &life.left[cut - 1], "cut behind {:?}", life.records[cut - 1]);
        }
    }

    /// The record of a text is written by another thread than the events: it may come late, but nothing comes twice for it.
    #[test]
    fn a_record_of_a_text_that_comes_late_changes_nothing_of_the_end(
        steps in prop::collection::vec((0_usize..5, 0_usize..3, 0_usize..100), 1..30),
        late in prop::collection::vec(0_usize..4, 40),
    ) {
        let mut life = Life::default();
        for (what, of, which) in steps {
            life.step(what, of, which);
        }
        let mut records = life.records.clone();
        for (number, by) in late.iter().enumerate() {
            let id: MessageId = format!("m{}", number + 1).as_str().into();
            let is_it = |record: &Record| matches!(record, Record::Accepted { entry, .. } if entry.id == id);
            let Some(place) = records.iter().position(is_it) else { continue };
            let to = (place + by).min(records.len() - 1);
            let record = records.remove(place);
            records.insert(to, record);
        }
        let ids = |left: Vec<(MessageId, String)>| left.into_iter().map(|(id, _)| id).collect::<Vec<_>>();
        prop_assert_eq!(ids(left(&records)), ids(life.left.last().cloned().unwrap_or_default()));
    }
}

#[test]
fn a_text_of_which_newer_words_were_being_written_is_the_draft_alone_when_the_program_was_killed() {
    let draft = |edits: Option<MessageId>| DraftText {
        to: AgentId::main(),
        text: "edit me CHANGED".to_owned(),
        kind: TextKind::Add,
        edits,
        images: Vec::new(),
        sender: None,
    };
    let left = |drafts: &[Vec<DraftText>]| {
        let mut log = QueueLog::default();
        log.apply(&Record::Accepted { to: AgentId::main(), entry: entry("m16", "edit me") });
        for texts in drafts {
            log.apply(&Record::Drafts { texts: texts.clone() });
        }
        log.into_left().len()
    };
    let edited = vec![draft(Some("m16".into()))];
    assert_eq!(left(std::slice::from_ref(&edited)), 0);
    assert_eq!(left(&[edited, Vec::new()]), 1, "the edit was left");
    assert_eq!(left(&[vec![DraftText { text: "another".to_owned(), ..draft(None) }]]), 1);
}

/// A text may stand within another one by chance.
#[test]
fn a_short_text_that_others_contain_is_not_lost() {
    let id = |id: &str| MessageId::from(id);
    let mut log = QueueLog::default();
    log.apply(&Record::Accepted { to: AgentId::main(), entry: entry("m1", "look closer") });
    log.apply(&Record::Accepted { to: AgentId::main(), entry: entry("m2", "look") });
    log.apply(&Record::TakenBack {
        texts: vec![id("m2")],
        why: TakenBack::Merged(id("m1")),
        at: Timestamp::UNIX_EPOCH,
    });
    let left = |log: QueueLog| log.into_left().into_iter().map(|entry| entry.text.clone()).collect::<Vec<_>>();
    assert_eq!(left(log), ["look closer\n\nlook"]);
    for (draft, expected) in [("look", 1), ("woken", 1), ("ok", 0), ("first\nok\n\nlast", 0), ("ok, then", 0)] {
        let mut log = QueueLog::default();
        log.apply(&Record::Accepted { to: AgentId::main(), entry: entry("m1", "ok") });
        log.apply(&Record::TakenBack { texts: vec![id("m1")], why: TakenBack::ToMessage, at: Timestamp::UNIX_EPOCH });
        let texts = vec![DraftText {
            to: AgentId::main(),
            text: draft.to_owned(),
            kind: TextKind::Add,
            edits: None,
            images: Vec::new(),
            sender: None,
        }];
        log.apply(&Record::Drafts { texts });
        assert_eq!(left(log).len(), expected, "{draft}");
    }
    for (sender, expected) in [(None, 1), (Some("inject"), 2)] {
        let mut log = QueueLog::default();
        log.apply(&Record::Accepted { to: AgentId::main(), entry: entry("m1", "ok") });
        log.apply(&Record::TakenBack { texts: vec![id("m1")], why: TakenBack::ToMessage, at: Timestamp::UNIX_EPOCH });
        let mut again = entry("m2", "ok");
        again.message.sender = sender.map(Into::into);
        log.apply(&Record::Accepted { to: AgentId::main(), entry: again });
        assert_eq!(left(log).len(), expected, "{sender:?}");
    }
}
