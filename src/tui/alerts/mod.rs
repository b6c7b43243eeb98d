//! Notifications for a user who does not look at the screen, and the title of the terminal.
//!
//! A pane without an area: its state and what changes it stand here, and read facts besides their own state, never the
//! whole `App`. The bytes are the terminal's: `src/tui/terminal/alert.rs`.
//!
//! # Where things are
//!
//! - what waits to be notified: `state.rs`; what a post raises, and when it is due: `update.rs`; stories: `alerts.rs`,
//!   `tests/pty/terminal.rs`
//! - the words of the title: `title.rs`; stories: `alerts.rs`

mod state;
mod title;
mod update;

pub use state::{AlertWhen, Alerts, Attention};
pub use title::{TitleFacts, title};
pub use update::{AlertFacts, apply, due};
