//! The newest output of a job: what its agent has not read yet, and the lines that somebody waits for.
//!
//! Bounded, whatever comes. A line that is waited for is looked for in each piece as it comes, so that none is missed,
//! however it is split.

use grep_matcher::Matcher as _;
use grep_regex::RegexMatcher;

use steersman_base::limits;
use steersman_core::tool::capture::{decode, first_character, whole_characters};
use steersman_core::tool::terminal_text::{TerminalText, whole_sequences};

/// What a line must have.
#[derive(Debug, Clone)]
pub(crate) enum LinePattern {
    Words(String),
    Expression(Box<RegexMatcher>),
}

impl LinePattern {
    /// Returns whether a line has it, as it came or as a terminal shows it.
    fn fits(&self, line: &[u8]) -> bool {
        let is_special = |byte: &u8| matches!(*byte, b'\r' | 0x08 | 0x1b);
        self.has(line) || (line.iter().any(is_special) && self.has(&TerminalText::render(line)))
    }

    fn has(&self, line: &[u8]) -> bool {
        match self {
            Self::Words(words) => memchr::memmem::find(line, words.as_bytes()).is_some(),
            Self::Expression(expression) => expression.is_match(line).unwrap_or(false),
        }
    }
}

/// A wait for a line.
#[derive(Debug)]
struct LineWait {
    number: u64,
    pattern: LinePattern,
    /// Bytes of the output before the line that is looked at next.
    from: u64,
    is_met: bool,
}

/// The newest output of a job.
#[derive(Debug, Default)]
pub(super) struct KeptOutput {
    bytes: Vec<u8>,
    /// Bytes of the output before them.
    before: u64,
    /// Bytes of the output that the agent has read.
    read: u64,
    waits: Vec<LineWait>,
    waits_begun: u64,
}

/// The part of an output that was not read yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unread {
    pub(super) text: String,
    /// Bytes before it that were not read and are not kept here.
    pub(super) lost: u64,
    /// Bytes of the output up to its end.
    pub(super) up_to: u64,
}

impl KeptOutput {
    /// Begins with what is kept of an output, and the number of bytes before that.
    pub(super) fn new(bytes: Vec<u8>, before: u64) -> Self {
        Self { bytes, before, ..Self::default() }
    }

    /// Takes the next piece; returns whether a line came that somebody waits for.
    pub(super) fn push(&mut self, piece: &[u8]) -> bool {
        let most = limits::BACKGROUND_KEPT_BYTES;
        self.bytes.extend_from_slice(piece);
        let mut is_met = false;
        let mut waits = std::mem::take(&mut self.waits);
        for wait in waits.iter_mut().filter(|wait| !wait.is_met) {
            self.look(wait);
            is_met |= wait.is_met;
        }
        self.waits = waits;
        // Room is made rarely, not for every piece.
        if self.bytes.len() > 2 * most {
            let old = self.bytes.len() - most;
            self.bytes.drain(..old);
            self.before += old as u64;
        }
        is_met
    }

    /// Looks for a line behind what was looked at.
    fn look(&self, wait: &mut LineWait) {
        wait.from = wait.from.max(self.before);
        let from = usize::try_from(wait.from - self.before).unwrap_or(usize::MAX);
        for line in self.bytes.get(from..).unwrap_or_default().split_inclusive(|byte| *byte == b'\n') {
            let whole = line.strip_suffix(b"\n");
            let text = whole.unwrap_or(line);
            if wait.pattern.fits(text.strip_suffix(b"\r").unwrap_or(text)) {
                wait.is_met = true;
                return;
            }
            if whole.is_some() {
                wait.from += line.len() as u64;
            }
        }
    }

    /// Begins a wait for a line among what was not read yet; returns its number.
    pub(super) fn wait_for(&mut self, pattern: LinePattern) -> u64 {
        self.waits_begun += 1;
        let mut wait = LineWait { number: self.waits_begun, pattern, from: self.read, is_met: false };
        self.look(&mut wait);
        self.waits.push(wait);
        self.waits_begun
    }

