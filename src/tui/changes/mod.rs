//! The files that the tools of this session changed, with their changes, over everything else on the screen.
//!
//! A pane in its own folder: its state, its keys and its drawing stand here, and take facts besides their own state, never
//! the whole `App`. It is an overlay (`src/tui/overlay`). What changed comes from the fold of the run; what a file was at
//! the start of the session knows the run alone, which is asked when the list opens.
//!
//! # Where things are
//!
//! - what it shows, and its keys: `state.rs`; how it is drawn: `view.rs`; stories: `changes_pane.rs`
//! - what the tools changed: `src/session/fold/changes.rs`; the undo: `src/workspace/changes.rs`; stories: `changes.rs`,
//!   `undo.rs`

mod state;
mod view;

pub use state::ChangesPane;
