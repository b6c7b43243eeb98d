//! The list of the texts that wait for delivery.
//!
//! # Where things are
//!
//! - its keys: `src/tui/update/pending.rs`, `src/tui/update/editing.rs`; how it is drawn: `src/tui/view/pending.rs`
//! - what it holds besides the texts: `state.rs`; stories: `pending_list.rs`, `pending_lives.rs`, `tests/pty/pending.rs`

mod state;

pub use state::PendingPane;
