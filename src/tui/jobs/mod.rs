//! The commands in the background and the user's shell lines, with their output while it comes, over everything else on the
//! screen: `/jobs`.
//!
//! A pane in its own folder: its state, its keys and its drawing stand here, and take facts besides their own state, never
//! the whole `App`. It is an overlay (`src/tui/overlay`). What there is to show comes from the fold of the run.
//!
//! # Where things are
//!
//! - what it shows, and its keys: `state.rs`; how it is drawn: `view.rs`; stories: `jobs_pane.rs`
//! - what happens to jobs: `src/session/fold/jobs.rs`, `src/tool/jobs/mod.rs`; stories: `jobs.rs`

mod state;
mod view;

pub use state::JobsPane;
