//! What the screen shows, as values folded from events; no I/O, no clock, no knowledge of the view.
//!
//! # Where things are
//!
//! - gauge, compaction, budget and notes on the screen: `src/tui/update/budget.rs`; stories: `long_conversations.rs`
//! - receipts in the transcript: `src/tui/update/post.rs`, `src/tui/view/receipt.rs`; stories: `receipt_marks.rs`,
//!   `receipt_lives.rs`, `tests/pty/receipts.rs`
//! - the mouse: what lies where, clicks, wheel, drags: `regions.rs`, `src/tui/update/mouse.rs`; stories:
//!   `mouse.rs`

pub mod cause;
pub mod lines;
pub mod pane;
pub mod pointer;
pub mod regions;

pub use crate::tui::app::App;

/// Columns from which there is room for more than one pane.
pub const MEDIUM: u16 = 60;
/// Columns from which tree, transcript and details stand beside each other.
pub const BROAD: u16 = 140;
/// Columns left of the composer's text.
pub const PROMPT_COLUMNS: u16 = 2;
