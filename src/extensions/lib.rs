//! What an agent is extended with: the servers of the Model Context Protocol, hooks and skills.

pub mod hooks;
pub mod mcp;
pub mod output_schema;
pub mod over_http;
pub mod skill;
