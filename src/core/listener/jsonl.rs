//! The wire form of events on a writer: one envelope per line, flushed line by line. For `exec --json` and logs.
//!
//! One instance is shared by the whole tree; each envelope names its agent. A line is bounded: in a very long event the
//! longest texts are cut, and the members `cut_bytes` and `cut` say by how much; the answer itself is never cut. A failing writer
//! does not affect the run: the owner of the writer sees the error there.

use std::io::Write;
use std::sync::Mutex;

use serde::Deserialize as _;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::listener::Listener;
use steersman_base::clock;
use steersman_base::event::{Envelope, Event};
use steersman_base::id::AgentId;
use steersman_base::image::Image;
use steersman_base::limits;
use steersman_base::sync::lock;
use steersman_base::text::escaped_json;
use steersman_base::text::hex;

/// The length up to which a text is never cut, bytes: names, ids, sentences.
const SHORT: usize = 1024;
/// The members of an event that are never cut.
const WHOLE: [&str; 2] = ["answer", "structured"];
/// The number of cut texts that are named.
const CUT_NAMED: usize = 16;

/// A listener that writes every event as one line of JSON.
///
/// Example: "Events as lines of JSON" in the documentation of `steersman::prelude`.
pub struct JsonLines {
    out: Mutex<JsonOutput>,
    /// The longest line, bytes.
    most: usize,
    deltas: Deltas,
    /// Adds what the owner knows beside the event to its wire form.
    add: Option<AddFields>,
}

/// A function that adds members to the wire form of an event.
type AddFields = Box<dyn Fn(&Envelope, &mut Map<String, Value>) + Send + Sync>;

/// Whether the pieces of texts that come whole later are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deltas {
    /// They are.
    On,
    /// They are left out.
    Off,
}

/// Whether nothing of an event may be cut: it is the answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whole {
    Yes,
    No,
}

struct JsonOutput {
    writer: Box<dyn Write + Send>,
    seq: u64,
    /// Lines that are no events and came before the first one, which is always the first line.
    early: Vec<Map<String, Value>>,
    is_closed: bool,
}

impl JsonLines {
    /// Makes a listener that writes to `writer`.
    pub fn new(writer: impl Write + Send + 'static) -> Self {
        let out = Mutex::new(JsonOutput { writer: Box::new(writer), seq: 0, early: Vec::new(), is_closed: false });
        Self { out, most: limits::EVENT_BYTES, deltas: Deltas::On, add: None }
    }

    /// Cuts the longest texts of an event that is longer than `most` bytes.
    #[must_use]
    pub fn at_most(self, most: usize) -> Self {
        Self { most, ..self }
    }

    /// Writes pieces or leaves them out.
    #[must_use]
    pub fn deltas(self, deltas: Deltas) -> Self {
        Self { deltas, ..self }
    }

    /// Adds members to each line; `add` gets the event and its wire form.
    #[must_use]
    pub fn adding(self, add: impl Fn(&Envelope, &mut Map<String, Value>) + Send + Sync + 'static) -> Self {
        Self { add: Some(Box::new(add)), ..self }
    }

    /// Writes a line that is no event: `event` is its own part, its number is that of the event before.
    pub fn append_line(&self, agent: AgentId, parent: Option<AgentId>, mut event: Map<String, Value>) {
        name_images(&mut event);
        // The number and the event stand for none; they are replaced below.
        let envelope = Envelope { seq: 0, at: clock::now(), agent, parent, event: Event::Cancelled {} };
        let Ok(Value::Object(mut members)) = serde_json::to_value(&envelope) else { return };
        if let Some(add) = &self.add {
            add(&envelope, &mut members);
        }
        members.insert("event".to_owned(), Value::Object(event));
        let mut out = lock(&self.out);
        // Only here nothing can come between.
        members.insert("seq".to_owned(), out.seq.into());
        if out.seq == 0 {
            out.early.push(members);
        } else {
            self.write(&mut out, &members, Whole::No);
        }
    }

    fn write(&self, out: &mut JsonOutput, members: &Map<String, Value>, whole: Whole) {
        let line = match line(members, self.most, whole) {
            Ok(line) => escaped_json(line) + "\n",
            Err(error) => {
                tracing::error!(%error, "an event has no wire form");
                return;
            }
        };
        if out.is_closed {
            return;
        }
        if let Err(error) = out.writer.write_all(line.as_bytes()).and_then(|()| out.writer.flush()) {
            tracing::debug!(%error, "an event was not written");
        }
    }

    /// Returns whether an event was written.
    pub fn has_begun(&self) -> bool {
        lock(&self.out).seq > 0
    }

    /// Closes the output: later events are not written.
    pub fn close(&self) {
        lock(&self.out).is_closed = true;
    }

