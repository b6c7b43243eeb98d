//! `steersman mcp list`: the configured servers and what is known about them.

use std::fmt::Write as _;

use crate::program::cli::args::Flags;
use crate::program::cli::exit::{self, Exit, print, say};
use crate::program::cli::with_runtime;
use steersman_base::protocol::ServerStatus;
use steersman_base::summary::count;
use steersman_base::text::visible_line;

pub(super) fn run(flags: &Flags, json: bool) -> Result<Exit, String> {
    let mut notes = Vec::new();
    let start = super::started(flags, &mut notes)?;
    let servers = with_runtime(super::servers(&start, &mut notes))?;
    let status = servers.status();
    let text = if json { exit::json(&status)? } else { status.iter().map(lines).collect() };
    print(&text);
    for note in &notes {
        say(note);
    }
    if status.is_empty() && !json {
        say("no MCP server is configured; steersman help mcp says how");
    }
    Ok(Exit::Done)
}

pub(super) fn lines(server: &ServerStatus) -> String {
    let ServerStatus {
        name, source, reached, variables, state, tools, prompts, resources, error, errors, notes, ..
    } = server;
    let mut text = format!("{name}  {}  {}\n", state.name(), count(tools.len(), "tool"));
    let mut put = |what: &str, value: &str| {
        if !value.is_empty() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {what}: {}", visible_line(value));
        }
    };
    put("reached by", reached);
    put("gets", &variables.join(", "));
    put("from", source);
    put("tools", &tools.join(", "));
    put("instructions", &server.instructions);
    put("prompts", &prompts.join(", "));
    put("resources", &resources.join(", "));
    put("error", error.as_deref().unwrap_or_default());
    for note in notes {
        put("note", note);
    }
    for line in errors.lines() {
        put("error output", line);
    }
    text
}
