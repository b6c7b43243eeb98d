//! Times as people read them. Used by the words of the state and by the view.

use jiff::Timestamp;

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
