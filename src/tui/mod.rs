//! The full screen: a fold over the event stream, drawn.
