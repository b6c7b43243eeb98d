//! What an agent is extended with: the servers of the Model Context Protocol, hooks, skills, schemas for its answers, and a model
//! over HTTP.
//!
//! # Where things are
//!
//! - schemas that an answer must match, out of their text, and answers as a Rust type: `output_schema.rs`
//! - agents whose model is behind an HTTP server: `over_http.rs`

pub mod hooks;
pub mod mcp;
pub mod output_schema;
pub mod over_http;
pub mod skill;
