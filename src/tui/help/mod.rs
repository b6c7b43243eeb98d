//! Help: the commands, the keys and the pages of the manual, over everything else on the screen.
//!
//! A pane in its own folder: its state, its keys and its drawing stand here, and take facts besides their own state, never
//! the whole `App`. It is an overlay (`src/tui/overlay`).
//!
//! # Where things are
//!
//! - what it holds, and where its reader is: `state.rs`; what its keys do: `update.rs`; stories: `help.rs`
//! - what it lists, what a filter leaves of that, where each entry leads: `list.rs`
//! - the list and a page on the screen: `view.rs`; stories: `help.rs`, `tests/pty/commands.rs`

mod list;
mod state;
mod update;
mod view;

pub use state::Help;