    /// Returns whether the line of this wait has come.
    pub(super) fn is_met(&self, number: u64) -> bool {
        self.waits.iter().any(|wait| wait.number == number && wait.is_met)
    }

    pub(super) fn end_wait(&mut self, number: u64) {
        self.waits.retain(|wait| wait.number != number);
    }

    /// Returns what was not read yet; of an output that goes on without a character that does.
    pub(super) fn unread(&self, has_ended: bool) -> Unread {
        let from = self.read.max(self.before);
        let start = usize::try_from(from - self.before).unwrap_or(usize::MAX);
        let all = self.bytes.get(start..).unwrap_or_default();
        let cut = if from > self.read { first_character(all) } else { 0 };
        let rest = all.get(cut..).unwrap_or_default();
        let whole = if has_ended { rest.len() } else { whole_sequences(rest).min(whole_characters(rest)) };
        let shown = rest.get(..whole).unwrap_or_default();
        let first = from + cut as u64;
        Unread {
            text: decode(&TerminalText::render(shown)),
            lost: first - self.read,
            up_to: first + shown.len() as u64,
        }
    }

    /// Notes that everything up to there was read.
    pub(super) fn set_read(&mut self, up_to: u64) {
        self.read = self.read.max(up_to);
    }

    /// Returns the last lines, or the end of the last one where that is long.
    pub(super) fn last_lines(&self) -> String {
        let newest = self.bytes.len().saturating_sub(limits::BACKGROUND_LAST_BYTES);
        let end = self.bytes.get(newest..).unwrap_or_default();
        let end = if newest > 0 { end.get(first_character(end)..).unwrap_or_default() } else { end };
        let text = decode(&TerminalText::render(end));
        let lines: Vec<&str> = text.trim_end().lines().collect();
        lines.get(lines.len().saturating_sub(limits::BACKGROUND_LAST_LINES)..).unwrap_or_default().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literal(words: &str) -> LinePattern {
        LinePattern::Words(words.to_owned())
    }

    #[test]
    fn a_line_is_found_however_it_is_split() {
        for size in 1..12 {
            let mut kept = KeptOutput::default();
            let wait = kept.wait_for(literal("listening on 80"));
            let output = b"one\ntwo: listening on 80\nthree\n";
            let met = output.chunks(size).filter(|piece| kept.push(piece)).count();
            assert!(kept.is_met(wait) && met == 1, "pieces of {size}");
        }
    }

    #[test]
    fn words_of_two_lines_are_no_line() {
        let mut kept = KeptOutput::default();
        let wait = kept.wait_for(literal("one two"));
        assert!(!kept.push(b"one\n two one\ntwo"));
        assert!(!kept.is_met(wait));
    }

    #[test]
    fn a_flood_keeps_the_newest_and_says_what_was_lost() {
        let mut kept = KeptOutput::default();
        kept.push("é".as_bytes());
        let piece = "x".repeat(64 * 1024 - 2) + "é";
        for _ in 0..20 {
            kept.push(piece.as_bytes());
        }
        let unread = kept.unread(false);
        assert!(unread.text.len() <= 2 * limits::BACKGROUND_KEPT_BYTES + 2);
        assert_eq!(unread.lost + unread.text.len() as u64, 2 + 20 * 64 * 1024);
        kept.set_read(unread.up_to);
        assert_eq!(kept.unread(false), Unread { text: String::new(), lost: 0, up_to: unread.up_to });
        kept.push(b"new");
        assert_eq!(kept.unread(false).text, "new");
    }

    #[test]
    fn half_a_character_waits_for_its_other_half() {
        let mut kept = KeptOutput::default();
        kept.push(b"a\xc3");
        let unread = kept.unread(false);
        assert_eq!((unread.text.as_str(), unread.up_to), ("a", 1));
        kept.set_read(unread.up_to);
        kept.push(b"\xa9");
        assert_eq!(kept.unread(false).text, "é");
    }
}
