//! Lines back into records, whatever happened to the file.
//!
//! Records are read one after the other, so that a journal of any size takes little memory. A torn tail, a block of NUL bytes, garbage and a line that stands there twice are passed over and counted; the record
//! behind them is read, also when it stands on the same line. What was written is never guessed.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Read};
use std::mem;
use std::ops::{AddAssign, Range};

use memchr::memmem;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::journal::lines::{Lines, NextLine, ReadAt};
use crate::journal::record::{Header, MARK, Record, number_of};
use crate::journal::texts;
use steersman_base::message::Message;
use steersman_base::summary;

/// How a line tells that one of its texts names another, or begins as if it did.
const NAMED: &[u8] = br"\u0000";
/// How a record goes on behind its number.
const KIND: &[u8] = br#","kind":""#;
/// How many times the size of a journal is read again at most for texts that lines name, and the least of that, bytes: no
/// run writes a file that needs more, and a hostile one is not to take for ever.
const REREAD: u64 = 16;
const REREAD_AT_LEAST: u64 = 256 << 20;
/// Numbers that are passed over at once before the table of places has a gap.
const GAP: usize = 1 << 16;

/// What was passed over while a journal was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Damage {
    /// Lines, or stretches of one, that hold no record.
    pub skipped: u64,
    /// Lines that stand there twice.
    pub doubled: u64,
    /// Texts that were lost with such lines.
    pub lost_texts: u64,
    /// Records that were never written, as the writer says itself.
    pub missing: u64,
    /// Lines of another program's file that were passed over when it was imported.
    pub not_imported: u64,
}

