//! The full screen: a fold over the event stream, drawn.

pub mod state;
pub mod theme;
pub mod view;
