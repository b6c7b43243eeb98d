//! The wire form of events on a writer: one envelope per line, flushed line by line. For `exec --json` and logs.
//!
//! One instance is shared by the whole tree; each envelope names its agent. A line is bounded: in a very long event the
//! longest texts are cut, and the member `cut_bytes` says by how much; the answer itself is never cut. A failing writer
//! does not affect the run: the owner of the writer sees the error there.

use std::fmt::Write as _;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use crate::clock;
use crate::event::{Envelope, Event};
use crate::id::AgentId;
use crate::limits;
use crate::listener::Listener;
use crate::text::is_invisible;

/// The length up to which a text is never cut, bytes: names, ids, sentences.
const SHORT: usize = 1024;

/// A listener that writes every event as one line of JSON.
pub struct JsonLines {
    out: Mutex<JsonOutput>,
}

struct JsonOutput {
    writer: Box<dyn Write + Send>,
    seq: u64,
    is_closed: bool,
}

impl JsonLines {
    /// Makes a listener that writes to `writer`.
    pub fn new(writer: impl Write + Send + 'static) -> Self {
        Self { out: Mutex::new(JsonOutput { writer: Box::new(writer), seq: 0, is_closed: false }) }
    }

    /// Returns whether an event was written.
    pub fn has_begun(&self) -> bool {
        self.out.lock().unwrap_or_else(PoisonError::into_inner).seq > 0
    }

    /// Closes the output: later events are not written.
    pub fn close(&self) {
        self.out.lock().unwrap_or_else(PoisonError::into_inner).is_closed = true;
    }

    /// Writes an event of the main agent after the last one, once the agent has ended.
    pub fn append(&self, event: Event) {
        let seq = self.out.lock().unwrap_or_else(PoisonError::into_inner).seq + 1;
        self.on_event(&Envelope { seq, at: clock::now(), agent: AgentId::main(), parent: None, event });
    }
}

impl Listener for JsonLines {
    fn on_event(&self, envelope: &Envelope) {
        let line = match line(envelope) {
            Ok(line) => escape(line) + "\n",
            Err(error) => {
                tracing::error!(seq = envelope.seq, %error, "an event has no wire form");
                return;
            }
        };
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        if out.is_closed {
            return;
        }
        out.seq = envelope.seq;
        if let Err(error) = out.writer.write_all(line.as_bytes()).and_then(|()| out.writer.flush()) {
            tracing::debug!(%error, "an event was not written");
        }
    }

    fn label(&self) -> String {
        "JsonLines".to_owned()
    }
}

/// Returns the wire form of an event, bounded unless the event is the answer.
fn line(envelope: &Envelope) -> serde_json::Result<String> {
    let line = serde_json::to_string(envelope)?;
    if line.len() <= limits::EVENT_BYTES || matches!(envelope.event, Event::Assistant { .. }) {
        return Ok(line);
    }
    drop(line);
    let mut value = serde_json::to_value(envelope)?;
    let mut cut = Truncation { room: limits::EVENT_BYTES, bytes: 0 };
    if let Some(event) = value.get_mut("event").and_then(Value::as_object_mut) {
        for (name, member) in event.iter_mut() {
            cut.bound(
                member,
                if matches!(name.as_str(), "arguments" | "payload") { ObjectShape::Free } else { ObjectShape::Fixed },
            );
        }
        event.insert("cut_bytes".to_owned(), cut.bytes.into());
    }
    serde_json::to_string(&value)
}

/// Whether readers rely on the members of an object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ObjectShape {
    Fixed,
    Free,
}

/// The state of the truncation of one event.
struct Truncation {
    room: usize,
    /// The bytes left out so far.
    bytes: usize,
}

impl Truncation {
    fn bound(&mut self, value: &mut Value, shape: ObjectShape) {
        match value {
            Value::String(text) => self.text(text),
            Value::Array(items) => {
                let mut fits = 0;
                for item in items.iter_mut() {
                    if self.room == 0 {
                        break;
                    }
                    self.bound(item, shape);
                    self.take(2);
                    fits += 1;
                }
                self.bytes += items.drain(fits..).map(|item| size(&item)).sum::<usize>();
            }
            Value::Object(members) => {
                let mut gone = Vec::new();
                for (name, member) in members.iter_mut() {
                    if shape == ObjectShape::Free && (self.room == 0 || name.len() > SHORT) {
                        gone.push(name.clone());
                    } else {
                        self.take(name.len() + 4);
                        self.bound(member, shape);
                    }
                }
                for name in gone {
                    self.bytes += name.len() + members.shift_remove(&name).map_or(0, |member| size(&member));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => self.take(8),
        }
    }

    fn text(&mut self, text: &mut String) {
        if text.len() > SHORT.max(self.room) {
            let end = text.floor_char_boundary(self.room.max(SHORT));
            self.bytes += text.len() - end;
            text.truncate(end);
            text.push('…');
        }
        self.take(text.len() + 2);
    }

    fn take(&mut self, bytes: usize) {
        self.room = self.room.saturating_sub(bytes);
    }
}

/// Returns the approximate bytes of text in a value.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(members) => members.iter().map(|(name, member)| name.len() + size(member)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
    }
}

/// Escapes as `\uXXXX` what a terminal would obey or hide, and what some readers take for a line end. JSON itself
/// escapes only the first 32 characters; the value stays the same, and the line is safe to print.
fn escape(line: String) -> String {
    let is_escaped = |c: char| is_invisible(c) || matches!(c, '\u{2028}' | '\u{2029}');
    if !line.chars().any(is_escaped) {
        return line;
    }
    let mut escaped = String::with_capacity(line.len() + 16);
    for c in line.chars() {
        if is_escaped(c) {
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
