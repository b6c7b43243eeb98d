//! The panel of a paused agent: where it waits, the call that would run next, and what can be decided about it.
//!
//! # Where things are
//!
//! - what it holds: `state.rs`; what its keys do: `update.rs`; how it is drawn: `view.rs`; the arguments as the user edits them: `arguments.rs`; stories: `hold.rs`,
//!   `tests/pty/hold.rs`

mod arguments;
mod state;
mod update;
pub mod view;

pub use arguments::{editable, read_arguments};
pub use state::{PauseDrawn, PausePane};
pub use update::{Panel, act, all, begin, decide, enter, focus, panel, paused, travel};
