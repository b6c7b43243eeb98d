//! The timeline of a replay: where in a recorded session the screen stands, its marks, and how it plays.
//!
//! A pane in its own folder: its state and its drawing stand here; what it moves is done by `src/tui/update/replay.rs`,
//! since a replay is the whole screen with another source of posts.
//!
//! # Where things are
//!
//! - the steps and the marks: `steps.rs`; the jumps, the clock: `state.rs`; how it is drawn: `view.rs`; stories: `session/timeline.rs`
//! - what its keys do: `src/tui/update/replay.rs`; stories: `session/timeline.rs`, `tests/pty/sessions.rs`

mod state;
mod steps;
mod view;

pub use state::{Direction, Jump, Timeline};
pub use steps::{Mark, Step, Steps};
pub use view::{draw, hints};
