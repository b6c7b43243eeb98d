//! Any text as a command under rules, with a budget of processor time: ten times what is usual under the sanitizer.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| steersman_fuzz::shell(text, std::time::Duration::from_secs(3)));
