//! A journal's records back into what a session goes on with: the conversation, the transcript, the texts that wait.
//!
//! Called when a session is resumed, part by part, so that its whole length is never in memory. Whatever was open when
//! its program ended is closed as interrupted, and nothing that waits is sent by itself.

use std::collections::HashSet;
use std::fs::File;
use std::{fmt, io};

use crate::fold::{AgentPlan, PlanList};
use crate::host::{Closing, Earlier, Numbers, Resumed};
use crate::journal::SessionFile;
use crate::journal::reader::Records;
use crate::journal::record::Record;
use crate::journal::restore_agents::AgentsFold;
use steersman_agent::NotRunReason;
use steersman_base::details::UndoneFile;
use steersman_base::event::{Decided, Envelope, Event, JobEnd, Outcome, Pending, TakenBack};
use steersman_base::id::{AgentId, CallId, JobId, MessageId};
use steersman_base::limits;
use steersman_base::message::{Message, UserAbout};
use steersman_base::protocol::{DraftText, Unfinished};
use steersman_base::steering::{Rule, TextKind};

/// Why what was open has ended.
const INTERRUPTED: &str = "interrupted: the program ended";

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
    let mut fold = Fold::default();
    let envelopes = records.into_iter().filter_map(|record| fold.add(record)).collect();
    Resumed { envelopes, ..fold.resumed(why) }
}

/// A session that goes on, read from its journal part by part.
pub struct EarlierRun {
    records: Records<File>,
    fold: Fold,
}

impl EarlierRun {
    /// Reads the journal of a session as far as it is written now.
    ///
    /// # Errors
    /// As [`SessionFile::read`].
    pub fn of(file: &SessionFile) -> io::Result<Self> {
        Ok(Self { records: file.records()?, fold: Fold::default() })
    }
}

impl fmt::Debug for EarlierRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EarlierRun(up to record {})", self.records.last_number())
    }
}

impl Earlier for EarlierRun {
    fn events(&mut self) -> io::Result<Vec<Envelope>> {
        let mut events = Vec::new();
        while events.len() < limits::RESUME_EVENTS
            && let Some(record) = self.records.next()
        {
            events.extend(self.fold.add(record?));
        }
        Ok(events)
    }

    fn resumed(self: Box<Self>) -> Resumed {
        let notes = self.records.damage().sentence().into_iter().collect();
        Resumed { notes, ..self.fold.resumed(INTERRUPTED) }
    }
}

/// A text whose delivery was recorded, and its message not yet: a program that is killed between the two has not lost it.
struct Delivering {
    to: AgentId,
    id: MessageId,
    /// The record of a text can come behind the event of its delivery.
    entry: Option<Pending>,
}

/// Tells whether a text is this draft: the same client sent it to the same agent, or out of a message that names another
/// one, or a command, before it.
fn was_sent(draft: &DraftText, to: &AgentId, entry: &Pending) -> bool {
    let Some(before) = draft.text.trim_end().strip_suffix(entry.text.trim_end()) else { return false };
    let named = before.trim_start().starts_with(['@', '/', '>', '\\']);
    draft.sender == entry.sender && ((before.trim().is_empty() && draft.to == *to) || named)
}

#[derive(Default)]
struct Fold {
    messages: Vec<Message>,
    agents: AgentsFold,
    /// What has begun and not ended, in order.
    open: Vec<OpenItem>,
    waiting: Vec<(AgentId, Pending)>,
    /// Texts that left the list of their agent in this turn and run, and no record has said why. A stop empties the list
    /// before the record of the texts that it gave back is written: a program that is killed between has not lost them.
    left_list: Vec<(AgentId, Pending)>,
    delivering: Vec<Delivering>,
    /// Given back to the user, and not sent again since.
    returned: Vec<Pending>,
    /// What the user was writing, and has not sent since.
    drafts: Vec<DraftText>,
    /// Texts that are no longer pending, and those that a list of the queue has shown.
    settled: HashSet<MessageId>,
    listed: HashSet<MessageId>,
    /// Undos behind the last message, with which the model would have been told.
    undone: Vec<(Option<u32>, Vec<UndoneFile>)>,
    /// The rules that hold; `None` while none was set.
    rules: Option<Vec<Rule>>,
    plans: PlanList,
    /// Whether the task of the main agent waits for an answer; `None` while it has none.
    task_open: Option<bool>,
    numbers: Numbers,
}

