//! What fills the context windows of the agents, the largest part first, over everything else on the screen.
//!
//! A pane in its own folder: its state, its keys and its drawing stand here, and take facts besides their own state, never
//! the whole `App`. It is an overlay (`src/tui/overlay`). The run is asked when the list opens and after each wish.
//!
//! # Where things are
//!
//! - what it shows, and its keys: `state.rs`; how it is drawn: `view.rs`; in words, for the line output: `words.rs`;
//!   stories: `context_pane.rs`
//! - what fills a window: `src/agent/context_report.rs`; the wishes: `src/control/context.rs`

mod state;
mod view;
mod words;

pub use state::ContextPane;
pub use words::in_words;
