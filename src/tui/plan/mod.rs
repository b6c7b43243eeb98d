//! The plan of an agent, over everything else on the screen: its steps, what the user does to them, and what waits to be told.
//!
//! A pane in its own folder: its state, its keys and its drawing stand here, and take facts besides their own state, never
//! the whole `App`. It is an overlay (`src/tui/overlay`). The text of a step is written in the message. Always holds: the
//! pane changes nothing by itself; each key is a request to the run, and what the run says is shown.
//!
//! # Where things are
//!
//! - what it shows, and its keys: `state.rs`; the words of `/plan`: `words.rs`; how it is drawn: `view.rs`; the text of a
//!   step in the message: `src/tui/update/plan.rs`; stories: `plan/screen.rs`, `tests/pty/plan.rs`
//! - the plans of the run: `src/session/fold/plans.rs`; what the agent is told: `src/agent/plan.rs`; stories: `plan/told.rs`

mod state;
mod view;
mod words;

pub use state::PlanPane;
pub use words::{PlanCommand, read};
