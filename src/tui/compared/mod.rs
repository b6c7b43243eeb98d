//! Two sessions side by side, over everything else on the screen.
//!
//! # Where things are
//!
//! - what it holds, and its keys: `state.rs`; how it is drawn: `view.rs`; where two sessions part, and the rows in words:
//!   `src/session/compare/mod.rs`; stories: `session/compare.rs`

mod state;
mod view;

pub use state::ComparedPane;
