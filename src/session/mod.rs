//! A session beyond the process that runs it: what is kept of it, and how it comes back.
//!
//! Uses the words, the parts and the agent; knows no screen and no command line.
//!
//! # Where things are
//!
//! - the journal of a session: `journal/mod.rs`; stories: `session/journal/mod.rs`

pub mod journal;
