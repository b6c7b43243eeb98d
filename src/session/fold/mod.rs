//! What a client knows of a run: folds from posts to values, the same for the screen, line output and whatever else shows
//! or writes a run.
//!
//! Pure: no terminal, no keys, no clock, no files. A live run, a resumed session and a replay feed the same folds.
//!
//! # Where things are
//!
//! - the agents, their sums, what needs attention: `agents/mod.rs`

pub mod agents;
