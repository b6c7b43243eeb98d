//! Lines of a stream of bytes, each within a cap. Pure.

use steersman_base::limits;

/// Takes pieces of any size; keeps only the line that has not ended.
#[derive(Debug, Default)]
pub(super) struct Lines {
    rest: Vec<u8>,
}

/// A line is longer than [`limits::MCP_LINE_BYTES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLong;

impl Lines {
    /// Takes the next bytes; gives each line that they complete to `each`, without its end. Empty ones are left out.
    pub(super) fn push(&mut self, bytes: &[u8], mut each: impl FnMut(&[u8])) -> Result<(), TooLong> {
        let mut pieces = bytes.split(|byte| *byte == b'\n');
        let last = pieces.next_back().unwrap_or_default();
        for piece in pieces {
            self.add(piece)?;
            let line = self.rest.trim_ascii();
            if !line.is_empty() {
                each(line);
            }
            // What a long line has taken is given back.
            self.rest = Vec::new();
        }
        self.add(last)
    }

    /// Returns the line that has not ended.
    pub(super) fn rest(&self) -> &[u8] {
        self.rest.trim_ascii()
    }

    fn add(&mut self, piece: &[u8]) -> Result<(), TooLong> {
        if self.rest.len() + piece.len() > limits::MCP_LINE_BYTES {
            return Err(TooLong);
        }
        self.rest.extend_from_slice(piece);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_whole_however_they_are_cut() {
        let text = b"one\r\n\ntwo\nthree";
        for cut in 1..text.len() {
            let (mut lines, mut got) = (Lines::default(), Vec::new());
            for piece in text.chunks(cut) {
                lines.push(piece, |line| got.push(String::from_utf8_lossy(line).into_owned())).unwrap();
            }
            assert_eq!((got, lines.rest()), (vec!["one".to_owned(), "two".to_owned()], &b"three"[..]), "{cut}");
        }
    }

    #[test]
    fn an_endless_line_is_not_kept() {
        let mut lines = Lines::default();
        let piece = vec![b'x'; 1024 * 1024];
        let taken = (0..=limits::MCP_LINE_BYTES / piece.len()).map(|_| lines.push(&piece, |_| {}));
        assert_eq!(taken.last(), Some(Err(TooLong)));
        assert!(lines.rest().len() <= limits::MCP_LINE_BYTES);
    }
}
