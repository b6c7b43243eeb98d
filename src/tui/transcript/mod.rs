//! The transcripts of all agents: what happened as cells, where the reader is, what is searched for, selected and copied.
//!
//! # Where things are
//!
//! - the reduction of events to cells: `reduce/mod.rs`, `reduce/calls.rs`, `reduce/texts.rs`, `cell.rs`; tests:
//!   `transcript/reduce.rs`
//! - what there is to see of a call beyond its output: `result.rs`; tests: `result_views.rs`
//! - how the cells of a long session are kept: `cells.rs`; tests: `long_conversations.rs`
//! - the end of a session that is still being read: `pane.rs`; tests: `session_opening.rs`
//! - where the reader is: `scroll.rs`; tests: `scrolling.rs`
//! - jumps, selections, copies, times: `keys.rs`, `selection.rs`, `view/select.rs`, `view/annotations.rs`; tests:
//!   `reading.rs`, `tests/pty/reading.rs`
//! - what all of it is kept in: `pane.rs`; a page of it: `export.rs`; tests: `export.rs`
//! - search: what is typed, what is found, piece by piece: `search.rs`, `search_keys.rs`, `view/matches.rs`,
//!   `view/query.rs`; tests: `reading.rs`, `tests/pty/reading.rs`
//! - the transcript on the screen: `view/mod.rs`; tests: `transcript/mod.rs`
//! - the texts behind a block of a transcript: what a copy takes of it, and all of it for an editor: `source.rs`

pub mod cell;
pub mod cells;
mod export;
mod keys;
mod pane;
pub mod reduce;
pub mod result;
pub mod scroll;
pub mod search;
mod search_keys;
pub mod selection;
mod source;
pub mod view;

pub use export::transcript_markdown;
pub use keys::{FOLD, TIMES, TranscriptContext, key, looked, scroll, travel};
pub use pane::{Copying, Looked, Reader, Rest, Times, TranscriptDrawn, TranscriptPane};
pub use search_keys::{begin as begin_search, cancel as cancel_search, find, find_last, type_text as type_search};
