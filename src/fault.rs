//! Faults that a test requests: a part of the program hangs. Not in a release.

use std::io::Write as _;
use std::time::Duration;

/// The variable that names the place where the program hangs.
const VARIABLE: &str = "STEERSMAN_TEST_FAULT";
/// The time of the hang, longer than any test waits.
const TIME: Duration = Duration::from_mins(1);

/// Blocks the calling thread where a test has named this place.
pub(crate) fn block_at(place: &str) {
    if cfg!(debug_assertions) && std::env::var_os(VARIABLE).is_some_and(|named| named == place) {
        // In one write, so that other output does not mix with it.
        let _ = std::io::stderr().write_all(format!("[stopped at {place}]").as_bytes());
        std::thread::sleep(TIME);
    }
}
