//! Sub-agents: personas, the `agent` tool and the extension that adds them.
//!
//! The model delegates a task; a fresh agent with the persona's prompt, tools and budget works on a conversation of its
//! own; its final answer is the parent's observation. A child never gets the `agent` tool or an extension, and a queue
//! of its own only as a member of agent controls (D21).
//!
//! # Where things are
//!
//! - the tool, calls that wait and calls that do not: `tool.rs`; tests: `subagent/mod.rs`, `tests/session/background_agents.rs`
//! - how a sub-agent is made and run, and its id: `spawner.rs`; tests: `subagent/mod.rs`, `subagent/events.rs`
//! - steering one child: its queue, cancelling it alone, messages that come back when it ends: `member.rs`,
//!   `src/core/control/agent_controls.rs`, `src/session/host/handle.rs`; tests: `tests/session/agent_controls.rs`
//! - personas, `<available_agents>`, temporary workspaces: `persona.rs`, `extension.rs`, `temp_workspace.rs`,
//!   `assets/personas/file_miner.md`; tests: `subagent/personas.rs`, `temp_workspace.rs`
//! - continuing a finished sub-agent: `finished.rs`, `continuations.rs`, `src/core/control/agent_notes.rs`,
//!   `src/session/host/handle.rs`, `src/session/journal/restore_agents.rs`; tests: `tests/tui/continued_agents.rs`,
//!   `tests/program/sessions/continued.rs`
//! - agent files of Claude Code: `claude_file.rs`, `src/base/front_matter/mod.rs`; tests: `tests/program/claude_agents.rs`
//! - personas: files, table, which one replaces another: `persona.rs`, `roster.rs`, `src/program/cli/personas.rs`; tests:
//!   `tests/program/personas.rs`

mod claude_file;
mod continuations;
mod extension;
mod finished;
mod member;
mod persona;
mod roster;
mod spawner;
mod temp_workspace;
mod tool;

pub use claude_file::ClaudeFile;
pub use continuations::{Continuation, Continuations};
pub use extension::{SubAgents, available_agents_snippet};
pub use finished::{FinishedAgent, FinishedAgents};
pub use persona::{Persona, TempWorkspace};
pub use roster::{EVERYTHING, Headless, PersonaSource, Roster, RosterEntry};
pub use tool::{DESCRIPTION, SubAgentTool};
