//! Limits of sessions: their journals, clients from outside, the user's texts and continued agents.

use std::time::Duration;

// Limits of the journals of sessions.

/// Days after which a session that nobody went on with is removed, unless set.
pub const SESSION_DAYS: u32 = 90;
/// Longest time that a text, or a call with effects, waits for its record to be safe on the disk.
pub const JOURNAL_PATIENCE: Duration = Duration::from_secs(2);
/// Time between two tries to save a session that cannot be saved.
pub const JOURNAL_RETRY: Duration = Duration::from_secs(1);
/// A journal is synced when so much of it is not safe yet, bytes.
pub const JOURNAL_UNSYNCED: usize = 1 << 20;
/// Most of a session that is kept in memory while it cannot be saved, bytes.
pub const JOURNAL_BACKLOG: usize = 64 << 20;
/// The longest line that is read; a longer one is damage. Bytes.
pub const JOURNAL_LINE: u64 = 64 << 20;
/// The largest file that is read, bytes: far more than a session of a million events.
pub const JOURNAL_FILE: u64 = 8 << 30;
/// So much of the file that says in which order sessions were used is read, bytes.
pub const SESSION_USES: u64 = 4 << 20;
/// So much of the index of the sessions is read and written, bytes.
pub const SESSION_INDEX: u64 = 256 << 20;
/// So much of the journals of other sessions is read at most when a session begins, bytes.
pub const START_READING: u64 = 32 << 20;
/// The end of a journal by which a start tells what is unfinished in it, where it may not read all of it. Bytes.
pub const UNFINISHED_TAIL: u64 = 4 << 20;
/// Events of a session that goes on which are read at once.
pub const RESUME_EVENTS: usize = 1_024;
/// The end of a journal that is shown while the rest is being read, bytes.
pub const JOURNAL_TAIL: u64 = 256 << 10;
/// Imports: what the files of one session of another program may hold together, bytes; they are read into memory.
pub const IMPORT_BYTES: u64 = 1 << 30;
/// Imports of compressed files: the largest window that a decoder is given, bytes; the usual levels take a quarter of it.
pub const UNPACKING_WINDOW: u64 = 8 << 20;
/// Imports of compressed files: what a file may always unpack to, bytes.
pub const UNPACKED_BYTES: u64 = 64 << 20;
/// Imports of compressed files: how many times its own size a larger one may unpack to.
pub const UNPACKED_TIMES: u64 = 100;

// Limits of clients that are connected to a session from outside.

/// Longest line that a client may send before it has said who it is, bytes.
pub const GREETING_LINE: usize = 64 * 1024;
/// Longest line that a client may send, bytes: a message of the greatest length with every character escaped once.
pub const CLIENT_LINE: usize = 2 * super::MESSAGE_BYTES + GREETING_LINE;
/// Longest line that a client takes from a session, bytes.
pub const SERVED_LINE: usize = 256 << 20;
/// Clients that are connected at a time.
pub const CLIENTS: usize = 64;
/// Connections that have not said who they are; of more the oldest is closed.
pub const STRANGERS: usize = 64;
/// Time in which a connection must say who it is.
pub const GREETING_TIME: Duration = Duration::from_secs(10);
/// What waits for a client that does not read before it is disconnected, bytes.
pub const CLIENT_BACKLOG: usize = 32 << 20;
/// What is kept of a session for clients that connect later, bytes.
pub const KEPT_PAST: usize = 64 << 20;
/// Clients whose newest requests are remembered, in case one comes again.
pub const REMEMBERED_CLIENTS: usize = 256;
/// Time for a session to answer a command from outside.
pub const OUTSIDE_PATIENCE: Duration = Duration::from_secs(10);
/// Time for the clients to take the last before a session ends.
pub const CLIENT_FAREWELL: Duration = Duration::from_millis(500);
/// `approve`: longest line that is read as a yes or a no, bytes.
pub const ANSWER_WORD_BYTES: u64 = 1_024;

// Limits of what is known of the user's texts and of agents that are continued.

/// Answers of one reply to texts of the user that are read.
pub const ANSWERS: usize = 32;
/// Longest id of a text in an answer, bytes.
pub const ANSWER_ID: usize = 24;
/// Columns of the sentence in which a model says what it did with a text.
pub const ANSWER_COLUMNS: usize = 240;

/// Time after which a text for an agent that waits for its sub-agents is offered to be forwarded to them.
pub const FORWARD_AFTER: Duration = Duration::from_secs(30);

/// Conversations of finished sub-agents that are kept, so that they can be continued.
pub const KEPT_AGENTS: usize = 32;
/// Conversations of finished sub-agents: all that are kept together, bytes; the oldest give way.
pub const KEPT_AGENT_BYTES: usize = 32 * 1024 * 1024;
/// Directories of finished sub-agents: all that are kept together, bytes; the oldest are deleted. As much as one clone.
pub const KEPT_WORKSPACE_BYTES: u64 = 1_000_000_000;
/// Bytes that a file or directory without content counts in a kept directory.
pub const KEPT_WORKSPACE_ENTRY: u64 = 4 * 1024;
/// Notes on continued sub-agents that wait for the main agent.
pub const AGENT_NOTES: usize = 16;
/// Characters of what was asked of a continued sub-agent that the main agent is told.
pub const AGENT_NOTE_ASKED: usize = 300;
/// Characters of a continued sub-agent's answer that the main agent is told.
pub const AGENT_NOTE_ANSWER: usize = 4_000;
