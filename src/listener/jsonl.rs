//! The wire form on a writer: one envelope per line, flushed line by line (spec 1.1). For `exec --json` and logs.
//!
//! One instance is shared by the whole tree; the envelopes say who. A writer that fails is not the run's problem:
//! whoever owns the writer finds out there.

use std::fmt::Write as _;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use crate::event::Envelope;
use crate::listener::Listener;
use crate::text::is_invisible;

/// Writes every event as one line of JSON.
pub struct JsonLines {
    writer: Mutex<Box<dyn Write + Send>>,
}

impl JsonLines {
    /// Makes a listener that writes to `writer`.
    pub fn new(writer: impl Write + Send + 'static) -> Self {
        Self { writer: Mutex::new(Box::new(writer)) }
    }
}

impl Listener for JsonLines {
    fn on_event(&self, envelope: &Envelope) {
        let line = match serde_json::to_string(envelope) {
            Ok(line) => escape(line) + "\n",
            Err(error) => {
                tracing::error!(seq = envelope.seq, %error, "an event has no wire form");
                return;
            }
        };
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = writer.write_all(line.as_bytes()).and_then(|()| writer.flush()) {
            tracing::debug!(%error, "an event was not written");
        }
    }

    fn label(&self) -> String {
        "JsonLines".to_owned()
    }
}

/// Writes as `\uXXXX` what a terminal would obey or hide. JSON escapes only the first 32 characters by itself; the value
/// stays the same, and the line can be looked at.
fn escape(line: String) -> String {
    if !line.chars().any(is_invisible) {
        return line;
    }
    let mut escaped = String::with_capacity(line.len() + 16);
    for c in line.chars() {
        if is_invisible(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(c);
        }
    }
    escaped
}
