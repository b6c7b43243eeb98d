//! `steersman mcp`: the MCP servers of a start, checked, logged in at, and taken over from other programs.
//!
//! # Where things are
//!
//! - the servers of a start: `definitions.rs`; tests: `mcp/configuration.rs`
//! - `list`, `doctor`, `import`: `list.rs`, `doctor.rs`, `import.rs`; tests: `mcp/command.rs`
//! - `login`, `logout`: `login.rs`; tests: `mcp/login.rs`

mod definitions;
mod doctor;
mod import;
mod list;
mod login;

use std::path::PathBuf;
use std::sync::Arc;

use clap::Subcommand;

use crate::program::cli::args::Flags;
use crate::program::cli::exit::Exit;
use crate::program::cli::load::{Start, load};
use crate::program::cli::project::{FrontEnd, trusted_offer};
use crate::program::cli::workbench::workbench;
use steersman_core::approval::{Answerer, Approvals, Mode, Policy};
use steersman_extensions::mcp::Servers;

pub use definitions::{hidden, setup};

/// What `mcp` does.
#[derive(Debug, Subcommand)]
pub enum McpCommand {
    /// Print the configured servers, how they are reached and what is known about them; none is started.
    List {
        /// Write the list as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Start each server, ask what it offers, and say what is wrong with it.
    ///
    /// Exit code: 0 when all is well, 1 when there is a problem.
    Doctor {
        /// Only these servers.
        names: Vec<String>,
    },
    /// Print the servers of other programs as sections for the configuration file.
    ///
    /// Without a file those of Claude Code (~/.claude.json) and codex (~/.codex/config.toml) are read.
    Import {
        /// A file: .mcp.json, .claude.json, or config.toml of codex.
        file: Option<PathBuf>,
        /// Add the sections to the configuration file; servers whose name is taken are left out.
        #[arg(long)]
        write: bool,
    },
    /// Log in at a server, in a browser of this machine.
    ///
    /// Exit code: 0 when the server takes the login, 1 when not.
    Login {
        /// The server.
        name: String,
    },
    /// Forget the login at a server.
    Logout {
        /// The server.
        name: String,
    },
}

/// Carries it out.
pub fn run(flags: &Flags, command: &McpCommand) -> Exit {
    let outcome = match command {
        McpCommand::List { json } => list::run(flags, *json),
        McpCommand::Doctor { names } => doctor::run(flags, names),
        McpCommand::Import { file, write } => import::run(flags, file.as_deref(), *write),
        McpCommand::Login { name } => login::log_in(flags, name),
        McpCommand::Logout { name } => login::log_out(flags, name),
    };
    Exit::from_result(outcome, Exit::Usage)
}

/// Reads the configuration, with the servers of the project where the user trusts it already; sentences go to `notes`.
fn started(flags: &Flags, notes: &mut Vec<String>) -> Result<Start, String> {
    let mut start = load(flags, FrontEnd::Exec, Answerer::Nobody).map_err(|error| error.to_string())?;
    notes.extend(start.places.notes.iter().cloned());
    if let Some(offer) = trusted_offer(&start.places, None, notes) {
        start.adopt(&offer);
    }
    Ok(start)
}

/// Makes the servers. Nobody is there to answer what one asks.
async fn servers(start: &Start, notes: &mut Vec<String>) -> Result<Arc<Servers>, String> {
    let bench = workbench(&start.config, &start.places, &start.cwd, &mut Vec::new()).await;
    let bench = bench.map_err(|error| error.to_string())?;
    let approvals = Arc::new(Approvals::new(Policy::default(), Mode::ReadOnly));
    Ok(setup(start, notes).make(bench.spawner, approvals, start.cwd.clone(), None))
}
