//! What a list says of a session: its title, where and when it ran, what it cost and how it stands.
//!
//! Folded record by record into a [`Digest`], which the index of the sessions keeps; an [`Outline`] is that with what is true
//! at this moment only. Always holds: of a text a digest has the beginning only.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::journal::reader::{Damage, Glance, Records};
use crate::journal::{Origin, Record, SessionFile, SessionId};
use crate::queue_log::QueueLog;
use steersman_base::event::{Event, Outcome, Pending, add_known};
use steersman_base::id::AgentId;
use steersman_base::text::shell_output::without_outputs;

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outline {
    /// Its name.
    pub id: SessionId,
    /// The first text of the user, its beginning; while there is none, what is being written.
    pub title: String,
    /// The directory that it worked in.
    pub directory: String,
    /// The branch that was checked out at its beginning.
    pub branch: Option<String>,
    /// The model that answered last, as far as it is known.
    pub model: Option<String>,
    /// When it began.
    pub started: Option<Timestamp>,
    /// When something happened last.
    pub last: Option<Timestamp>,
    /// Turns of the main agent.
    pub turns: u64,
    /// Sub-agents that it spawned.
    pub agents: u64,
    /// Tokens of all replies and their prompts.
    pub tokens: u64,
    /// What they cost, billionths of a US dollar, as far as it is known.
    pub cost_nanos: Option<u64>,
    /// How it stands.
    pub state: SessionState,
    /// Where its journal lies.
    pub file: PathBuf,
    /// A sentence about the journal when it is not whole.
    pub damage: Option<String>,
    /// The session that it branched from.
    pub parent: Option<SessionId>,
    /// The file of another program that it was read from; null for a session of this one.
    pub imported: Option<Origin>,
    /// What a list shows of its conversation.
    #[serde(skip)]
    pub preview: Preview,
    /// True once somebody said or ran something.
    #[serde(skip)]
    has_begun: bool,
}

/// The beginning of a conversation, and its last answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Preview {
    /// What the user said, the first texts.
    pub texts: Vec<String>,
    /// The last answer of the main agent.
    pub answer: String,
}

impl Preview {
    fn say(&mut self, text: &str) {
        let said: usize = self.texts.iter().map(String::len).sum();
        if said < PREVIEW_BYTES {
            self.texts.push(beginning(text));
        }
    }
}

/// Texts of the user enter a preview until it has so much of them, bytes.
const PREVIEW_BYTES: usize = 2_000;
/// Most characters of a title, of each text in a preview, and of the answer.
const BEGINNING: usize = 600;

fn beginning(text: &str) -> String {
    without_outputs(text).chars().take(BEGINNING).collect()
}

/// How a session stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionState {
    /// A turn runs.
    Running,
    /// A program has it open, and no turn runs.
    Open,
    /// Its program ended within a turn, or before one began.
    #[default]
    Interrupted,
    /// Its last turn has an answer.
    Answered,
    /// Its last turn was stopped by the user.
    Cancelled,
    /// Its last turn failed.
    Failed,
}

impl SessionState {
    /// Returns the word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Open => "open",
            Self::Interrupted => "interrupted",
            Self::Answered => "answered",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        }
    }
}

/// What the records of a session say for lists.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Digest {
    title: String,
    /// What the user was writing, the beginning of the first draft, and how many drafts hold something.
    draft: String,
    drafts: usize,
    /// The directory that it worked in; empty until the record that says so was read.
    pub directory: String,
    branch: Option<String>,
    model: Option<String>,
    started: Option<Timestamp>,
    last: Option<Timestamp>,
    turns: u64,
    agents: u64,
    /// The sub-agents that were spawned.
    #[serde(default)]
    spawned: BTreeSet<AgentId>,
    /// The sub-agents that work for the user, beside the turns of the main agent.
    #[serde(default)]
    alone: Vec<AgentId>,
    tokens: u64,
    cost_nanos: Option<u64>,
    state: SessionState,
    parent: Option<SessionId>,
    /// The file of another program that it was read from.
    pub imported: Option<Origin>,
    preview: Preview,
    /// True once somebody said or ran something.
    pub has_begun: bool,
    /// How often a program began to write it, and how often that was one that nobody watched.
    runs: u64,
    unattended: u64,
    /// The texts on their way, their beginnings.
    queues: QueueLog,
    damage: Damage,
}

