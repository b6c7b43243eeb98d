//! How benchmarks print what they have measured.

use std::time::Duration;

/// Prints median, p99 and maximum of a figure in milliseconds; of one time only that.
pub fn print(figure: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: usize| times.get((times.len().saturating_sub(1)) * share / 100).map_or(0, Duration::as_micros);
    let ms = |micros: u128| format!("{}.{:02}", micros / 1_000, micros % 1_000 / 10);
    if times.len() == 1 {
        println!("{figure:<46} {:>22} ms", ms(at(100)));
    } else {
        println!("{figure:<46} {:>22} ms", format!("{} / {} / {}", ms(at(50)), ms(at(99)), ms(at(100))));
    }
}
