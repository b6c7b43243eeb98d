//! What one line of a journal says, as a value.
//!
//! A line is a JSON object that begins with its number, `"record"`, which rises over the file; `"kind"` tells the
//! variant. Readers ignore kinds and members that they do not know.

use std::io;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::journal::SessionId;
use steersman_base::clock;
use steersman_base::event::{Envelope, Event, Pending, TakenBack};
use steersman_base::id::{AgentId, MessageId};
use steersman_base::message::Message;
use steersman_base::protocol::DraftText;

/// The version of the file's form, written in its first record.
pub const SCHEMA: u32 = 1;

/// How every line begins.
pub(super) const MARK: &[u8] = br#"{"record":"#;

/// Returns the number of the record that a line holds; `None` for a line that is not written as ours are.
pub(super) fn number_of(line: &[u8]) -> Option<u64> {
    let rest = line.strip_prefix(MARK)?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(rest.get(..digits)?).ok()?.parse().ok()
}

/// What one line says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Record {
    /// What the session is; the first record of each file.
    Session(Header),
    /// A program begins to write, at the file's beginning and each time that the session is resumed.
    Run {
        /// Its process.
        pid: u32,
        /// Its name and version.
        program: String,
        /// When it began.
        at: Timestamp,
    },
    /// The program that begins to write is one that nobody watches: the session is no conversation of the user's.
    Unattended,
    /// Something happened in the tree.
    Event(Envelope),
    /// The main agent's conversation changed.
    History {
        /// True when the conversation is these messages from here on, false when they were appended.
        replaced: bool,
        /// The messages, whole: what only their provider understands is in them byte for byte.
        messages: Vec<Message>,
    },
    /// The conversation of a sub-agent changed.
    AgentHistory {
        /// The sub-agent.
        agent: AgentId,
        /// As in [`Record::History`].
        replaced: bool,
        /// As in [`Record::History`].
        messages: Vec<Message>,
    },
    /// A text of the user was accepted.
    Accepted {
        /// The agent that it is for.
        to: AgentId,
        /// The text with its id.
        entry: Pending,
    },
    /// A text that had left its queue waits there again, under its own id: the user brought it back, or whoever sent it is
    /// gone.
    Restored {
        /// The agent that it is for.
        to: AgentId,
        /// The text with its id.
        entry: Pending,
    },
    /// Texts left their queues without being delivered: they are the user's again.
    TakenBack {
        /// The texts.
        texts: Vec<MessageId>,
        /// Why.
        why: TakenBack,
        /// When.
        at: Timestamp,
    },
    /// What the user is writing, everything at once.
    Drafts {
        /// The texts, the one in the message first.
        texts: Vec<DraftText>,
    },
    /// Records were lost before this one, because nothing could be written.
    Missing {
        /// How many.
        records: u64,
    },
    /// A kind that this version does not know; only ever read.
    #[serde(other)]
    Unknown,
}

/// What a session is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The version of the file's form, [`SCHEMA`].
    pub schema: u32,
    /// The program that began it, with its version.
    pub program: String,
    /// The session's name for ever.
    pub session: SessionId,
    /// When it began.
    pub started: Timestamp,
    /// The directory that it works in.
    pub directory: String,
    /// The branch that was checked out.
    pub branch: Option<String>,
    /// The model, as far as it was known.
    pub model: Option<String>,
    /// Where it branched from another session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// Where it is from, when another program wrote it; nobody goes on with such a journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Origin>,
}

impl Header {
    /// Makes the header of a session that begins now in this directory; `program` is the program that begins it.
    ///
    /// # Errors
    /// When the system has no random numbers for its name.
    pub fn new(program: impl Into<String>, directory: impl Into<String>) -> io::Result<Self> {
        let started = clock::now();
        Ok(Self {
            schema: SCHEMA,
            program: program.into(),
            session: SessionId::new(started)?,
            started,
            directory: directory.into(),
            branch: None,
            model: None,
            parent: None,
            imported: None,
        })
    }
}

/// The file of another program that a session was read from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The program, with its version as far as that is known.
    pub program: String,
    /// The session's name there (untrusted).
    pub session: String,
    /// The file.
    pub path: String,
    /// Its size when it was read, with that of its sub-agents' files.
    pub bytes: u64,
    /// Its lines that were passed over, because they say nothing known.
    pub skipped: u64,
}

/// The place where a session branched from another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    /// The other session.
    pub session: SessionId,
    /// The message of it just before which the branch begins; `None` when it begins with all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<MessageId>,
}

impl Record {
    /// Returns what the session is, if this says so.
    pub fn into_header(self) -> Option<Header> {
        if let Self::Session(header) = self { Some(header) } else { None }
    }

    /// Returns the process that begins to write with this record.
    pub(super) fn writer(&self) -> Option<u32> {
        if let Self::Run { pid, .. } = self { Some(*pid) } else { None }
    }

    /// Returns whether there is a draft to come back to, if this says so.
    pub(super) fn has_draft(&self) -> Option<bool> {
        let Self::Drafts { texts } = self else { return None };
        Some(texts.iter().any(|draft| !draft.text.trim().is_empty()))
    }

    /// Tells whether the session has begun with this record: one in which nobody said or ran anything, and in which nothing
    /// is being written, leaves no file.
    pub(super) fn begins(&self) -> bool {
        if let Self::Event(envelope) = self {
            matches!(envelope.event, Event::TurnStarted { .. } | Event::JobStarted(_))
        } else {
            matches!(self, Self::Accepted { .. })
        }
    }

    /// Tells whether the file is to be safe on the disk behind this record.
    pub(super) fn is_synced(&self) -> bool {
        let Self::Event(envelope) = self else { return false };
        matches!(envelope.event, Event::TurnEnded { .. } | Event::SessionEnded { .. })
    }

    /// Returns the members of its line, the number first.
    pub(super) fn members(&self, number: u64) -> serde_json::Result<Value> {
        let mut line = Map::new();
        line.insert("record".to_owned(), number.into());
        if let Value::Object(members) = serde_json::to_value(self)? {
            line.extend(members);
        }
        Ok(Value::Object(line))
    }
}
