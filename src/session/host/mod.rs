//! The host: runs an agent on a task of its own and hands its events to whoever shows them.
//!
//! [`run()`] does it for any agent; everything else here is the session of the program. The queue and the cancel flag are
//! shared handles, not commands: a busy agent reads no command channel.
//!
//! # Where things are
//!
//! - the loop of every host, a host for any agent: `turns.rs`, `run.rs`; tests: `library/host.rs`
//! - the worker between agent and screen, the mailbox: `worker.rs`, `mailbox.rs`; tests: `host/mod.rs`
//! - a reset, another model in mid-conversation, the list of models: `command.rs`, `background.rs`,
//!   `src/agent/model.rs`, `src/agent/model_choice.rs`; tests: `host/commands.rs`
//! - what the main agent is made of, its system prompt: `setup.rs`, `assets/prompts/main.md`; tests: `host/mod.rs`
//! - a session that goes on: `resumed.rs`, `src/agent/resume.rs`; tests: `tests/program/sessions/resume.rs`
//! - mode, sandbox and context files, as an event: `guards.rs`; tests: `host/mod.rs`, `tests/program/real_work.rs`
//! - the user's own shell lines: `shell.rs`; tests: `shell_lines.rs`
//! - shell lines in custom commands: `fill.rs`; tests: `fills.rs`
//! - a line that the user adds to `AGENTS.md`: `instructions.rs`; tests: `tests/tui/rule_or_line.rs`
//! - MCP servers of a session: `setup.rs`, `src/extensions/mcp/mod.rs`; tests: `tests/extensions/mcp/mod.rs`
//! - `AGENTS.md`, `CLAUDE.md`: `context_files/mod.rs`; tests: `tests/program/context_files.rs`
//! - the turns that the user gave finished sub-agents: `continued.rs`
//! - questions of agents that are open beside their work: `open_questions.rs`; tests: `tests/session/agent_questions.rs`

mod background;
mod command;
mod context_files;
mod continued;
mod fill;
mod guards;
mod handle;
mod instructions;
mod mailbox;
mod open_questions;
mod resumed;
mod run;
mod setup;
mod shell;
mod tools;
mod turns;
mod undo;
mod worker;

pub use command::Command;
pub use context_files::{
    ContextFile, ContextFiles, ContextPlaces, find as find_context_files, snippet as context_snippet,
};
pub use handle::{Handle, Keeper};
pub use mailbox::{Mailbox, Tap};
pub use resumed::{ClosingEvent, LeftQuestion, Numbers, ResumeSource, Resumed};
pub use run::{EventStream, RunningAgent, run};
pub use setup::{HookSetup, ServerSetup, Setup};
pub use shell::Shell;
pub use steersman_base::error::StartError;
pub use steersman_base::protocol::{LocalServer, Notice, Update};
pub use steersman_core::control::Staleness;
pub use tools::{Pools, WebPool, Workbench};
pub use turns::{LastRun, WorkerState};
pub use worker::{Host, start, start_with};