    /// Writes an event of the main agent after the last one, once the agent has ended.
    pub fn append(&self, event: Event) {
        let seq = lock(&self.out).seq + 1;
        self.on_event(&Envelope { seq, at: clock::now(), agent: AgentId::main(), parent: None, event });
    }
}

impl Listener for JsonLines {
    fn on_event(&self, envelope: &Envelope) {
        if envelope.event.is_piece() && self.deltas == Deltas::Off {
            return;
        }
        let Ok(Value::Object(mut members)) = serde_json::to_value(envelope) else {
            tracing::error!(seq = envelope.seq, "an event has no wire form");
            return;
        };
        if let Some(event) = members.get_mut("event").and_then(Value::as_object_mut) {
            name_images(event);
        }
        if let Some(add) = &self.add {
            add(envelope, &mut members);
        }
        let whole = if matches!(envelope.event, Event::Assistant { .. }) { Whole::Yes } else { Whole::No };
        let mut out = lock(&self.out);
        out.seq = envelope.seq;
        self.write(&mut out, &members, whole);
        for mut early in std::mem::take(&mut out.early) {
            early.insert("seq".to_owned(), envelope.seq.into());
            self.write(&mut out, &early, Whole::No);
        }
    }

    fn label(&self) -> String {
        "JsonLines".to_owned()
    }
}

/// Puts the facts of images in the place of their data, in the texts that wait and in those that are given back.
fn name_images(event: &mut Map<String, Value>) {
    for name in ["entries", "returned"] {
        for entry in event.get_mut(name).and_then(Value::as_array_mut).into_iter().flatten() {
            for image in entry.get_mut("images").and_then(Value::as_array_mut).into_iter().flatten() {
                let facts = Image::deserialize(&*image).map(|image| image.facts());
                *image = facts.and_then(serde_json::to_value).unwrap_or_default();
            }
        }
    }
}

/// Returns the line of an event, bounded unless the event is the answer.
fn line(members: &Map<String, Value>, most: usize, whole: Whole) -> serde_json::Result<String> {
    let line = serde_json::to_string(members)?;
    if line.len() <= most || whole == Whole::Yes {
        return Ok(line);
    }
    drop(line);
    let mut members = members.clone();
    let mut cut = Truncation { room: most, bytes: 0, fields: Vec::new() };
    if let Some(event) = members.get_mut("event").and_then(Value::as_object_mut) {
        // Of a text that stands there by two names each gets half of the room.
        let names = event.iter().filter(|(name, _)| !WHOLE.contains(&name.as_str())).map(|(_, value)| size(value));
        let longest = names.clone().max().unwrap_or(0);
        let twins = names.filter(|size| *size == longest && *size > SHORT).count().max(1);
        let share = most / twins;
        for (name, member) in event.iter_mut().filter(|(name, _)| !WHOLE.contains(&name.as_str())) {
            let shape =
                if matches!(name.as_str(), "arguments" | "payload") { ObjectShape::Free } else { ObjectShape::Fixed };
            let before = cut.room;
            cut.room = before.min(share);
            let given = cut.room;
            cut.bound(name, member, shape);
            cut.room = before.saturating_sub(given - cut.room);
        }
        event.insert("cut_bytes".to_owned(), cut.bytes.into());
        event.insert("cut".to_owned(), Value::Array(cut.fields));
    }
    serde_json::to_string(&members)
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
    /// The texts that were cut, each with its size and, with `tools`, its SHA-256.
    fields: Vec<Value>,
}

impl Truncation {
    fn bound(&mut self, field: &str, value: &mut Value, shape: ObjectShape) {
        match value {
            Value::String(text) => self.text(field, text),
            Value::Array(items) => {
                let mut fits = 0;
                for item in items.iter_mut() {
                    if self.room == 0 {
                        break;
                    }
                    self.bound(&format!("{field}/{fits}"), item, shape);
                    self.consume(2);
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
                        self.consume(name.len() + 4);
                        self.bound(&format!("{field}/{name}"), member, shape);
                    }
                }
                for name in gone {
                    self.bytes += name.len() + members.shift_remove(&name).map_or(0, |member| size(&member));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => self.consume(8),
        }
    }

    fn text(&mut self, field: &str, text: &mut String) {
        if text.len() > SHORT.max(self.room) {
            if self.fields.len() < CUT_NAMED {
                let named =
                    json!({"field": field, "bytes": text.len(), "sha256": hex(&Sha256::digest(text.as_bytes()))});
                self.fields.push(named);
            }
            let end = text.floor_char_boundary(self.room.max(SHORT));
            self.bytes += text.len() - end;
            text.truncate(end);
            text.push('…');
        }
        self.consume(text.len() + 2);
    }

    fn consume(&mut self, bytes: usize) {
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
