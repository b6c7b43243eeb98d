//! The list to choose from that lies over the screen: the saved sessions, or the user's own messages.
//!
//! A pane in its own folder: its state, its keys and its drawing stand here, and take facts besides their own state, never
//! the whole `App`. What is decided with it is done in `update/sessions.rs`.
//!
//! # Where things are
//!
//! - the rows, the filter, the keys: `choices.rs`; on the screen: `view.rs`; stories: `session/screen.rs`
//! - what a choice leads to, the questions about that: `src/tui/update/sessions.rs`, `src/tui/switch.rs`; stories:
//!   `session/screen.rs`, `session/branch.rs`
//! - the saved sessions as rows: `src/tui/run/sessions.rs`; stories: `session/command.rs`

mod choices;
mod view;

pub use choices::Choices;