impl Fold {
    /// Takes a record; returns what is to be shown of it.
    fn add(&mut self, record: Record) -> Option<Envelope> {
        match record {
            Record::History { replaced, messages } => {
                self.deliver(&AgentId::main(), replaced, &messages);
                if replaced {
                    self.messages.clear();
                }
                self.messages.extend(messages);
            }
            Record::AgentHistory { agent, replaced, messages } => {
                self.deliver(&agent, replaced, &messages);
                self.agents.say(&agent, replaced, messages);
            }
            Record::Accepted { to, entry } => self.accept(to, entry),
            Record::TakenBack { texts, why, .. } => self.take_back(&texts, &why),
            Record::Event(envelope) => return self.apply(envelope),
            Record::Drafts { texts } => {
                // What was given back is in the message again, unless that says something else by now.
                let is_written = |entry: &Pending| texts.iter().any(|draft| draft.text.contains(&entry.text));
                self.returned.retain(|returned| !is_written(returned));
                self.left_list.retain(|(_, entry)| !is_written(entry));
                self.drafts = texts;
            }
            // The run before it ended there, and this one went on with what it had left.
            Record::Run { .. } => self.waiting.append(&mut self.left_list),
            Record::Session(_) | Record::Unattended | Record::Missing { .. } | Record::Unknown => {}
        }
        None
    }

    /// Returns what the session goes on with after all records; what is open has ended because of this.
    fn resumed(mut self, why: &str) -> Resumed {
        let interrupted = self.open.iter().filter(|open| matches!(open.what, OpenKind::Agent(_))).count();
        let closing = self.open.iter().rev().map(|open| open.closing(why)).collect();
        let mut pending: Vec<Pending> = self.delivering.into_iter().filter_map(|text| text.entry).collect();
        pending.extend(self.waiting.into_iter().chain(self.left_list).map(|(_, entry)| entry));
        pending.append(&mut self.returned);
        let unfinished = Unfinished { drafts: self.drafts, images: Vec::new(), pending, agents: interrupted };
        let plan = self.plans.of(&AgentId::main()).map(AgentPlan::left);
        let Self { messages, agents, undone, rules, numbers, task_open, .. } = self;
        let agents = agents.resumed();
        Resumed { messages, agents, task_open, closing, unfinished, undone, rules, plan, numbers, ..Resumed::default() }
    }

    /// Takes which texts are the user's again: what went into the message comes back once, if that was not kept any more.
    fn take_back(&mut self, texts: &[MessageId], why: &TakenBack) {
        for id in texts {
            let mut known = self.waiting.iter().chain(&self.left_list).map(|(_, entry)| entry);
            let entry = known.find(|entry| entry.id == *id).cloned();
            self.returned.extend(entry.filter(|_| matches!(why, TakenBack::Stopped | TakenBack::ToMessage)));
            self.settle(id);
        }
    }

    fn accept(&mut self, to: AgentId, entry: Pending) {
        let number = entry.id.as_str().strip_prefix('m').and_then(|number| number.parse().ok());
        self.numbers.texts = self.numbers.texts.max(number.unwrap_or(0));
        self.returned.retain(|returned| returned.text != entry.text);
        self.left_list.retain(|(_, left)| left.text != entry.text);
        self.drafts.retain(|draft| !was_sent(draft, &to, &entry));
        if let Some(delivering) = self.delivering.iter_mut().find(|text| text.id == entry.id) {
            delivering.entry = Some(entry);
            return;
        }
        let is_known = self.waiting.iter().any(|(_, waiting)| waiting.id == entry.id);
        if !is_known && !self.settled.contains(&entry.id) {
            self.waiting.push((to, entry));
        }
    }

