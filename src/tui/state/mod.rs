//! What the screen shows, as values folded from events; no I/O, no clock, no knowledge of the view.

pub mod cell;
pub mod scroll;
pub mod transcript;
