//! Any text as a whole body, of a reply or of an error, in every dialect.

#![no_main]

use libfuzzer_sys::fuzz_target;
use steersman_base::dialect::Dialect;

fuzz_target!(|text: &str| {
    for dialect in Dialect::ALL {
        steersman_fuzz::body(dialect, text);
    }
});
