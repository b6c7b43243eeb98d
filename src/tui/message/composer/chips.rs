//! Long texts that stand in the message as one word, `[pasted 812 lines, 31 KB]`, and are sent as they are.
//!
//! In the text area a chip is its label between two signs that no text from outside can hold, so undo, redo and the
//! yank carry it along by themselves. Always holds: no two different texts have one label.

use std::borrow::Cow;
use std::sync::Arc;

use steersman_base::limits;

/// Stands where a chip begins.
pub(super) const OPEN: char = '\u{FDD0}';
/// Stands where a chip ends.
pub(super) const CLOSE: char = '\u{FDD1}';

/// The texts behind the labels.
#[derive(Debug, Clone, Default)]
pub(super) struct Chips(Vec<(String, Arc<str>)>);

/// A chip on one line, from one character to before another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChipSpan<'a> {
    /// The first character.
    pub start: usize,
    /// The character behind it.
    pub end: usize,
    /// The same in bytes.
    pub bytes: (usize, usize),
    pub label: &'a str,
}

/// Tells whether a paste is shown as a chip.
pub(super) fn is_large(text: &str) -> bool {
    text.chars().nth(limits::CHIP_CHARS).is_some() || lines(text) > limits::CHIP_LINES
}

impl Chips {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes a text; returns what stands for it in the message. The word says where it came from.
    pub(super) fn collapse(&mut self, word: &str, text: &str) -> String {
        let plain = match lines(text) {
            1 => format!("{word} 1 line, {}", size(text.len())),
            lines => format!("{word} {lines} lines, {}", size(text.len())),
        };
        let mut label = plain.clone();
        let mut number = 1;
        while self.text(&label).is_some_and(|known| known != text) {
            number += 1;
            label = format!("{plain} #{number}");
        }
        let shown = format!("{OPEN}{label}{CLOSE}");
        if self.text(&label).is_none() {
            self.0.push((label, text.into()));
        }
        shown
    }

    /// Returns the text behind a label.
    pub(super) fn text(&self, label: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == label).map(|(_, text)| &**text)
    }

    pub(super) fn shared(&self, label: &str) -> Option<Arc<str>> {
        self.0.iter().find(|(known, _)| known == label).map(|(_, text)| Arc::clone(text))
    }

    /// Takes the chip of another message; returns what stands for it here.
    pub(super) fn adopt(&mut self, label: &str, text: &Arc<str>) -> String {
        match self.text(label) {
            Some(known) if *known == **text => {}
            Some(_) => return self.collapse("pasted", text),
            None => self.0.push((label.to_owned(), Arc::clone(text))),
        }
        format!("{OPEN}{label}{CLOSE}")
    }

    /// Puts the texts in the places of their chips.
    pub(super) fn expand<'a>(&self, shown: &'a str) -> Cow<'a, str> {
        if self.0.is_empty() || !shown.contains(OPEN) {
            return Cow::Borrowed(shown);
        }
        let mut whole = String::new();
        let mut at = 0;
        for place in places(shown) {
            whole.push_str(shown.get(at..place.bytes.0).unwrap_or_default());
            whole.push_str(self.text(place.label).unwrap_or_default());
            at = place.bytes.1;
        }
        whole.push_str(shown.get(at..).unwrap_or_default());
        Cow::Owned(whole)
    }

    /// Returns the bytes of the text with the chips in it expanded.
    pub(super) fn expanded_len(&self, shown: &str) -> usize {
        let more = |place: ChipSpan<'_>| {
            let text = self.text(place.label).map_or(0, str::len);
            (text, place.bytes.1 - place.bytes.0)
        };
        let (texts, labels) = places(shown).map(more).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        shown.len() + texts - labels
    }

    /// Forgets the texts whose chips are not in this text.
    pub(super) fn keep(&mut self, shown: &str) {
        self.0.retain(|(label, _)| places(shown).any(|place| place.label == label));
    }
}

/// Returns the chips of a text and the places where one of these labels stands, in order.
pub(super) fn places_with<'a>(shown: &'a str, labels: &'a [String]) -> Vec<ChipSpan<'a>> {
    let mut all: Vec<ChipSpan<'a>> = places(shown).collect();
    for label in labels {
        for (at, label) in shown.match_indices(label.as_str()) {
            let start = shown.get(..at).unwrap_or_default().chars().count();
            let end = start + label.chars().count();
            all.push(ChipSpan { start, end, bytes: (at, at + label.len()), label });
        }
    }
    all.sort_by_key(|place| place.start);
    all
}

/// Writes a shown text for people: each chip in brackets.
pub(super) fn in_brackets(shown: &str) -> String {
    shown.replace(OPEN, "[").replace(CLOSE, "]")
}

/// Returns the chips of a text, in order; character places count from the start of the text.
pub(super) fn places(shown: &str) -> impl Iterator<Item = ChipSpan<'_>> {
    let mut byte = 0;
    let mut column = 0;
    std::iter::from_fn(move || {
        let rest = shown.get(byte..)?;
        let open = rest.find(OPEN)?;
        let from = open + OPEN.len_utf8();
        let close = rest.get(from..)?.find(CLOSE)? + from;
        let label = rest.get(from..close)?;
        let start = column + rest.get(..open)?.chars().count();
        let end = start + label.chars().count() + 2;
        let bytes = (byte + open, byte + close + CLOSE.len_utf8());
        (byte, column) = (bytes.1, end);
        Some(ChipSpan { start, end, bytes, label })
    })
}

fn lines(text: &str) -> usize {
    memchr::memchr_iter(b'\n', text.strip_suffix('\n').unwrap_or(text).as_bytes()).count() + 1
}

/// Writes a number of bytes for people.
pub(crate) fn size(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} KB", bytes.div_ceil(1_000)),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}
