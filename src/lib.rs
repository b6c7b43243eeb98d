//! Steersman: an agent library, and the full-screen host that steers it while it runs.
//!
//! Layers, each using only those above it: words (`id message event error text limits`), parts
//! (`control listener provider workspace`), `tool`, `agent`, `subagent`, `host`, `tui`, and the program (`cli config demo`).

pub mod agent;
pub mod assets;
pub mod cli;
pub mod config;
pub mod control;
pub mod demo;
pub mod error;
pub mod event;
pub mod host;
pub mod id;
pub mod limits;
pub mod listener;
pub mod message;
pub mod provider;
pub mod subagent;
mod sync;
pub mod text;
pub mod tool;
pub mod tui;
pub mod workspace;
