//! `exec` for programs: its lines, its result, its exit codes, its requests, and the schema of all of them.

mod attached;
mod background_agents;
mod ends;
mod environments;
mod files;
mod fold;
mod input;
mod output;
mod output_schema;
mod permission_command;
mod run_settings;
mod schema;
mod sessions;
mod stream_json;

use serde_json::Value;

use crate::support::program::Program;
use crate::support::server::Server;

fn exec(server: &Server) -> Program {
    Program::new().args(["exec", "--base-url", &server.url(), "--model", "m", "--sandbox", "off"])
}

fn lines(output: &str) -> Vec<Value> {
    output.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

/// Returns the events of a type, each with its line.
fn of<'a>(lines: &'a [Value], name: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["event"]["type"] == name).collect()
}
