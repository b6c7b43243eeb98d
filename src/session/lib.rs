//! A run as its clients see it: requests are carried out on the host, and everything that happens comes back as updates.
//!
//! # Where things are
//!
//! - what a client knows of a run without a screen: `model/mod.rs`, with its tests
//! - the journal of a session: `journal/mod.rs`; tests: `journal/mod.rs`
//! - the pending texts of all agents, as records tell them: `queue_log.rs`; tests: `tests/session/queue_log.rs`
//! - what has begun and not ended, where a run breaks off: `open_items.rs`; tests: `tests/program/sessions/resume.rs`,
//!   `outside/remote.rs`
//! - a saved session as a screen was told of it: `replay/mod.rs`; tests: `tests/program/sessions/replay.rs`
//! - search in the journals of all sessions: `search/mod.rs`; tests: `tests/program/sessions/search.rs`
//! - what every client holds: `client.rs`; tests: `client.rs`
//! - a client in the same process: `local.rs`; tests: `client.rs`
//! - several clients of one run, each with its own place: `hub.rs`, `members.rs`, `drafts.rs`, `past.rs`; tests:
//!   `outside/clients.rs`
//! - clients of other processes: `socket/mod.rs`; how a session stands, for them: `status.rs`; tests: `session/outside/`
//! - a run as a stream of lines for programs, and its result: `stream/mod.rs`; tests: `tests/program/headless/output.rs`
//! - a session that another program writes, to be read: `recorded.rs`; tests: `read_only.rs`
//! - what each request does to the run: `requests.rs`, and to approvals, commands and servers: `answers.rs`; tests: `tests/tui/pause.rs`,
//!   `tests/tui/pending_list.rs`, `tests/tui/approval_popups/mod.rs`
//! - files that the user names for output: a file, or what the system offers under the name of one: `named_file.rs`
//! - values that are put away in little memory: `packed.rs`
//! - whether every state that a client shows begins and ends: `states.rs`

mod answers;
mod client;
mod drafts;
pub mod host;
mod hub;
pub mod journal;
mod local;
mod members;
pub mod model;
pub mod named_file;
mod open_items;
pub mod packed;
mod past;
pub mod queue_log;
mod recorded;
pub mod replay;
mod requests;
pub mod search;
pub mod socket;
#[cfg(test)]
mod states;
mod status;
pub mod stream;

pub use client::{Client, Wake, WakeReason};
pub use hub::{Beginning, Hub, SCREEN};
pub use local::LocalClient;
pub use recorded::RecordedClient;
pub use requests::Requests;
pub use status::StatusReducer;
pub use steersman_tools::workspace::{Bounds, EntryKind, Walk};
