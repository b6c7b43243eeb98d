//! What the tests of all crates share: scripted models and servers, hosts and screens in memory, terminals.
//!
//! A feature for each crate brings what stands on it, so that the tests of a crate are built without those above it.

#![allow(missing_docs, clippy::missing_panics_doc, clippy::missing_errors_doc)] // Panics are how tests fail.
#![allow(clippy::return_self_not_must_use, clippy::new_without_default)] // It is used by tests alone.

use std::path::{Path, PathBuf};

#[cfg(feature = "extensions")]
pub mod authorization;
#[cfg(feature = "session")]
pub mod bench;
pub mod contents;
pub mod cpu_time;
pub mod dialects;
#[cfg(feature = "agent")]
pub mod doubles;
pub mod family;
pub mod figures;
#[cfg(feature = "tools")]
pub mod files;
#[cfg(feature = "agent")]
pub mod framed;
pub mod gguf;
#[cfg(all(feature = "tools", target_os = "linux"))]
pub mod grounds;
pub mod http2;
pub mod items;
#[cfg(feature = "session")]
pub mod journals;
#[cfg(feature = "session")]
pub mod json_client;
#[cfg(feature = "session")]
pub mod kept_agents;
#[cfg(feature = "session")]
pub mod listening;
#[cfg(feature = "session")]
pub mod long_session;
#[cfg(feature = "extensions")]
pub mod mcp;
#[cfg(feature = "extensions")]
pub mod mcp_http;
pub mod messages;
pub mod paced;
#[cfg(feature = "tui")]
pub mod picture;
pub mod plan_edits;
#[cfg(feature = "agent")]
pub mod plans;
pub mod png;
#[cfg(feature = "tools")]
pub mod processes;
#[cfg(feature = "program")]
pub mod program;
pub mod prose;
pub mod protected;
pub mod proxy;
pub mod refusals;
mod reply;
#[cfg(feature = "session")]
pub mod saved;
pub mod server;
pub mod signals;
pub mod site;
pub mod skip;
#[cfg(feature = "tui")]
pub mod snapshot;
#[cfg(feature = "tui")]
pub mod stage;
pub mod stream_schema;
#[cfg(feature = "agent")]
pub mod subagents;
#[cfg(feature = "program")]
pub mod terminal;
pub mod tls;
pub mod users;

/// Returns the directory of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// Returns the program that the running tests were built with: the whole one, or what guards commands alone where the
/// tests of one crate run. Whoever asks for it starts it, so it heeds signals from here on.
pub fn built_program() -> PathBuf {
    signals::heed_signals();
    let tests = std::env::current_exe().unwrap();
    let name = tests.file_stem().and_then(|name| name.to_str()).and_then(|name| name.rsplit_once('-'));
    let built = tests.parent().and_then(Path::parent).unwrap();
    let guard = name.map(|(tests, _)| built.join(format!("{tests}_guard"))).filter(|guard| guard.exists());
    guard.unwrap_or_else(|| built.join("steersman"))
}
