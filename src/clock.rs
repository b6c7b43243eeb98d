//! The moment that every wait and every rule counts with: the time of day of the program's start, and what has passed
//! since by a clock that nobody can set.
//!
//! A time of day that jumps would let a key answer a question that nobody can have read yet. What was slept through
//! counts as passed, so a text that was typed before a night of the machine is an old one.

use std::sync::LazyLock;

use jiff::{SignedDuration, Timestamp};

/// A clock that began at a time of day, and counts from there by steady readings.
#[derive(Debug, Clone, Copy)]
pub struct SteadyClock {
    began: Timestamp,
    origin: SignedDuration,
}

impl SteadyClock {
    /// Makes a clock from what both clocks read at its beginning.
    pub fn new(time_of_day: Timestamp, steady: SignedDuration) -> Self {
        Self { began: time_of_day, origin: steady }
    }

    /// Returns the moment at which the steady clock reads this, whatever the time of day became.
    pub fn at(&self, steady: SignedDuration) -> Timestamp {
        self.began.checked_add(steady - self.origin).unwrap_or(self.began)
    }
}

static CLOCK: LazyLock<SteadyClock> = LazyLock::new(|| SteadyClock::new(Timestamp::now(), steady()));

/// Returns the moment for waits and rules. What people read as a date takes the time of day itself.
pub fn now() -> Timestamp {
    CLOCK.at(steady())
}

/// Reads the clock that nobody sets.
fn steady() -> SignedDuration {
    #[cfg(target_os = "linux")]
    let clock = rustix::time::ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    let clock = rustix::time::ClockId::Monotonic;
    let reading = rustix::time::clock_gettime(clock);
    SignedDuration::new(reading.tv_sec, i32::try_from(reading.tv_nsec).unwrap_or_default())
}
