//! What clients ask about the MCP servers of a session.

use crate::host::Handle;
use crate::protocol::{Reply, ServerRequest};

/// Says how the servers stand; starts one before that where it is asked for.
pub(super) fn list(handle: &Handle, request: ServerRequest) -> Reply {
    let failed = match request {
        ServerRequest::List => None,
        ServerRequest::Start(name) => {
            let started = handle.servers().map_or_else(|| Err(NONE.to_owned()), |servers| servers.start(&name));
            started.err().map(|why| (name, why))
        }
    };
    Reply::Servers { failed, servers: handle.servers().map(|servers| servers.status()).unwrap_or_default() }
}

/// Gets the text of a prompt.
pub(super) fn prompt(handle: &Handle, server: String, prompt: String, words: &str) -> Reply {
    let asked = handle.servers().map(|servers| servers.prompt(&server, &prompt, words));
    let outcome = asked.unwrap_or_else(|| Err(NONE.to_owned()));
    Reply::Prompt { server, prompt, outcome }
}

const NONE: &str = "no MCP server is configured";
