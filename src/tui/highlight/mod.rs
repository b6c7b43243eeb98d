//! The colours of code on the screen: they are read in `worker`, away from it.
//!
//! # Where things are
//!
//! - what the grammars say: `src/highlight/lib.rs`; their thread: `worker.rs`; what is known: `known.rs`; how it is drawn:
//!   `src/tui/widgets/code.rs`; tests: `highlight.rs`

mod known;
pub mod worker;

pub use known::Colours;
pub use steersman_highlight::{Chain, Class, Coloured, Engine, GrammarState, Job, Language, LineKey, Resume, Span};
