//! MCP: tools of servers that the user has configured, or a trusted project.
//!
//! Everything that a server says is untrusted. This program speaks the protocol itself: the types that a client needs are
//! few, and what the library `rmcp` does on an endless line, on broken JSON and on the end of a process is not what is
//! promised here.
//!
//! # Where things are
//!
//! - messages of the protocol: `message.rs`; processes: `process.rs`, `transport/stdio.rs`; tests: `mcp/stdio.rs`,
//!   `tests/program/outside.rs`
//! - addresses, sessions, streams: `transport/http.rs`, `transport/sse.rs`; tests: `mcp/http.rs`
//! - logins: `login/mod.rs`; tests: `tests/program/mcp/login.rs`
//! - requests, time-outs, progress, cancellation, what a server asks for: `connection.rs`; tests: `mcp/connection.rs`
//! - the handshake, lists, calls: `session.rs`, `catalog.rs`, `store.rs`
//! - one server in one directory, its start, failures, repeats: `instance.rs`, `server.rs`; tests: `mcp/stdio.rs`
//! - what agents get: `servers.rs`, `tool.rs`, `search.rs`, `names.rs`; tests: `mcp/tools.rs`, `mcp/lists.rs`, `mcp/subagents.rs`
//! - how a server says that its tools are to be used: `server.rs`, `tool.rs`; tests: `mcp/instructions.rs`
//! - resources and questions: `resource.rs`, `elicitation.rs`, `prompt.rs`; tests: `mcp/tools.rs`, `tests/tui/mcp_servers.rs`
//! - public servers, tests: `mcp/real.rs`
//! - the check of a call's arguments against the schema of its tool, as far as it spares a call that the server would
//!   refuse: `arguments.rs`
//! - a server as it is configured: `definition.rs`
//! - the extension that gives the main agent the tools of the session's servers: `extension.rs`
//! - what a server tells of a call that runs: `progress.rs`
//! - the result of a call as the model gets it: `results.rs`

mod arguments;
pub mod catalog;
pub mod connection;
pub mod definition;
mod elicitation;
mod extension;
pub mod instance;
pub mod login;
pub mod message;
pub mod names;
mod process;
mod progress;
mod prompt;
mod resource;
mod results;
mod search;
pub mod server;
mod servers;
pub mod session;
pub mod store;
mod tool;
pub mod transport;

pub use extension::ServerTools;
pub use progress::Progress;
pub use servers::Servers;