    fn apply(&mut self, envelope: Envelope) -> Option<Envelope> {
        let Envelope { seq, agent, event, .. } = &envelope;
        self.numbers.seq = self.numbers.seq.max(*seq);
        self.plans.apply(&envelope);
        self.agents.apply(&envelope);
        if agent.is_main() {
            self.follow_task(event);
        }
        if may_close(event) {
            self.open.retain(|open| !open.is_closed_by(agent, event));
        }
        if let Some(what) = OpenKind::opened_by(event) {
            self.open.push(OpenItem { agent: agent.clone(), parent: envelope.parent.clone(), what });
        }
        if let Event::JobStarted(start) = event {
            self.numbers.jobs = self.numbers.jobs.max(start.id.number().unwrap_or(0));
        } else if let Event::TurnStarted { turn } = event {
            if agent.is_main() {
                self.numbers.turns = self.numbers.turns.max(*turn);
                // The run went on: whoever took them back has them.
                self.left_list.clear();
            }
        } else if let Event::AgentSpawned { child, .. } = event {
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
            if let Some(id) = injection {
                // A rule holds from here on: the agent tells its model again where the conversation does not say it.
                if *kind == TextKind::Rule {
                    self.set_rule(agent, id, content);
                } else {
                    let entry = self.waiting.iter().find(|(_, entry)| entry.id == *id).map(|(_, entry)| entry.clone());
                    self.delivering.push(Delivering { to: agent.clone(), id: id.clone(), entry });
                }
                self.settle(id);
            }
        } else if let Event::Rules { rules } = event {
            self.rules = Some(rules.clone());
        } else if let Event::ChangesUndone { turn, files } = event {
            self.undone.push((*turn, files.clone()));
        } else if let Event::Pending { entries } = event {
            self.list(agent, entries);
        } else if let Event::Returned { entries } = event {
            for entry in entries {
                self.settle(&entry.id);
            }
            self.returned.extend(entries.iter().cloned());
            // They come back by themselves, once.
            return None;
        }
        Some(envelope)
    }

    /// Follows whether the task of the main agent has an answer.
    fn follow_task(&mut self, event: &Event) {
        self.task_open = match event {
            Event::UserTurn { kind, .. } if kind.asks_for_work() => Some(true),
            Event::TurnEnded { outcome: Outcome::Completed | Outcome::Synthesized, .. } | Event::TaskClosed {} => {
                Some(false)
            }
            Event::Reset {} => None,
            _ => return,
        };
    }

    /// Takes a rule that was delivered: the list that follows may be missing.
    fn set_rule(&mut self, agent: &AgentId, id: &MessageId, text: &str) {
        let waiting = self.waiting.iter().map(|(_, entry)| entry).find(|entry| entry.id == *id);
        let scope = waiting.map(|entry| entry.scope).unwrap_or_default();
        let rule = Rule { id: id.clone(), agent: agent.clone(), scope, text: text.to_owned(), version: 0 };
        self.rules.get_or_insert_default().push(rule);
    }

    /// Takes messages of an agent: the texts among them are delivered.
    fn deliver(&mut self, agent: &AgentId, replaced: bool, messages: &[Message]) {
        let is_of = |message: &Message, id: &MessageId| match message {
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
        };
        self.delivering
            .retain(|text| text.to != *agent || !(replaced || messages.iter().any(|message| is_of(message, &text.id))));
    }

    fn settle(&mut self, id: &MessageId) {
        self.settled.insert(id.clone());
        self.waiting.retain(|(_, entry)| entry.id != *id);
        self.left_list.retain(|(_, entry)| entry.id != *id);
    }

    /// Takes the whole queue of an agent. A text that no list has shown yet may have come behind this one was made.
    fn list(&mut self, agent: &AgentId, entries: &[Pending]) {
        self.listed.extend(entries.iter().map(|entry| entry.id.clone()));
        let listed = &self.listed;
        let left = self.waiting.extract_if(.., |(to, entry)| to == agent && listed.contains(&entry.id));
        self.left_list.extend(left);
        self.left_list.retain(|(_, entry)| !entries.iter().any(|listed| listed.id == entry.id));
        let mut all: Vec<(AgentId, Pending)> = entries
            .iter()
            .filter(|entry| !self.settled.contains(&entry.id))
            .map(|entry| (agent.clone(), entry.clone()))
            .collect();
        all.append(&mut self.waiting);
        self.waiting = all;
    }
}

