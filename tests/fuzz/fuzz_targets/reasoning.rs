//! Any text with inline thinking, in pieces.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| steersman_fuzz::split(data));