impl Damage {
    /// Returns one sentence about it; `None` when the file is whole.
    pub fn sentence(self) -> Option<String> {
        let Self { skipped, doubled, lost_texts, missing, not_imported } = self;
        let parts = [
            (skipped, "damaged line", "skipped"),
            (doubled, "doubled line", "skipped"),
            (lost_texts, "text", "lost with a damaged line"),
            (missing, "record", "never written"),
            (not_imported, "line", "of the imported file skipped"),
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

impl AddAssign for Damage {
    fn add_assign(&mut self, more: Self) {
        self.skipped += more.skipped;
        self.doubled += more.doubled;
        self.lost_texts += more.lost_texts;
        self.missing += more.missing;
        self.not_imported += more.not_imported;
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
pub fn read_records(source: impl ReadAt) -> io::Result<Reading> {
    Records::new(source).reading()
}

/// Returns the highest number of a text that a journal names; 0 without any. The lines are not parsed, so damage hides no
/// number. A text that quotes a number is not taken for its name: there the quotation marks have backslashes before them.
///
/// # Errors
/// What the source itself says.
pub fn highest_text(mut source: impl Read) -> io::Result<u64> {
    const BLOCK: u64 = 1 << 20;
    const NAME: &[u8] = b"\"m";
    /// A name as long as the longest number, with its quotes.
    const LONGEST: usize = NAME.len() + "18446744073709551615\"".len();
    let mut bytes = Vec::new();
    let mut highest = 0;
    while source.by_ref().take(BLOCK).read_to_end(&mut bytes)? > 0 {
        for at in memmem::find_iter(&bytes, NAME) {
            let rest = bytes.get(at + NAME.len()..).unwrap_or_default();
            let digits = rest.iter().take(LONGEST).take_while(|byte| byte.is_ascii_digit()).count();
            if rest.get(digits) == Some(&b'"') {
                let number = str::from_utf8(rest.get(..digits).unwrap_or_default()).unwrap_or_default();
                highest = highest.max(number.parse().unwrap_or(0));
            }
        }
        // A name may stand across two blocks.
        bytes.drain(..bytes.len().saturating_sub(LONGEST));
    }
    Ok(highest)
}

/// The records of a journal, in the order of the file.
pub struct Records<S> {
    lines: Lines<S>,
    state: ReaderState,
}

/// What was read of a journal so far.
#[derive(Default)]
struct ReaderState {
    /// Records that were read and not returned yet.
    ready: VecDeque<Record>,
    places: Places,
    last: u64,
    damage: Damage,
    /// Bytes of lines that were read again for a text that another line names.
    reread: u64,
}

impl<S: ReadAt> Records<S> {
    /// Makes the records of a whole journal.
    pub fn new(source: S) -> Self {
        Self { lines: Lines::new(source, 0..u64::MAX), state: ReaderState::default() }
    }

    /// Makes the records of a part of a journal.
    ///
    /// # Errors
    /// What the file itself says.
    pub fn within(source: S, part: Range<u64>) -> io::Result<Self> {
        let is_beginning = part.start == 0;
        let mut lines = Lines::new(source, part);
        if !is_beginning {
            lines.skip_line()?;
        }
        Ok(Self { lines, state: ReaderState::default() })
    }

    /// Returns the highest number of a record so far.
    pub fn last_number(&self) -> u64 {
        self.state.last
    }

    /// Returns what was passed over so far.
    pub fn damage(&self) -> Damage {
        self.state.damage
    }

    /// Reads everything that is left.
    ///
    /// # Errors
    /// What the file itself says; damage is none.
    pub fn reading(mut self) -> io::Result<Reading> {
        let records = self.by_ref().collect::<io::Result<_>>()?;
        Ok(Reading { records, last: self.state.last, damage: self.state.damage })
    }

    /// Makes the records of the lines that begin in a part of a journal, where a line begins.
    pub(super) fn of_lines(source: S, part: Range<u64>) -> Self {
        Self { lines: Lines::new(source, part), state: ReaderState::default() }
    }

    /// As [`Iterator::next`], but passes over the records that are not wanted by what a glance at them tells. Those are no
    /// less checked for damage; a text in them that is lost is not counted.
    pub(super) fn next_wanted(&mut self, is_wanted: impl FnMut(&Glance<'_>) -> bool) -> io::Result<Option<Record>> {
        self.next_of(is_wanted)
    }

    fn next_record(&mut self) -> io::Result<Option<Record>> {
        self.next_of(|_| true)
    }

    fn next_of(&mut self, mut is_wanted: impl FnMut(&Glance<'_>) -> bool) -> io::Result<Option<Record>> {
        loop {
            if let Some(record) = self.state.ready.pop_front() {
                return Ok(Some(record));
            }
            match self.lines.next()? {
                NextLine::Line(place, line) => {
                    let line = self.lines.bytes(line);
                    let glance = Glance::parse(line).filter(|glance| !is_wanted(glance));
                    if glance.is_none_or(|glance| !self.state.pass_over(&glance, place, line)) {
                        self.state.line(&self.lines, place, line);
                    }
                }
                NextLine::TooLong => self.state.damage.skipped += 1,
                NextLine::End => return Ok(None),
            }
        }
    }
}

impl<S: ReadAt> Iterator for Records<S> {
    type Item = io::Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_record().transpose()
    }
}

impl ReaderState {
    /// Takes the line that begins at a place of the file.
    fn line(&mut self, lines: &Lines<impl ReadAt>, place: u64, line: &[u8]) {
        let is_blank = |byte: &u8| matches!(byte, 0 | b'\n' | b'\r' | b' ');
        let from = line.iter().position(|byte| !is_blank(byte)).unwrap_or(line.len());
        let to = line.iter().rposition(|byte| !is_blank(byte)).map_or(from, |at| at + 1);
        // The one NUL that a line of ours never holds.
        let has_hole = memchr::memchr(0, line).is_some();
        self.damage.skipped += u64::from(has_hole);
        let Some(text) = line.get(from..to).filter(|text| !text.is_empty()) else { return };
        let place = place + from as u64;
        if let Some((number, record)) = whole(text) {
            if !self.is_doubled(number, place, text) {
                self.keep(number, record);
            }
        } else if serde_json::from_slice::<IgnoredAny>(text).is_ok() {
            self.value(lines, place, text);
        } else {
            self.damage.skipped += u64::from(!has_hole);
            self.pieces(lines, place, text);
        }
    }

    /// Passes over a line that holds a whole record; false for one that does not.
    fn pass_over(&mut self, glance: &Glance<'_>, place: u64, line: &[u8]) -> bool {
        let text = line.trim_ascii_end();
        let is_whole = serde_json::from_slice::<IgnoredAny>(text).is_ok();
        if is_whole {
            self.is_doubled(glance.number, place, text);
            self.last = self.last.max(glance.number);
        }
        is_whole
    }

    /// Takes the whole records out of a line that is damaged.
    fn pieces(&mut self, lines: &Lines<impl ReadAt>, place: u64, text: &[u8]) {
        let mut at = 0;
        // True while everything from the line's beginning was whole: what follows cannot stand within a record then.
        let mut is_outside = true;
        while let Some(found) = text.get(at..).and_then(|rest| memmem::find(rest, MARK)) {
            let start = at + found;
            let before = start.checked_sub(1).and_then(|before| text.get(before));
            let is_within = !is_outside && before.is_some_and(|before| matches!(before, b':' | b',' | b'['));
            let rest = text.get(start..).unwrap_or_default();
            let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<IgnoredAny>();
            match values.next() {
                Some(Ok(_)) if !is_within => {
                    let end = start + values.byte_offset();
                    self.value(lines, place + start as u64, text.get(start..end).unwrap_or_default());
                    at = end;
                }
                Some(Ok(_) | Err(_)) | None => {
                    is_outside = false;
                    at = start + MARK.len();
                }
            }
        }
    }

    /// Takes a value that stands at a place of the file.
    fn value(&mut self, lines: &Lines<impl ReadAt>, place: u64, text: &[u8]) {
        let Ok(Numbered { record: number }) = serde_json::from_slice(text) else {
            self.damage.skipped += 1;
            return;
        };
        if self.is_doubled(number, place, text) {
            return;
        }
        let (places, reread) = (&self.places, &mut self.reread);
        let most = place.saturating_mul(REREAD).saturating_add(REREAD_AT_LEAST);
        let longest = usize::try_from(REREAD_AT_LEAST).unwrap_or(usize::MAX);
        let find = |record, at| {
            let named = places.get(record).or_else(|| lines.find(record))?;
            let line = lines.line_at(named).filter(|_| *reread < most)?;
            *reread += line.len() as u64;
            texts::long_text(&line, at).map(<[u8]>::to_vec)
        };
        let (whole, lost) = texts::put_back(number, text, find, longest);
        self.damage.lost_texts += lost;
        match record_of(&whole) {
            Some(record) => self.keep(number, record),
            None => self.damage.skipped += 1,
        }
    }

    /// Notes where a record stands; tells whether it was there before, and counts it then.
    fn is_doubled(&mut self, number: u64, place: u64, text: &[u8]) -> bool {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let is_doubled = self.places.insert(number, place, hasher.finish());
        self.damage.doubled += u64::from(is_doubled);
        is_doubled
    }

    fn keep(&mut self, number: u64, record: Record) {
        if let Record::Missing { records } = record {
            self.damage.missing += records;
        } else if let Record::Session(Header { imported: Some(origin), .. }) = &record {
            self.damage.not_imported = origin.skipped;
        }
        self.last = self.last.max(number);
        self.ready.push_back(record);
    }
}

/// What the beginning of a line tells that is written as ours are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Glance<'a> {
    number: u64,
    /// The kind of the record.
    pub kind: &'a str,
    /// Of an event: its time, its agent and its type.
    pub event: Option<(&'a str, &'a str, &'a str)>,
}

impl<'a> Glance<'a> {
    fn parse(line: &'a [u8]) -> Option<Self> {
        let number = number_of(line)?;
        let behind = line.get(MARK.len()..)?;
        let digits = behind.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (kind, rest) = text_and_rest(behind.get(digits..)?.strip_prefix(KIND)?)?;
        let event = || {
            let rest = rest.strip_prefix(br#","seq":"#)?;
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let (at, rest) = text_and_rest(rest.get(digits..)?.strip_prefix(br#","at":""#)?)?;
            let (agent, rest) = text_and_rest(rest.strip_prefix(br#","agent":""#)?)?;
            let rest = rest.strip_prefix(br#","parent":"#)?;
            let rest = match rest.strip_prefix(b"null") {
                Some(rest) => rest,
                None => text_and_rest(rest.strip_prefix(b"\"")?)?.1,
            };
            let (name, _) = text_and_rest(rest.strip_prefix(br#","event":{"type":""#)?)?;
            Some((at, agent, name))
        };
        Some(Self { number, kind, event: event() })
    }
}

/// Returns a text that begins here and has no escapes, and what stands behind it.
fn text_and_rest(from: &[u8]) -> Option<(&str, &[u8])> {
    let end = memchr::memchr2(b'"', b'\\', from).filter(|end| from.get(*end) == Some(&b'"'))?;
    Some((str::from_utf8(from.get(..end)?).ok()?, from.get(end + 1..)?))
}

/// The number of a record, whatever else it says.
#[derive(Deserialize)]
struct Numbered {
    record: u64,
}

/// Reads a line as it is usually written, without a way over a value; `None` for every other one.
fn whole(text: &[u8]) -> Option<(u64, Record)> {
    let number = number_of(text)?;
    if memmem::find(text, NAMED).is_some() {
        return None;
    }
    Some((number, record_of(text)?))
}

/// Reads the record that a line of JSON holds. The kinds of which there are many are read without the detour that a
/// tagged form takes over what stands before its tag.
fn record_of(text: &[u8]) -> Option<Record> {
    let behind = text.strip_prefix(MARK).unwrap_or_default();
    let digits = behind.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let kind = behind.get(digits..).and_then(|rest| rest.strip_prefix(KIND)).unwrap_or_default();
    if kind.starts_with(b"event\",") {
        return serde_json::from_slice(text).ok().map(Record::Event);
    }
    if kind.starts_with(b"history\",") {
        let HistoryLine { replaced, messages } = serde_json::from_slice(text).ok()?;
        return Some(Record::History { replaced, messages });
    }
    serde_json::from_slice(text).ok()
}

/// The members of [`Record::History`].
#[derive(Deserialize)]
struct HistoryLine {
    replaced: bool,
    messages: Vec<Message>,
}

/// Where each record stands in the file, with what its line was, to know it again.
#[derive(Default)]
struct Places {
    /// By number, nearly all of them: the places, and a part of the hash of each.
    dense: Vec<u64>,
    hashes: Vec<u32>,
    /// Numbers far above those before.
    sparse: HashMap<u64, (u64, u32)>,
}

/// No place.
const NOWHERE: u64 = u64::MAX;

impl Places {
    /// Notes a record; tells whether it is the same as the last one of this number.
    #[allow(clippy::cast_possible_truncation)] // Half of a hash is one.
    fn insert(&mut self, number: u64, place: u64, hash: u64) -> bool {
        let (index, hash) = (usize::try_from(number).unwrap_or(usize::MAX), hash as u32);
        let is_near = index <= self.dense.len().saturating_add(GAP);
        if is_near && index >= self.dense.len() {
            self.dense.resize(index + 1, NOWHERE);
            self.hashes.resize(index + 1, 0);
        }
        let before = match (self.dense.get_mut(index), self.hashes.get_mut(index)) {
            (Some(known), Some(known_hash)) => {
                let before = (mem::replace(known, place), mem::replace(known_hash, hash));
                (before.0 != NOWHERE).then_some(before)
            }
            _ => self.sparse.insert(number, (place, hash)),
        };
        before.is_some_and(|(_, before)| before == hash)
    }

    fn get(&self, number: u64) -> Option<u64> {
        let dense = usize::try_from(number).ok().and_then(|index| self.dense.get(index)).copied();
        let place = dense.filter(|place| *place != NOWHERE);
        place.or_else(|| self.sparse.get(&number).map(|(place, _)| *place))
    }
}