/// Tells whether an event can end something, so that most need no look at everything that is open.
fn may_close(event: &Event) -> bool {
    matches!(
        event,
        Event::TurnEnded { .. }
            | Event::TurnStarted { .. }
            | Event::RoundEnded { .. }
            | Event::ToolResult { .. }
            | Event::AgentFinished { .. }
            | Event::Answer { .. }
            | Event::Resumed { .. }
            | Event::Compacted { .. }
            | Event::Notice { .. }
            | Event::JobEnded(_)
    )
}

/// Something that has begun.
struct OpenItem {
    agent: AgentId,
    parent: Option<AgentId>,
    what: OpenKind,
}

enum OpenKind {
    Turn(u32),
    Round(u32, u32),
    Call(CallId),
    Agent(AgentId),
    Question(String),
    Pause,
    Compaction,
    Job(JobId),
}

impl OpenKind {
    fn opened_by(event: &Event) -> Option<Self> {
        Some(match event {
            Event::TurnStarted { turn } => Self::Turn(*turn),
            Event::RoundStarted { turn, round } => Self::Round(*turn, *round),
            Event::ToolCall { id, .. } => Self::Call(id.clone()),
            Event::AgentSpawned { child, .. } => Self::Agent(child.clone()),
            Event::Question { id, .. } => Self::Question(id.clone()),
            Event::Paused { .. } => Self::Pause,
            Event::Compacting { .. } => Self::Compaction,
            Event::JobStarted(start) => Self::Job(start.id.clone()),
            _ => return None,
        })
    }
}

impl OpenItem {
    fn is_closed_by(&self, agent: &AgentId, event: &Event) -> bool {
        let same = self.agent == *agent;
        match &self.what {
            OpenKind::Turn(_) => same && matches!(event, Event::TurnEnded { .. } | Event::TurnStarted { .. }),
            OpenKind::Round(..) => same && matches!(event, Event::RoundEnded { .. } | Event::TurnEnded { .. }),
            OpenKind::Call(id) => {
                let is_result = matches!(event, Event::ToolResult { id: ended, .. } if ended == id);
                same && (is_result || matches!(event, Event::TurnEnded { .. }))
            }
            OpenKind::Agent(child) => matches!(event, Event::AgentFinished { child: ended, .. } if ended == child),
            OpenKind::Question(id) => matches!(event, Event::Answer { id: answered, .. } if answered == id),
            OpenKind::Pause => same && matches!(event, Event::Resumed { .. }),
            OpenKind::Job(id) => matches!(event, Event::JobEnded(end) if end.id == *id),
            OpenKind::Compaction => same && matches!(event, Event::Compacted { .. } | Event::Notice { .. }),
        }
    }

    fn closing(&self, why: &str) -> Closing {
        let message = Some(why.to_owned());
        let event = match &self.what {
            OpenKind::Turn(turn) => Event::TurnEnded { turn: *turn, outcome: Outcome::Failed, message },
            OpenKind::Round(turn, round) => Event::RoundEnded { turn: *turn, round: *round },
            OpenKind::Call(id) => Event::ToolResult {
                id: id.clone(),
                content: NotRunReason::Interrupted.observation().to_owned(),
                is_error: true,
                elapsed_ms: 0,
            },
            OpenKind::Agent(child) => Event::AgentFinished { child: child.clone(), outcome: Outcome::Failed, message },
            OpenKind::Question(id) => Event::Answer { id: id.clone(), answer: "withdrawn".to_owned(), words: None },
            OpenKind::Pause => Event::Resumed { decision: Decided::Cancelled },
            OpenKind::Job(id) => Event::JobEnded(Box::new(JobEnd::interrupted(id.clone(), why))),
            OpenKind::Compaction => Event::Notice { text: format!("the compaction was {why}") },
        };
        Closing { agent: self.agent.clone(), parent: self.parent.clone(), event }
    }
}
