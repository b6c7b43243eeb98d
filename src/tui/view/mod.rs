//! How the state is drawn: pure functions from state, theme and area to a buffer.

pub mod cache;
pub mod transcript;
