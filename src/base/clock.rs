//! The clock for waits and rules: the time of day at the program's start, plus the time since then by a clock that
//! cannot be set.
//!
//! With a time of day that jumps, a key could answer a question that was not readable yet. Suspended time counts, so a
//! text that was typed before the machine slept is old. Here too: how a span of time is written.

use std::sync::LazyLock;

use jiff::{SignedDuration, Timestamp};

/// A clock that starts at a time of day and advances by a steady clock.
#[derive(Debug, Clone, Copy)]
pub struct SteadyClock {
    began: Timestamp,
    origin: SignedDuration,
}

impl SteadyClock {
    /// Makes a clock from the readings of both clocks at its start.
    pub fn new(time_of_day: Timestamp, steady: SignedDuration) -> Self {
        Self { began: time_of_day, origin: steady }
    }

    /// Returns the moment for a reading of the steady clock.
    pub fn at(&self, steady: SignedDuration) -> Timestamp {
        self.began.checked_add(steady - self.origin).unwrap_or(self.began)
    }
}

static CLOCK: LazyLock<SteadyClock> = LazyLock::new(|| SteadyClock::new(Timestamp::now(), steady()));

/// Returns the moment for waits and rules. Dates for people use the time of day itself.
pub fn now() -> Timestamp {
    CLOCK.at(steady())
}

/// Writes seconds as a clock: `0:07`, `12:40`, `1:02:03`.
pub fn clock(seconds: u64) -> String {
    let (minutes, rest) = (seconds / 60, seconds % 60);
    if minutes < 60 {
        format!("{minutes}:{rest:02}")
    } else {
        format!("{}:{:02}:{rest:02}", minutes / 60, minutes % 60)
    }
}

/// Returns the whole seconds from one moment to a later one; 0 when the clock went back.
pub fn seconds_between(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.duration_since(from).as_secs()).unwrap_or(0)
}

/// Reads the clock that cannot be set.
#[cfg(unix)]
fn steady() -> SignedDuration {
    #[cfg(target_os = "linux")]
    let clock = rustix::time::ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    let clock = rustix::time::ClockId::Monotonic;
    let reading = rustix::time::clock_gettime(clock);
    SignedDuration::new(reading.tv_sec, i32::try_from(reading.tv_nsec).unwrap_or_default())
}

/// Reads the clock that cannot be set.
#[cfg(not(unix))]
fn steady() -> SignedDuration {
    static START: LazyLock<std::time::Instant> = LazyLock::new(std::time::Instant::now);
    SignedDuration::try_from(START.elapsed()).unwrap_or(SignedDuration::MAX)
}
