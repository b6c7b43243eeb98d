//! A saved session as a document for others: a web page, a chat, a trajectory, traces.
//!
//! Called by `steersman export`. All forms are written from one reduction of the journal's records; nothing is in a document
//! that the journal does not hold.
//!
//! # Where things are
//!
//! - records into agents, turns, replies and calls: `reduce.rs`
//! - messages as chat completions have them: `chat.rs`
//! - ATIF v1.7: `atif.rs`; spans of OpenTelemetry: `otlp.rs`
//! - the web page: `html/mod.rs`, its Markdown: `html/markdown.rs`
//! - all of it: `mod.rs`; tests: `export.rs`

mod atif;
mod chat;
mod html;
mod otlp;
mod reduce;

pub use atif::atif;
pub use chat::chat;
pub use html::html;
pub use otlp::otlp;
pub use reduce::{AgentPart, CallPart, Item, Reply, ResultPart, SessionParts, TextState};
