//! MCP servers in configuration files: this program's own, and those of other programs.
//!
//! # Where things are
//!
//! - the section `[mcp.NAME]` and its definition: `section.rs`; tests: `mcp/configuration.rs`
//! - `.mcp.json`, `~/.claude.json`, the `config.toml` of codex, and writing them as sections: `files.rs`; tests:
//!   `mcp/command.rs`

mod files;
mod section;

pub use files::{ForeignServers, read_claude, read_codex, read_project, to_toml};
pub use section::ServerSection;
