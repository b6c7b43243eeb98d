//! Controls: handles through which a host signals into a running loop.
//!
//! The agent reads them at fixed boundaries; it never waits for one. They know the words, not each other.

mod cancellable;
mod interloper;
mod queue;
mod step_limit;

pub use cancellable::Cancellable;
pub use interloper::{Interloper, Modes, QueueMode};
pub use step_limit::{OnExhausted, StepLimit};
