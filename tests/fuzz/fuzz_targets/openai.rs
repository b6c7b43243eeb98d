//! Any bytes as a stream of chat completions.

#![no_main]

use libfuzzer_sys::fuzz_target;
use steersman_base::dialect::Dialect;

fuzz_target!(|data: &[u8]| steersman_fuzz::stream(Dialect::OpenAi, data));
