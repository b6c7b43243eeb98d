//! The host: runs the agent on a worker task and hands its events to whoever shows them.
//!
//! The queue and the cancel flag are shared handles, not commands: a busy agent reads no command channel.
//!
//! # Where things are
//!
//! - the worker between agent and screen, the mailbox: `worker.rs`, `mailbox.rs`; stories: `host.rs`
//! - a reset, another model in mid-conversation, the list of models: `command.rs`, `background.rs`,
//!   `src/agent/model.rs`, `src/agent/model_choice.rs`; stories: `host/commands.rs`
//! - what the main agent is made of, its system prompt: `setup.rs`, `assets/prompts/main.md`; stories: `host.rs`
//! - a session that goes on: `resumed.rs`, `src/agent/resume.rs`; stories: `session/resume.rs`
//! - mode, sandbox and context files, as an event: `guards.rs`; stories: `host.rs`, `real_work.rs`
//! - the user's own shell lines: `shell.rs`; stories: `shell_lines.rs`
//! - MCP servers of a session: `servers.rs`, `src/mcp/mod.rs`; stories: `mcp/mod.rs`
//! - `AGENTS.md`, `CLAUDE.md`: `context_files.rs`; stories: `context_files.rs`

mod background;
mod command;
mod context_files;
mod continued;
mod guards;
mod handle;
mod hooks;
mod mailbox;
mod resumed;
mod servers;
mod setup;
mod shell;
mod tools;
mod turn_marks;
mod undo_notes;
mod worker;

pub use crate::control::Staleness;
pub use crate::error::StartError;
pub use crate::protocol::{LocalServer, Notice, Post};
pub use command::Command;
pub use context_files::{
    ContextFile, ContextFiles, ContextPlaces, find as find_context_files, snippet as context_snippet,
};
pub use handle::{Handle, Keeper};
pub use hooks::HookSetup;
pub use mailbox::{Mailbox, Tap};
pub use resumed::{Closing, Earlier, Numbers, Resumed};
pub use servers::ServerSetup;
pub use setup::Setup;
pub use shell::Shell;
pub use tools::{Pools, WebPool, Workbench};
pub use worker::{Host, LastRun, WorkerState, start, start_with};
