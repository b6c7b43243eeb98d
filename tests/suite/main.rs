//! One binary for all behaviours. Each module is named after the behaviour or the source file that it tests.

#[path = "../support/mod.rs"]
mod support;

mod agent;
mod assemble;
mod calculator;
mod cancel;
mod cli;
mod config;
mod context_window;
mod controls;
mod demo;
mod dialect;
mod events;
mod exec;
mod glob;
mod grep;
mod history;
mod host;
mod injection;
mod layers;
mod lifecycle;
mod listeners;
mod params;
mod queue_model;
mod read;
mod readme;
mod retry;
mod scripted_provider;
mod secrets;
mod sse;
mod subagent;
mod synthesizer;
mod text;
mod tools_parallel;
mod transcript;
mod tree;
mod truffle;
mod tui_shell;
mod wire;
mod workspace;
