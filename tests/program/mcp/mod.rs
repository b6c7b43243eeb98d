//! MCP servers of the whole program: their commands and configuration, logging in, those that a project brings.

mod command;
mod configuration;
mod login;
mod project;
mod rules;
