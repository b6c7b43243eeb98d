//! Any bytes as server-sent events.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| steersman_fuzz::decode(data));
