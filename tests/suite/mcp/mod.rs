//! MCP servers: the protocol, processes and addresses, what agents get of them, how they are configured.

mod connection;
mod http;
mod lists;
mod login;
mod stdio;
mod subagents;
pub mod tools;
