//! What an agent is extended with: the servers of the Model Context Protocol, hooks, skills, schemas for its answers, and a model
//! over HTTP.

pub mod ask_as;
pub mod hooks;
pub mod mcp;
pub mod output_schema;
pub mod over_http;
pub mod skill;
