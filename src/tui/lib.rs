//! The full screen: the event stream, reduced to a state and drawn.
//!
//! `update` changes the state, `view` draws it, `run` ties both to the terminal and to the agent's host; nothing else
//! here knows the host.
//!
//! # Where things are
//!
//! - the root: panes and context, what a pane gets and what it answers: `app/mod.rs`, `ui_context.rs`, `effect.rs`, `update/mod.rs`;
//!   tests: `tui_shell.rs`, `tests/program/layers.rs`
//! - the agents and the details of one: `agents/mod.rs`; tests: `tree.rs`; notifications and the title: `alerts.rs`;
//!   tests: `alerts.rs`
//! - every key: `keymap/mod.rs`; tests: `tests/program/keys.rs`; help, which is made from them: `help/mod.rs`; tests: `help.rs`
//! - the screen's loop, and what it asks of the run: `run/mod.rs`, `src/base/protocol/request.rs`; tests: `tests/pty/steering.rs`,
//!   `tests/pty/any_moment/mod.rs`
//! - a saved session on the screen: `replay/mod.rs`; tests: `tests/program/sessions/replay.rs`
//! - when a frame is drawn: `frame_clock.rs`; tests: `tests/bench/screen.rs`
//! - keys, pastes, mouse and focus out of bytes: `input/mod.rs`, `input/decode/mod.rs`, `input/sequence.rs`; tests:
//!   `tests/pty/terminal.rs`
//! - images as pictures: `pictures/mod.rs`; tests: `picture_cells.rs`, `tests/pty/pictures.rs`
//! - lists to choose from: `choices.rs`; what they list: `sessions.rs`, `branch.rs`, `servers.rs`, `hooks.rs`, `switch.rs`; tests:
//!   `session_screen.rs`, `session_branch.rs`, `mcp_servers.rs`, `hooks_list.rs`
//! - what an earlier process left: `unfinished.rs`; undo: `undo.rs`; rules: `rules.rs`; budget, compaction, another try:
//!   `conversation.rs`; tests: `session_screen.rs`, `undo.rs`, `rule_or_line.rs`, `long_conversations.rs`
//! - slash commands and their completion: `commands/mod.rs`, `update/command.rs`, `palette/mod.rs`; tests: `commands.rs`,
//!   `tests/pty/commands.rs`
//! - does on threads of their own what would hold the screen up: exports, undo, the colours of code: `files.rs`
//! - where the keys go: the pane that has the focus, and what lies over it: `focus.rs`
//! - what was handed over to a loop, and whether the loop has taken it: `handover.rs`
//! - what the root of the screen takes in (`Msg`): input, updates, and the answers to effects: `msg.rs`
//! - what the screen cannot start by itself: programs of the user's own: `outside.rs`
//! - the tour of the first minute: `tour.rs`

// Used by the program and its tests alone; most fields and variants are what they are called.
#![allow(missing_docs)]

pub mod agents;
pub mod alerts;
pub mod app;
pub mod approval;
pub mod changes;
pub mod command_runs;
pub mod commands;
pub mod compared;
pub mod context;
pub mod effect;
pub mod export;
mod files;
pub mod focus;
pub mod frame_clock;
pub mod fuzzy;
mod handover;
pub mod help;
pub mod highlight;
pub mod history_file;
pub mod input;
pub mod jobs;
pub mod keymap;
pub mod ledger;
pub mod lines;
pub mod message;
pub mod msg;
pub mod outside;
pub mod overlay;
pub mod palette;
pub mod pause;
pub mod pending;
pub mod pictures;
pub mod plan;
pub mod replay;
pub mod run;
pub mod sessions;
pub mod state;
pub mod status;
pub mod switch;
pub mod terminal;
pub mod theme;
pub mod timeline;
pub mod tour;
pub mod transcript;
pub mod ui_context;
pub mod update;
pub mod view;
pub mod widgets;

pub mod branch;
pub mod choices;
pub mod conversation;
pub mod hooks;
pub mod rules;
pub mod servers;
pub mod undo;
pub mod unfinished;
pub use outside::Outside;
pub use run::{Ending, ScreenOptions, run, run_lines};
