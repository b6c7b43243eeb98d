//! The MCP servers of a start: those of the user's configuration, and those of a trusted project behind them.

use std::path::Path;

use crate::cli::load::Start;
use crate::config::{Environment, ServerSection};
use crate::host::ServerSetup;
use crate::mcp::definition::ServerDefinition;
use crate::mcp::store::Store;
use crate::text::visible_line;

/// Bytes below which the value of a variable is too short to be a secret that could be hidden anywhere.
const SHORT: usize = 8;

/// Makes the setup of servers; sentences about those that cannot be used go to `notes`.
pub fn setup(start: &Start, notes: &mut Vec<String>) -> ServerSetup {
    ServerSetup {
        definitions: definitions(start, notes),
        store: start.places.state.as_deref().map(Store::at).unwrap_or_default(),
        http: start.config.http(),
        window_percent: start.config.mcp_window_percent,
    }
}

/// Makes the definitions of the servers that are switched on.
pub fn definitions(start: &Start, notes: &mut Vec<String>) -> Vec<ServerDefinition> {
    let environment = Environment::of_process();
    let project = start.places.project.as_deref().unwrap_or(&start.cwd);
    let own = start.config.servers.iter().map(|(name, server)| (name, server, "config.toml", start.cwd.as_path()));
    let of_project = start.project_servers.iter().filter_map(|(name, server)| {
        if start.config.servers.contains_key(name) {
            notes.push(format!("the MCP server {name} of the project is not used: one of yours has its name"));
            return None;
        }
        Some((name, server, "project", project))
    });
    let all: Vec<(&String, &ServerSection, &str, &Path)> = own.chain(of_project).collect();
    let mut definitions = Vec::new();
    for (name, server, source, beside) in all.into_iter().filter(|(_, server, ..)| server.is_enabled()) {
        match server.definition(name, source, &environment, beside) {
            Ok(definition) => definitions.push(definition),
            Err(why) => notes.push(format!("the MCP server {} is not used: {why}", visible_line(name))),
        }
    }
    definitions
}

/// Returns the secrets of a server that must not enter a record: one so short would hide half of every text.
pub fn hidden(server: &ServerDefinition) -> impl Iterator<Item = &str> {
    server.secrets().filter(|secret| secret.len() >= SHORT)
}
