//! The list of the texts that wait for delivery.
//!
//! # Where things are
//!
//! - what it holds besides the texts: `state.rs`; what its keys do: `update.rs`; how it is drawn: `view.rs`; stories:
//!   `pending_list.rs`, `pending_lives.rs`, `tests/pty/pending.rs`

mod state;
mod update;
pub mod view;

pub use state::PendingPane;
pub use update::{Turn, act, answered, delete, deliver_now, focus, take_back, travel};
