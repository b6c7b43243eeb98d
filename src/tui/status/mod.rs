//! The status line: the state of the turn, figures and short messages; below it directory, branch, model, context and the
//! approval mode.
//!
//! # Where things are
//!
//! - the turn, its figures, directory and model: `state.rs`, `view.rs`; stories: `tui_shell.rs`
//! - short messages and how long they stand: `state.rs`, `src/tui/state/cause.rs`; stories: `commands.rs`, `approval_popups.rs`
//! - the wait before the next attempt, counted down: `view.rs`; stories: `retry_countdown.rs`
//! - the approval mode and the sandbox in a few words: `view/badge.rs`; stories: `modes.rs`

mod state;
pub mod view;

pub use state::{HostState, ModelSource, Status};
