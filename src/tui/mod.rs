//! The full screen: a fold over the event stream, drawn.
//!
//! `update` changes the state, `view` draws it, `run` ties both to the terminal and to the agent's host; nothing else
//! here knows the host.

pub mod commands;
pub mod export;
mod files;
pub mod frame_clock;
pub mod fuzzy;
mod handover;
pub mod highlight;
pub mod history_file;
pub mod input;
pub mod keymap;
pub mod lines;
pub mod msg;
pub mod outside;
pub mod run;
pub mod state;
pub mod terminal;
pub mod theme;
pub mod update;
pub mod view;

pub use outside::Outside;
pub use run::{Answers, Ending, ScreenOptions, run, run_lines};
