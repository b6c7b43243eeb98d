//! What is done with saved sessions beside going on with them: search, comparison, export, replay; and those of other programs.
//!
//! # Where things are
//!
//! - `search`: `search.rs`; tests: `sessions/search.rs`
//! - `diff`: `diff.rs`, `src/exchange/compare/mod.rs`; tests: `sessions/compare.rs`
//! - `export`: `export.rs`, `send.rs`; tests: `sessions/export.rs`
//! - `import`: `import.rs`, `src/exchange/import`; tests: `sessions/import.rs`
//! - `replay`: `replay.rs`; tests: `sessions/replay.rs`
//! - which session it is: `source.rs`

mod diff;
mod export;
mod import;
mod replay;
mod search;
mod send;
mod source;

use clap::Subcommand;

use crate::program::cli::args::Flags;
use crate::program::cli::exit::Exit;
use crate::program::cli::sessions::files;

/// The commands about saved sessions.
#[derive(Debug, Subcommand)]
pub enum ArchiveCommand {
    /// Search all saved sessions, the newest first, for texts that hold all the words, in any case of letters.
    ///
    /// Exit code: 0 when something was found, 1 when not.
    Search(search::SearchArgs),
    /// Compare two saved sessions: where they part, then their calls, files, tokens, cost and answers side by side.
    Diff(diff::DiffArgs),
    /// Write a saved session as a document: Markdown, a web page, JSON, CSV, a recording, a trajectory or traces.
    Export(export::ExportArgs),
    /// Show a saved session again, event by event, with a timeline; or print the screen as it was at any event.
    Replay(replay::ReplayArgs),
    /// Read sessions of other programs, codex and Claude Code, as sessions to be searched, replayed, exported and branched from.
    ///
    /// Exit code: 1 when one of them cannot be read.
    Import(import::ImportArgs),
}

/// Carries a command out.
pub fn run(flags: &Flags, command: &ArchiveCommand) -> Exit {
    let done = files(flags).and_then(|files| match command {
        ArchiveCommand::Search(args) => search::run(&files, args),
        ArchiveCommand::Diff(args) => diff::run(&files, args),
        ArchiveCommand::Export(args) => export::run(&files, args),
        ArchiveCommand::Replay(args) => replay::run(flags, &files, args),
        ArchiveCommand::Import(args) => Ok(import::run(&files, args)),
    });
    Exit::from_result(done, Exit::Failed)
}
