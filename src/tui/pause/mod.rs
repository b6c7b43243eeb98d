//! The panel of a paused agent: where it waits, the call that would run next, and what can be decided about it.
//!
//! # Where things are
//!
//! - its keys: `src/tui/update/hold.rs`; how it is drawn: `src/tui/view/gate.rs`
//! - what it holds: `state.rs`; the arguments as the user edits them: `arguments.rs`; stories: `hold.rs`,
//!   `tests/pty/hold.rs`

mod arguments;
mod state;

pub use arguments::{editable, read_arguments};
pub use state::{PauseDrawn, PausePane};
