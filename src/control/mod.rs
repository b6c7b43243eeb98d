//! Controls: handles through which a host signals into a running loop.
//!
//! The agent reads them at fixed boundaries; it never waits for one. They know the words, not each other.

mod budget;
mod cancellable;
mod crew;
mod gate;
mod interloper;
mod queue;
mod step_limit;

pub use budget::{Budget, Charged, Spending, Standing};
pub use cancellable::Cancellable;
pub use crew::{Controls, Crew};
pub use gate::{Decision, Gate, Parked, Parking};
pub use interloper::{Injection, Interloper, Modes, QueueMode, Staleness, Watcher};
pub use queue::Shift;
pub use step_limit::{OnExhausted, StepLimit};
