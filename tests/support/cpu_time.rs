//! The processor time of the calling thread: what a bound on work is measured with, so that a busy machine fails no test.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// A moment in the processor time of one thread.
pub struct CpuTime(Duration);

impl CpuTime {
    /// Returns the processor time that the calling thread has used.
    pub fn now() -> Self {
        Self(Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap())
    }

    /// Returns what the calling thread, which must be the same, has used since.
    pub fn elapsed(&self) -> Duration {
        Self::now().0.saturating_sub(self.0)
    }
}
