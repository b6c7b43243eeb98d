//! What several panes are drawn with: width and styles in, rows out; no state, no clock.
//!
//! # Where things are
//!
//! - texts that fit into one row, cut at graphemes: `fit.rs`; tests: `tui_shell.rs`
//! - styled lines, and how they are wrapped: `wrap.rs`; tests: `markdown.rs`
//! - Markdown: its blocks, its rows, tables, texts that still grow: `markdown.rs`, `blocks.rs`, `table.rs`, `stream.rs`,
//!   `unfinished.rs`; tests: `markdown.rs`, `streaming.rs`, `tables.rs`, `tests/pty/markdown.rs`
//! - colours on a line of code: `code.rs`; tests: `highlight.rs`
//! - texts in which every character counts: `exact.rs`; tests: `approval_popups/display.rs`
//! - changes, and which words of a line differ: `diff.rs`; tests: `diffs.rs`
//! - the steps of a plan as lines, for its pane and for the details of an agent: `steps.rs`

mod blocks;
pub mod code;
pub mod diff;
pub mod exact;
pub mod fit;
pub mod markdown;
pub mod steps;
pub mod stream;
mod table;
mod unfinished;
pub mod wrap;