/// What a session left unfinished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOpen {
    /// The first text of the user; where there is none, what was being written.
    pub title: String,
    /// True when a turn of the main agent has no end.
    pub is_cut: bool,
    /// Texts that were sent and not delivered.
    pub pending: usize,
    /// Texts that were being written.
    pub drafts: usize,
}

impl Digest {
    /// Tells whether it is a conversation of the user's, not only the work of programs that nobody watched.
    pub fn is_attended(&self) -> bool {
        self.runs > self.unattended
    }

    /// Returns what was left unfinished, if the session goes no further; `None` where that is nothing.
    pub fn left_open(&self) -> Option<LeftOpen> {
        let is_cut = self.turns > 0 && self.state == SessionState::Interrupted;
        let (pending, drafts) = (self.queues.left(), self.drafts);
        let title = if self.title.is_empty() { &self.draft } else { &self.title };
        (is_cut || pending > 0 || drafts > 0).then(|| LeftOpen { title: title.clone(), is_cut, pending, drafts })
    }

    /// Returns this, of the beginning of a journal, with how its end says that the session stands.
    #[must_use]
    pub fn with_end(self, end: Self) -> Self {
        let Self { draft, drafts, last, turns, state, queues, alone, .. } = end;
        // Where the end tells of no turn at all, it lies within one.
        let turns = if self.has_begun { turns.max(1) } else { turns };
        Self { draft, drafts, last, turns, alone, state, queues, ..self }
    }

    /// Returns what a list says of this session now.
    pub fn outline(self, file: &SessionFile) -> Outline {
        let is_in_turn = self.turns > 0 && self.state == SessionState::Interrupted;
        let state = match (file.is_written(), is_in_turn || !self.alone.is_empty()) {
            (true, true) => SessionState::Running,
            (true, false) => SessionState::Open,
            (false, _) => self.state,
        };
        Outline {
            id: file.session.clone(),
            title: if self.title.is_empty() { self.draft } else { self.title },
            directory: self.directory,
            branch: self.branch,
            model: self.model,
            started: self.started,
            last: self.last,
            turns: self.turns,
            agents: self.agents,
            tokens: self.tokens,
            cost_nanos: self.cost_nanos,
            state,
            file: file.path.clone(),
            damage: self.damage.sentence(),
            parent: self.parent,
            imported: self.imported,
            preview: self.preview,
            has_begun: self.has_begun,
        }
    }

    /// Returns what the end of a journal says, so many bytes of it.
    ///
    /// # Errors
    /// As [`SessionFile::read`].
    pub fn of_tail(file: &SessionFile, bytes: u64) -> io::Result<Self> {
        let mut digest = Self::default();
        digest.extend(file.tail(bytes)?)?;
        Ok(digest)
    }

    /// Takes records that follow.
    ///
    /// # Errors
    /// What the file itself says.
    pub(super) fn extend(&mut self, mut records: Records<File>) -> io::Result<()> {
        while let Some(record) = records.next_wanted(|glance| self.wants(glance))? {
            self.add(record);
        }
        self.damage += records.damage();
        Ok(())
    }

    /// Tells whether a record says anything for a list, and takes the time of one that does not.
    fn wants(&mut self, glance: &Glance<'_>) -> bool {
        let Some((at, agent, event)) = glance.event else {
            // A conversation counts only for a text whose delivery it shows.
            return !matches!(glance.kind, "history" | "agent_history") || self.queues.is_delivering();
        };
        let is_counted = matches!(
            event,
            "agent_spawned"
                | "agent_finished"
                | "tokens"
                | "job_started"
                | "turn_started"
                | "user_turn"
                | "pending"
                | "returned"
        );
        if is_counted || agent.is_empty() && matches!(event, "turn_ended" | "assistant") {
            return true;
        }
        self.last = self.last.max(at.parse().ok());
        false
    }

