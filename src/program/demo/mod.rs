//! The embedded model: a model server inside the process, so that the program works with no key, network or download.
//!
//! It speaks chat completions on a loopback port behind a random key of this start. Its model is a deterministic
//! planner ([`plan()`](plan::plan)): it holds no state, and derives everything from the messages and tools it was sent.
//!
//! # Where things are
//!
//! - the embedded model's server and its pace: `server.rs`, `stream.rs`, `pace.rs`; tests: `demo/wire.rs`
//! - small pieces of Markdown around text that is not ours: quotes, code spans, fences, tables: `markdown.rs`
//! - the wire of chat completions, as the embedded model reads and writes it: `wire.rs`

mod markdown;
mod pace;
mod plan;
mod server;
mod stream;
mod wire;

pub use pace::Pace;
pub use plan::{PlannedCall, PlannedReply, plan};
pub use server::{DemoServer, start};
pub use wire::ChatBody;

/// The name of the embedded model as a place where models come from, and as a provider.
pub const SOURCE: &str = "demo";
/// The name under which the embedded model is listed.
pub const MODEL: &str = "steersman-embedded";
