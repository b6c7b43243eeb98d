//! Lines of a stream of bytes, each within a cap. Pure.

use steersman_base::limits;

/// Beginning of a line above the cap that is kept, bytes.
const BEGINNING: usize = 4 * 1024;

/// Takes pieces of any size; keeps only the line that has not ended.
#[derive(Debug, Default)]
pub(super) struct Lines {
    rest: Vec<u8>,
    /// Bytes of the line, also those that are not kept.
    length: usize,
}

/// A line that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamLine<'a> {
    /// Within the cap.
    Whole(&'a [u8]),
    /// The beginning of one that is longer than [`limits::MCP_LINE_BYTES`].
    TooLong(&'a [u8]),
}

/// A line is longer than [`limits::MCP_LOG_LINE_BYTES`]: it has no end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Endless;

impl Lines {
    /// Takes the next bytes; gives each line that they complete to `each`, without its end. Empty ones are left out.
    pub(super) fn push(&mut self, bytes: &[u8], mut each: impl FnMut(StreamLine<'_>)) -> Result<(), Endless> {
        let mut pieces = bytes.split(|byte| *byte == b'\n');
        let last = pieces.next_back().unwrap_or_default();
        for piece in pieces {
            self.add(piece)?;
            let line = self.rest.trim_ascii();
            if self.length > limits::MCP_LINE_BYTES {
                each(StreamLine::TooLong(line));
            } else if !line.is_empty() {
                each(StreamLine::Whole(line));
            }
            // What a long line has taken is given back.
            *self = Self::default();
        }
        self.add(last)
    }

    /// Returns the line that has not ended; empty when it is above the cap.
    pub(super) fn rest(&self) -> &[u8] {
        if self.length > limits::MCP_LINE_BYTES { &[] } else { self.rest.trim_ascii() }
    }

    fn add(&mut self, piece: &[u8]) -> Result<(), Endless> {
        self.length += piece.len();
        if self.length <= limits::MCP_LINE_BYTES {
            self.rest.extend_from_slice(piece);
            return Ok(());
        }
        let room = BEGINNING.saturating_sub(self.rest.len()).min(piece.len());
        self.rest.extend_from_slice(piece.get(..room).unwrap_or_default());
        self.rest.truncate(BEGINNING);
        self.rest.shrink_to_fit();
        if self.length > limits::MCP_LOG_LINE_BYTES { Err(Endless) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe(line: StreamLine<'_>) -> String {
        let (StreamLine::Whole(line) | StreamLine::TooLong(line)) = line;
        String::from_utf8_lossy(line).into_owned()
    }

    #[test]
    fn lines_come_whole_however_they_are_cut() {
        let text = b"one\r\n\ntwo\nthree";
        for cut in 1..text.len() {
            let (mut lines, mut got) = (Lines::default(), Vec::new());
            for piece in text.chunks(cut) {
                lines.push(piece, |line| got.push(describe(line))).unwrap();
            }
            assert_eq!((got, lines.rest()), (vec!["one".to_owned(), "two".to_owned()], &b"three"[..]), "{cut}");
        }
    }

    #[test]
    fn of_a_line_above_the_cap_the_beginning_is_kept_and_the_next_line_is_whole() {
        let piece = vec![b'x'; 1024 * 1024];
        for end in [&b"\nnext\n"[..], b"\r\nnext\n"] {
            let (mut lines, mut got) = (Lines::default(), Vec::new());
            for piece in std::iter::repeat_n(piece.as_slice(), 17).chain([end]) {
                lines.push(piece, |line| got.push((matches!(line, StreamLine::TooLong(_)), describe(line)))).unwrap();
                assert!(lines.rest().len() <= limits::MCP_LINE_BYTES);
            }
            assert_eq!(got.len(), 2);
            assert!(got[0].0 && got[0].1.len() == BEGINNING);
            assert_eq!(got[1], (false, "next".to_owned()));
        }
    }

    #[test]
    fn an_endless_line_is_not_kept() {
        let mut lines = Lines::default();
        let piece = vec![b'x'; 1024 * 1024];
        let taken = (0..=limits::MCP_LOG_LINE_BYTES / piece.len()).map(|_| lines.push(&piece, |_| {}));
        assert_eq!(taken.last(), Some(Err(Endless)));
        assert!(lines.rest.capacity() <= BEGINNING);
    }
}
