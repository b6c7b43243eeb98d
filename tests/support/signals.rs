//! Signals that whoever started the tests lets be ignored (`nohup`, a script's background): their programs would inherit that.

use std::sync::{Arc, Once};

use rustix::process::Signal;

/// The signals that programs are sent by tests, and that a start can have ignored.
const SENT: [Signal; 8] =
    [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM, Signal::TSTP, Signal::USR1, Signal::USR2, Signal::ALARM];

/// Lets the programs that are started from here on begin with no signal ignored. A handler that does nothing goes away with the
/// start of a program; for the tests themselves the signal goes on to do nothing.
pub fn heed_signals() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for signal in SENT.iter().filter(|signal| is_ignored(**signal)) {
            signal_hook::flag::register(signal.as_raw(), Arc::default()).unwrap();
        }
    });
}

/// Tells whether this process ignores a signal, as far as the system says.
fn is_ignored(signal: Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask & (1 << (signal.as_raw() - 1)) != 0
}
