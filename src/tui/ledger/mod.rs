//! The ledger: every text that was sent and what became of it, over everything else on the screen.
//!
//! # Where things are
//!
//! - what it holds, and its keys: `state.rs`; how it is drawn: `view.rs`; the rows in words:
//!   `src/session/fold/ledger.rs`; stories: `ledger.rs`

mod state;
mod view;

pub use state::LedgerPane;
