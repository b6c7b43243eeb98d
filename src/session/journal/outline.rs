//! What a list says of a session: its title, where and when it ran, what it cost and how it stands.

use std::io;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::Serialize;

use crate::journal::{Origin, Record, SessionFile, SessionId};
use steersman_base::event::{Event, Outcome, add_known};

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outline {
    /// Its name.
    pub id: SessionId,
    /// The first text of the user; while there is none, what is being written.
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
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Preview {
    /// What the user said, the first texts.
    pub texts: Vec<String>,
    /// The last answer of the main agent.
    pub answer: String,
}

impl Preview {
    fn say(&mut self, text: &str) {
        if self.texts.len() < PREVIEW_TEXTS {
            self.texts.push(beginning(text));
        }
    }
}

/// Most texts of the user in a preview.
const PREVIEW_TEXTS: usize = 20;
/// Most characters of each, and of the answer.
const PREVIEW_CHARS: usize = 600;

fn beginning(text: &str) -> String {
    text.chars().take(PREVIEW_CHARS).collect()
}

/// How a session stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionState {
    /// A turn runs.
    Running,
    /// A program has it open, and no turn runs.
    Open,
    /// Its program ended within a turn, or before one began.
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

impl Outline {
    /// Reads a session's journal and says what a list shows of it.
    ///
    /// # Errors
    /// As [`SessionFile::read`].
    pub fn of(file: &SessionFile) -> io::Result<Self> {
        let mut outline = Self::empty(file);
        let mut records = file.records()?;
        let mut draft = String::new();
        for record in records.by_ref() {
            let record = record?;
            if let Record::Drafts { texts } = &record {
                draft = texts.first().map(|draft| draft.text.clone()).unwrap_or_default();
            }
            outline.add(record);
        }
        if outline.title.is_empty() {
            outline.title = draft;
        }
        outline.damage = records.damage().sentence();
        if file.is_written() {
            let is_in_turn = outline.turns > 0 && outline.state == SessionState::Interrupted;
            outline.state = if is_in_turn { SessionState::Running } else { SessionState::Open };
        }
        Ok(outline)
    }

    fn empty(file: &SessionFile) -> Self {
        Self {
            id: file.session.clone(),
            title: String::new(),
            directory: String::new(),
            branch: None,
            model: None,
            started: None,
            last: None,
            turns: 0,
            agents: 0,
            tokens: 0,
            cost_nanos: None,
            state: SessionState::Interrupted,
            file: file.path.clone(),
            damage: None,
            parent: None,
            imported: None,
            preview: Preview::default(),
            has_begun: false,
        }
    }

    /// Tells whether a list shows it: not while somebody writes its first text, or when nothing came of that.
    pub fn is_listed(&self) -> bool {
        let is_left =
            !matches!(self.state, SessionState::Running | SessionState::Open) && !self.title.trim().is_empty();
        self.has_begun || self.damage.is_some() || is_left
    }

    fn add(&mut self, record: Record) {
        self.has_begun |= record.begins();
        match record {
            Record::Session(header) => {
                self.directory = header.directory;
                self.branch = header.branch;
                self.model = header.model;
                self.started = Some(header.started);
                self.parent = header.parent.map(|parent| parent.session);
                self.imported = header.imported;
            }
            Record::Run { at, .. } => self.last = self.last.max(Some(at)),
            Record::Accepted { to, entry } => {
                self.last = self.last.max(Some(entry.at));
                if to.is_main() && self.title.is_empty() {
                    self.title = entry.text;
                }
            }
            Record::Event(envelope) => {
                self.last = self.last.max(Some(envelope.at));
                self.apply(envelope.agent.is_main(), envelope.event);
            }
            Record::History { .. }
            | Record::AgentHistory { .. }
            | Record::TakenBack { .. }
            | Record::Drafts { .. }
            | Record::Missing { .. }
            | Record::Unattended
            | Record::Unknown => {}
        }
    }

    fn apply(&mut self, is_main: bool, event: Event) {
        if let Event::AgentSpawned { .. } = event {
            self.agents += 1;
        } else if let Event::Tokens(usage) = event {
            self.tokens = self.tokens.saturating_add(usage.context());
            add_known(&mut self.cost_nanos, usage.cost_nanos);
            if is_main && usage.model.is_some() {
                self.model = usage.model;
            }
        } else if is_main {
            self.apply_main(event);
        }
    }

    fn apply_main(&mut self, event: Event) {
        if let Event::TurnStarted { .. } = event {
            self.turns += 1;
            self.state = SessionState::Interrupted;
        } else if let Event::UserTurn { content, .. } = event {
            self.preview.say(&content);
            if self.title.is_empty() {
                self.title = content;
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
