//! Lines back into records, whatever happened to the file.
//!
//! A torn tail, a block of NUL bytes, garbage and a line that stands there twice are passed over and counted; the record
//! behind them is read, also when it stands on the same line. What was written is never guessed.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::io::{self, BufRead, Read as _};

use memchr::memmem;
use serde_json::Value;

use crate::limits;
use crate::session::journal::record::{MARK, Record};
use crate::session::journal::texts;
use crate::summary;

/// What was passed over while a journal was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Damage {
    /// Lines, or stretches of one, that hold no record.
    pub skipped: u64,
    /// Lines that stand there twice.
    pub doubled: u64,
    /// Texts that were lost with such lines.
    pub lost_texts: u64,
    /// Records that were never written, as the writer says itself.
    pub missing: u64,
}

impl Damage {
    /// Returns one sentence about it; `None` when the file is whole.
    pub fn sentence(self) -> Option<String> {
        let Self { skipped, doubled, lost_texts, missing } = self;
        let parts = [
            (skipped, "damaged line", "skipped"),
            (doubled, "doubled line", "skipped"),
            (lost_texts, "text", "lost with a damaged line"),
            (missing, "record", "never written"),
        ];
        let said = parts.iter().filter(|(count, ..)| *count > 0);
        let said: Vec<String> = said
            .map(|(count, what, fate)| {
                let what = summary::count(usize::try_from(*count).unwrap_or(usize::MAX), what);
                format!("{what} {fate}")
            })
            .collect();
        (!said.is_empty()).then(|| format!("the journal is not whole: {}", said.join(", ")))
    }
}

/// What a journal holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reading {
    /// The records, in the order of the file.
    pub records: Vec<Record>,
    /// The highest number of a record.
    pub last: u64,
    /// What was passed over.
    pub damage: Damage,
}

/// Reads a journal to its end.
///
/// # Errors
/// What the file itself says; damage is none.
pub fn read(mut file: impl BufRead) -> io::Result<Reading> {
    let mut reader = Reader::default();
    let mut line = Vec::new();
    while file.by_ref().take(limits::JOURNAL_LINE).read_until(b'\n', &mut line)? > 0 {
        if line.len() as u64 == limits::JOURNAL_LINE && line.last() != Some(&b'\n') {
            file.skip_until(b'\n')?;
            reader.reading.damage.skipped += 1;
        } else {
            reader.line(&line);
        }
        line.clear();
    }
    Ok(reader.reading)
}

#[derive(Default)]
struct Reader {
    reading: Reading,
    texts: texts::Read,
    /// What each number's line was, to know it again.
    seen: HashMap<u64, u64>,
}

impl Reader {
    fn line(&mut self, line: &[u8]) {
        let is_blank = |byte: &u8| matches!(byte, 0 | b'\n' | b'\r' | b' ');
        let from = line.iter().position(|byte| !is_blank(byte)).unwrap_or(line.len());
        let to = line.iter().rposition(|byte| !is_blank(byte)).map_or(from, |at| at + 1);
        // The one NUL that a line of ours never holds.
        self.reading.damage.skipped += u64::from(line.contains(&0));
        let Some(text) = line.get(from..to).filter(|text| !text.is_empty()) else { return };
        if let Ok(value) = serde_json::from_slice(text) {
            self.value(text, value);
        } else {
            self.reading.damage.skipped += u64::from(!line.contains(&0));
            self.pieces(text);
        }
    }

    /// Takes the whole records out of a line that is damaged.
    fn pieces(&mut self, text: &[u8]) {
        let mut at = 0;
        // True while everything from the line's beginning was whole: what follows cannot stand within a record then.
        let mut is_outside = true;
        while let Some(found) = text.get(at..).and_then(|rest| memmem::find(rest, MARK)) {
            let start = at + found;
            let before = start.checked_sub(1).and_then(|before| text.get(before));
            let is_within = !is_outside && before.is_some_and(|before| matches!(before, b':' | b',' | b'['));
            let rest = text.get(start..).unwrap_or_default();
            let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<Value>();
            match values.next() {
                Some(Ok(value)) if !is_within => {
                    let end = start + values.byte_offset();
                    self.value(text.get(start..end).unwrap_or_default(), value);
                    at = end;
                }
                Some(Ok(_) | Err(_)) | None => {
                    is_outside = false;
                    at = start + MARK.len();
                }
            }
        }
    }

    fn value(&mut self, text: &[u8], mut value: Value) {
        let Some(number) = value.get("record").and_then(Value::as_u64) else {
            self.reading.damage.skipped += 1;
            return;
        };
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let hash = hasher.finish();
        if self.seen.insert(number, hash) == Some(hash) {
            self.reading.damage.doubled += 1;
            return;
        }
        self.reading.damage.lost_texts += self.texts.restore(number, &mut value);
        match serde_json::from_value(value) {
            Ok(record) => {
                if let Record::Missing { records } = record {
                    self.reading.damage.missing += records;
                }
                self.reading.last = self.reading.last.max(number);
                self.reading.records.push(record);
            }
            Err(_) => self.reading.damage.skipped += 1,
        }
    }
}
