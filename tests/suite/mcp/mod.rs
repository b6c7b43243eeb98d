//! MCP servers: the protocol, processes and addresses, what agents get of them, how they are configured.

mod command;
mod configuration;
mod connection;
mod http;
mod instructions;
mod lists;
mod login;
mod project;
mod real;
mod screen;
mod stdio;
mod subagents;
pub mod tools;
