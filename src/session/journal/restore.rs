//! A journal's records back into what a session goes on with: the conversation, the transcript, the texts that wait.
//!
//! Called when a session is resumed, part by part, so that its whole length is never in memory. Whatever was open when
//! its program ended is closed as interrupted, and nothing that waits is sent by itself.

use std::fs::File;
use std::{fmt, io};

use crate::host::{Numbers, ResumeSource, Resumed};
use crate::journal::SessionFile;
use crate::journal::reader::Records;
use crate::journal::record::Record;
use crate::journal::restore_agents::AgentsReducer;
use crate::journal::restore_questions::QuestionsReducer;
use crate::model::{AgentPlan, PlanList};
use crate::open_items::OpenItems;
use crate::queue_log::{QueueChange, QueueLog};
use jiff::Timestamp;
use steersman_base::details::UndoneFile;
use steersman_base::event::{Envelope, Event, Outcome, Pending, TakenBack};
use steersman_base::id::{AgentId, MessageId};
use steersman_base::limits;
use steersman_base::message::Message;
use steersman_base::protocol::{DraftText, SettledText, Unfinished};
use steersman_base::steering::{Rule, RuleScope, TextKind};

/// Why what was open has ended.
const INTERRUPTED: &str = "interrupted when the program ended";

/// Why what was open has ended where a branch begins.
const LEFT: &str = "left behind: this session branches here";

/// Returns what a session goes on with.
pub fn restore(records: Vec<Record>) -> Resumed {
    restore_as(records, INTERRUPTED)
}

/// Returns what a branch begins with; what was open is left, not interrupted.
pub fn restore_left(records: Vec<Record>) -> Resumed {
    restore_as(records, LEFT)
}

fn restore_as(records: Vec<Record>, why: &'static str) -> Resumed {
    let mut reducer = RestoreReducer::default();
    let envelopes = records.into_iter().filter_map(|record| reducer.add(record)).collect();
    Resumed { envelopes, ..reducer.resumed(why) }
}

/// A session that goes on, read from its journal part by part.
pub struct PreviousRun {
    records: Records<File>,
    reducer: RestoreReducer,
}

impl PreviousRun {
    /// Reads the journal of a session as far as it is written now.
    ///
    /// # Errors
    /// As [`SessionFile::read`].
    pub fn from_file(file: &SessionFile) -> io::Result<Self> {
        Ok(Self { records: file.records()?, reducer: RestoreReducer::default() })
    }
}

impl fmt::Debug for PreviousRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EarlierRun(up to record {})", self.records.last_number())
    }
}

impl ResumeSource for PreviousRun {
    fn events(&mut self) -> io::Result<Vec<Envelope>> {
        let mut events = Vec::new();
        while events.len() < limits::RESUME_EVENTS
            && let Some(record) = self.records.next()
        {
            events.extend(self.reducer.add(record?));
        }
        Ok(events)
    }

    fn resumed(self: Box<Self>) -> Resumed {
        let notes = self.records.damage().sentence().into_iter().collect();
        Resumed { notes, ..self.reducer.resumed(INTERRUPTED) }
    }
}

/// Tells whether a text is this draft: the same client sent it to the same agent, perhaps behind a command, or out of a
/// message that names another one before it.
fn was_sent(draft: &DraftText, to: &AgentId, entry: &Pending) -> bool {
    let Some(before) = draft.text.trim_end().strip_suffix(entry.text.trim_end()) else { return false };
    let before = before.trim();
    let is_to_it = before.is_empty() || before.starts_with(['/', '>', '\\']);
    draft.sender == entry.sender && ((is_to_it && draft.to == *to) || before.starts_with('@'))
}

#[derive(Default)]
struct RestoreReducer {
    messages: Vec<Message>,
    agents: AgentsReducer,
    questions: QuestionsReducer,
    /// What has begun and not ended.
    open: OpenItems,
    queues: QueueLog,
    /// What the user was writing, and has not sent since.
    drafts: Vec<DraftText>,
    /// Undos behind the last message, with which the model would have been told.
    undone: Vec<(Option<u32>, Vec<UndoneFile>)>,
    /// The rules that hold; `None` while none was set.
    rules: Option<Vec<Rule>>,
    plans: PlanList,
    /// What became of texts that were never delivered, in the order in which they left their queues.
    settled: Vec<SettledText>,
    /// When the texts were sent.
    sent: Vec<(MessageId, Timestamp)>,
    /// Whether the task of the main agent waits for an answer; `None` while it has none.
    task_open: Option<bool>,
    numbers: Numbers,
}

