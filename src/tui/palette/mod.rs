//! The completion list: commands, their arguments, agents and paths behind what is typed.
//!
//! A pane in its own folder. It reads the message and never changes it: what is taken from the list goes to the message as
//! an effect.
//!
//! # Where things are
//!
//! - what is offered, and which offer is chosen: `offers.rs`, `state.rs`; stories: `commands.rs`, `targets.rs`,
//!   `paths_offered.rs`
//! - its keys: `update.rs`; stories: `commands.rs`, `tests/pty/commands.rs`
//! - how it is drawn: `view.rs`; stories: `commands.rs`

mod offers;
mod state;
mod update;
pub mod view;

pub use state::{Offer, Palette};
pub use update::{key, refresh, take};
