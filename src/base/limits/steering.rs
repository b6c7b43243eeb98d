//! Limits of what is known of the user's texts and of agents that are continued.

use std::time::Duration;

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