    fn add(&mut self, mut record: Record) {
        self.has_begun |= record.begins();
        shorten_texts(&mut record);
        self.queues.apply(&record);
        match record {
            Record::Session(header) => {
                self.directory = header.directory;
                self.branch = header.branch;
                self.model = header.model;
                self.started = Some(header.started);
                self.parent = header.parent.map(|parent| parent.session);
                self.imported = header.imported;
            }
            Record::Run { at, .. } => {
                self.runs += 1;
                self.alone.clear();
                self.last = self.last.max(Some(at));
            }
            Record::Unattended => self.unattended += 1,
            Record::Accepted { to, entry } => {
                self.last = self.last.max(Some(entry.at));
                // A note or a rule says nothing of the task.
                if to.is_main() && self.title.is_empty() && entry.kind.asks_for_work() {
                    self.title = beginning(&entry.text);
                }
                if self.drafts > 0 && self.draft == entry.text {
                    // What was written is sent.
                    (self.draft, self.drafts) = (String::new(), self.drafts - 1);
                }
            }
            Record::Drafts { texts } => {
                self.draft = texts.first().map(|draft| beginning(&draft.text)).unwrap_or_default();
                self.drafts = texts.iter().filter(|draft| !draft.text.trim().is_empty()).count();
            }
            Record::Event(envelope) => {
                self.last = self.last.max(Some(envelope.at));
                self.apply(&envelope.agent, envelope.event);
            }
            Record::Restored { .. }
            | Record::TakenBack { .. }
            | Record::History { .. }
            | Record::AgentHistory { .. }
            | Record::Missing { .. }
            | Record::Unknown => {}
        }
    }

    fn apply(&mut self, agent: &AgentId, event: Event) {
        if let Event::AgentSpawned { child, call, .. } = event {
            // One that goes on is spawned anew under its name.
            self.agents += u64::from(self.spawned.insert(child.clone()));
            // Others run within the turn of their parent.
            self.alone.extend(call.is_none().then_some(child));
        } else if let Event::AgentBackgrounded { child } = event {
            self.alone.push(child);
        } else if let Event::AgentFinished { child, .. } = event {
            self.alone.retain(|other| *other != child);
        } else if let Event::Tokens(usage) = event {
            self.tokens = self.tokens.saturating_add(usage.context());
            add_known(&mut self.cost_nanos, usage.cost_nanos);
            if agent.is_main() && usage.model.is_some() {
                self.model = usage.model;
            }
        } else if agent.is_main() {
            self.apply_main(event);
        }
    }

    fn apply_main(&mut self, event: Event) {
        if let Event::TurnStarted { .. } = event {
            self.turns += 1;
            self.state = SessionState::Interrupted;
        } else if let Event::UserTurn { content, kind, .. } = event {
            self.preview.say(&content);
            if self.title.is_empty() && kind.asks_for_work() {
                self.title = beginning(&content);
            }
        } else if let Event::Assistant { text, .. } = event {
            if !text.trim().is_empty() {
                self.preview.answer = beginning(text.trim());
            }
        } else if let Event::TurnEnded { outcome, .. } = event {
            self.state = match outcome {
                Outcome::Completed | Outcome::Synthesized => SessionState::Answered,
                Outcome::Cancelled => SessionState::Cancelled,
                Outcome::Failed => SessionState::Failed,
            };
        }
    }
}

/// Cuts the pending texts in a record to what a list shows of them.
fn shorten_texts(record: &mut Record) {
    let cut = |entry: &mut Pending| {
        entry.message.text = beginning(&entry.message.text);
        entry.message.images.clear();
    };
    match record {
        Record::Accepted { entry, .. } => cut(entry),
        Record::Event(envelope) => {
            if let Event::Pending { entries } | Event::Returned { entries } = &mut envelope.event {
                entries.iter_mut().for_each(cut);
            }
        }
        _ => {}
    }
}

impl Outline {
    /// Reads a session's journal and says what a list shows of it.
    ///
    /// # Errors
    /// As [`SessionFile::read`].
    pub fn from_file(file: &SessionFile) -> io::Result<Self> {
        let mut digest = Digest::default();
        digest.extend(file.records()?)?;
        Ok(digest.outline(file))
    }

    /// Tells whether a list shows it: not while somebody writes its first text, or when nothing came of that.
    pub fn is_listed(&self) -> bool {
        let is_left =
            !matches!(self.state, SessionState::Running | SessionState::Open) && !self.title.trim().is_empty();
        self.has_begun || self.damage.is_some() || is_left
    }
}