impl RestoreReducer {
    /// Takes a record; returns what is to be shown of it.
    fn add(&mut self, record: Record) -> Option<Envelope> {
        let change = self.queues.apply(&record);
        match record {
            Record::History { replaced, messages } => {
                if replaced {
                    self.messages.clear();
                } else {
                    self.agents.main_says(&messages);
                }
                self.messages.extend(messages);
            }
            Record::AgentHistory { agent, replaced, messages } => self.agents.say(&agent, replaced, messages),
            Record::Accepted { to, entry } => self.accept(&to, &entry),
            Record::Event(envelope) => return self.apply(envelope, change),
            Record::Drafts { texts } => self.drafts = texts,
            Record::TakenBack { why, .. } => {
                if let QueueChange::TakenBack(texts) = change {
                    self.settle(texts, &why);
                }
            }
            Record::Restored { entry, .. } => self.settled.retain(|settled| settled.entry.id != entry.id),
            Record::Run { .. } | Record::Session(_) | Record::Unattended | Record::Missing { .. } | Record::Unknown => {
            }
        }
        None
    }

    /// Returns what the session goes on with after all records; what is open has ended because of this.
    fn resumed(self, why: &str) -> Resumed {
        let (interrupted, closing) = (self.open.agents(), self.open.closing(why));
        let pending = self.queues.into_left();
        let mut settled = self.settled;
        settled.retain(|settled| pending.iter().all(|entry| entry.id != settled.entry.id));
        let (drafts, agents, sent) = (self.drafts, interrupted, self.sent);
        let unfinished = Unfinished { drafts, pending, agents, settled, sent, images: Vec::new() };
        let plan = self.plans.get(&AgentId::main()).map(AgentPlan::left);
        let Self { messages, agents, undone, rules, numbers, task_open, questions, .. } = self;
        let (agents, answers) = agents.resumed(why);
        Resumed {
            messages,
            agents,
            answers,
            questions: questions.left(),
            task_open,
            closing,
            unfinished,
            undone,
            rules,
            plan,
            numbers,
            ..Resumed::default()
        }
    }

    fn accept(&mut self, to: &AgentId, entry: &Pending) {
        self.numbers.texts = self.numbers.texts.max(entry.id.number().unwrap_or(0));
        self.drafts.retain(|draft| !was_sent(draft, to, entry));
        self.sent.push((entry.id.clone(), entry.at));
    }

    fn settle(&mut self, texts: Vec<(AgentId, Pending)>, why: &TakenBack) {
        for (to, entry) in texts {
            self.settled.retain(|settled| settled.entry.id != entry.id);
            self.settled.push(SettledText { to, entry, why: why.clone() });
        }
    }

    fn apply(&mut self, envelope: Envelope, change: QueueChange) -> Option<Envelope> {
        let Envelope { seq, agent, event, .. } = &envelope;
        self.numbers.seq = self.numbers.seq.max(*seq);
        self.plans.apply(&envelope);
        self.agents.apply(&envelope);
        if agent.is_main() {
            self.follow_task(event);
        }
        self.open.apply(&envelope);
        self.questions.apply(&envelope);
        if let Event::JobStarted(start) = event {
            self.numbers.jobs = self.numbers.jobs.max(start.id.number().unwrap_or(0));
        } else if let Event::TurnStarted { turn } = event {
            if agent.is_main() {
                self.numbers.turns = self.numbers.turns.max(*turn);
            }
        // One that waited for its turn was told of by its name too.
        } else if let Event::AgentSpawned { child, .. } | Event::AgentAnswered { child, .. } = event {
            if let Some((persona, number)) = child.as_str().rsplit_once(' ')
                && let Ok(number) = number.parse::<u64>()
            {
                let next = self.numbers.agents.entry(persona.to_owned()).or_default();
                *next = (*next).max(number.saturating_add(1));
            }
        } else if let Event::UserTurn { content, injection, kind, .. } = event {
            if agent.is_main() {
                self.undone.clear();
            }
            if let (Some(id), TextKind::Rule) = (injection, kind) {
                // It holds from here on: the agent tells its model again where the conversation does not say it.
                let scope = if let QueueChange::Delivered(entry) = change { entry.scope } else { RuleScope::default() };
                self.set_rule(agent, id, scope, content);
            }
        } else if let Event::Rules { rules } = event {
            self.rules = Some(rules.clone());
        } else if let Event::ChangesUndone { turn, files } = event {
            self.undone.push((*turn, files.clone()));
        } else if let Event::Returned { entries } = event {
            let texts = entries.iter().map(|entry| (agent.clone(), entry.clone())).collect();
            self.settle(texts, &TakenBack::Stopped);
            // They come back by themselves, once.
            return None;
        }
        Some(envelope)
    }

    /// Follows whether the task of the main agent has an answer.
    fn follow_task(&mut self, event: &Event) {
        self.task_open = match event {
            Event::UserTurn { kind, .. } if kind.asks_for_work() => Some(true),
            // What a rescue answered from what was found by then leaves the task open, and an answer that was cut too.
            Event::TurnEnded { outcome: Outcome::Completed, message: None, .. } | Event::TaskClosed {} => Some(false),
            Event::Reset {} => None,
            _ => return,
        };
    }

    /// Takes a rule that was delivered: the list that follows may be missing.
    fn set_rule(&mut self, agent: &AgentId, id: &MessageId, scope: RuleScope, text: &str) {
        let rule = Rule { id: id.clone(), agent: agent.clone(), scope, text: text.to_owned(), version: 0 };
        self.rules.get_or_insert_default().push(rule);
    }
}
