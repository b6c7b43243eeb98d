//! MCP servers: the protocol, processes and addresses, what agents get of them, how they are configured.

mod connection;
mod http;
mod instructions;
mod lists;
mod real;
mod stdio;
mod subagents;
pub mod tools;
