//! How spans of time are written; see [`crate::clock`].

pub use crate::clock::{clock, seconds_between};
