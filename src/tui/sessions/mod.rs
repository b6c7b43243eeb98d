//! Sessions on the screen: what an earlier process left for the user to decide, and what is kept for a later one.
//!
//! Pure; the loop asks when what is being written is to be kept.
//!
//! # Where things are
//!
//! - the question about texts that wait and agents that were interrupted: `unfinished.rs`; stories: `session/screen.rs`
//! - when the drafts are kept: `drafts.rs`, `src/tui/message/kept.rs`; stories: `session/screen.rs`

mod drafts;
mod unfinished;

pub use drafts::KeptDrafts;
pub use unfinished::question;
