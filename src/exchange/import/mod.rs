//! Sessions of other programs as sessions of this one: codex rollouts and Claude Code sessions.
//!
//! They are read once and written as journals that nobody goes on with: search, replay and export work on them, a branch
//! continues one. What a file does not say stays empty; a line that says nothing known is passed over and counted.
//!
//! # Where things are
//!
//! - which program wrote a file, and its lines: `source.rs`; files that codex has compressed: `compressed.rs`
//! - codex: `codex.rs`; Claude Code: `claude.rs`, and its sub-agents in files of their own: `claude_agents.rs`
//! - events, turns, rounds and the conversation, for both: `build.rs`
//! - tests: `import.rs`, `compressed.rs`

mod build;
mod claude;
mod claude_agents;
mod codex;
mod compressed;
mod source;

use std::io;
use std::path::Path;

pub use source::{ForeignProgram, find};

use steersman_session::journal::{Header, Record};

/// A session of another program, read.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// What it is, and where it is from.
    pub header: Header,
    /// What happened in it.
    pub records: Vec<Record>,
}

/// Reads a session of another program; `None` for a file that holds none, or in which nobody said anything.
///
/// # Errors
/// What the file itself says; a line that cannot be read is none.
pub fn import_file(path: &Path) -> io::Result<Option<Imported>> {
    let lines = source::lines(path)?;
    let built = match ForeignProgram::detect(&lines) {
        Some(ForeignProgram::Codex) => codex::build(&lines),
        Some(ForeignProgram::ClaudeCode) => claude::build(&claude_agents::merged(path, lines)?),
        None => return Ok(None),
    };
    Ok(built.finish(path))
}
