//! Faults that a test asks for: a part of the program that stops to answer. Not in a release.

use std::io::Write as _;
use std::time::Duration;

/// The variable that names the place where the program is to stop.
const VARIABLE: &str = "STEERSMAN_TEST_FAULT";
/// Longer than any test waits.
const TIME: Duration = Duration::from_mins(1);

/// Blocks the calling thread where a test has named this place.
pub(crate) fn block_at(place: &str) {
    if cfg!(debug_assertions) && std::env::var_os(VARIABLE).is_some_and(|named| named == place) {
        // In one piece, whoever else writes.
        let _ = std::io::stderr().write_all(format!("[stopped at {place}]").as_bytes());
        std::thread::sleep(TIME);
    }
}
