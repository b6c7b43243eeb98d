//! Faults that a test requests: a part of the program hangs, breaks down, or is killed. Not in a release.

use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The variable that names the place where the program hangs or breaks down.
const VARIABLE: &str = "STEERSMAN_TEST_FAULT";
/// The variable that holds the number of the step at which the program is killed.
const KILL: &str = "STEERSMAN_TEST_KILL";
/// The variable that names a file for the number of steps that were made.
const STEPS: &str = "STEERSMAN_TEST_STEPS";
/// The time of the hang, longer than any test waits.
const TIME: Duration = Duration::from_mins(1);

static MADE: AtomicU64 = AtomicU64::new(0);

/// Blocks the calling thread where a test has named this place.
pub fn block_at(place: &str) {
    if is_named(place) {
        // In one write, so that other output does not mix with it.
        let _ = std::io::stderr().write_all(format!("[stopped at {place}]").as_bytes());
        std::thread::sleep(TIME);
    }
}

/// Breaks down where a test has named this place.
///
/// # Panics
/// There.
pub fn panic_at(place: &str) {
    assert!(!is_named(place), "a test asked for this");
}

/// Counts one step towards the disk; kills the program where a test has named the number of it.
pub fn step() {
    if !cfg!(debug_assertions) {
        return;
    }
    let made = MADE.fetch_add(1, Ordering::SeqCst) + 1;
    if let Some(path) = std::env::var_os(STEPS) {
        let _ = std::fs::write(path, made.to_string());
    }
    let number = std::env::var(KILL).ok().and_then(|number| number.parse().ok());
    if number == Some(made) {
        #[cfg(unix)]
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        // Signals are what only Unix has.
        #[cfg(not(unix))]
        std::process::abort();
    }
}

fn is_named(place: &str) -> bool {
    cfg!(debug_assertions) && std::env::var_os(VARIABLE).is_some_and(|named| named == place)
}
