//! Finds a text in a file and replaces it, whatever the line ends: `\n` of the model stands for `\r\n` of the file too.
//!
//! Works on bytes, so that what is not UTF-8 stays as it is. A byte order mark stays where it is.

use crate::encoding::MARK;

/// A content with `\n` for each `\r\n`, and without a byte order mark.
pub(super) struct Flat {
    bytes: Vec<u8>,
    /// Where in `bytes` each `\n` is that was a `\r\n`; rising.
    pairs: Vec<usize>,
    /// Length of the byte order mark.
    mark: usize,
}

impl Flat {
    pub(super) fn new(content: &[u8]) -> Self {
        let mark = if content.starts_with(MARK.as_bytes()) { MARK.len() } else { 0 };
        let mut bytes = Vec::with_capacity(content.len());
        let mut pairs = Vec::new();
        for line in content.get(mark..).unwrap_or_default().split_inclusive(|byte| *byte == b'\n') {
            if let [text @ .., b'\r', b'\n'] = line {
                bytes.extend_from_slice(text);
                pairs.push(bytes.len());
                bytes.push(b'\n');
            } else {
                bytes.extend_from_slice(line);
            }
        }
        Self { bytes, pairs, mark }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns a text of the model in the same form.
    pub(super) fn text(&self, text: &str) -> Vec<u8> {
        let text = if self.mark > 0 { text.strip_prefix(MARK).unwrap_or(text) } else { text };
        text.replace("\r\n", "\n").into_bytes()
    }

    /// Finds a text, each place behind the one before; an empty text is nowhere.
    pub(super) fn places(&self, needle: &[u8]) -> Vec<usize> {
        if needle.is_empty() { Vec::new() } else { memchr::memmem::find_iter(&self.bytes, needle).collect() }
    }

    /// Returns the number of the line that each place is on, from 1. The places rise.
    pub(super) fn lines(&self, places: &[usize]) -> Vec<usize> {
        let mut line = 1;
        let mut from = 0;
        let mut number = |place: &usize| {
            line += memchr::memchr_iter(b'\n', self.bytes.get(from..*place).unwrap_or_default()).count();
            from = *place;
            line
        };
        places.iter().map(&mut number).collect()
    }

    /// Returns the content with `new` in each of the places.
    pub(super) fn replace(&self, content: &[u8], places: &[usize], length: usize, new: &[u8]) -> Vec<u8> {
        let mut after = Vec::with_capacity(content.len() + new.len());
        let mut from = 0;
        for place in places {
            let end = place + length;
            after.extend_from_slice(content.get(from..self.original(*place)).unwrap_or_default());
            self.put(&mut after, new, *place, end);
            from = self.original(end);
        }
        after.extend_from_slice(content.get(from..).unwrap_or_default());
        after
    }

    fn original(&self, place: usize) -> usize {
        self.mark + place + self.pairs.partition_point(|pair| *pair < place)
    }

    /// Appends a text with the line ends of what it replaces; further lines end like the last of it, or like the line
    /// that it stands on.
    fn put(&self, after: &mut Vec<u8>, new: &[u8], place: usize, end: usize) {
        let replaced = self.bytes.get(place..end).unwrap_or_default();
        let ends: Vec<bool> = memchr::memchr_iter(b'\n', replaced).map(|at| self.is_pair(place + at)).collect();
        let further = ends.last().copied().unwrap_or_else(|| {
            let behind = self.bytes.get(end..).and_then(|rest| memchr::memchr(b'\n', rest)).map(|at| end + at);
            let line_end = behind.or_else(|| memchr::memrchr(b'\n', self.bytes.get(..place)?));
            line_end.is_some_and(|at| self.is_pair(at))
        });
        let mut ends = ends.into_iter().chain(std::iter::repeat(further));
        for line in new.split_inclusive(|byte| *byte == b'\n') {
            match line.split_last() {
                Some((b'\n', text)) => {
                    after.extend_from_slice(text);
                    after.extend_from_slice(if ends.next().unwrap_or(further) { b"\r\n" } else { b"\n" });
                }
                _ => after.extend_from_slice(line),
            }
        }
    }

    fn is_pair(&self, at: usize) -> bool {
        self.pairs.binary_search(&at).is_ok()
    }
}
