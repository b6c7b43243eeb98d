//! The lines of a journal, read in blocks; a line that was passed can be read again.
//!
//! Nothing but the last blocks is held in memory, whatever the size of the file.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use memchr::memchr;

use crate::journal::record::number_of;
use steersman_base::limits;

/// Bytes that are read at once.
const BLOCK: usize = 256 << 10;
/// Bytes behind which lines are kept in memory: most texts that a line names stand shortly before it.
const KEPT: usize = 1 << 20;
/// Bytes that are read at once of a line elsewhere.
const ELSEWHERE: usize = 16 << 10;

/// Bytes that can be read at any place.
pub trait ReadAt {
    /// Reads bytes from a place on; fewer than there is room for only at the end, or now and then.
    ///
    /// # Errors
    /// What the system says.
    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize>;
}

impl ReadAt for File {
    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        loop {
            match FileExt::read_at(self, buffer, at) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                outcome => return outcome,
            }
        }
    }
}

impl ReadAt for &[u8] {
    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        let rest = usize::try_from(at).ok().and_then(|at| self.get(at..)).unwrap_or_default();
        let read = rest.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..read), rest.get(..read)) {
            to.copy_from_slice(from);
        }
        Ok(read)
    }
}

/// The next line of a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextLine {
    /// A line, with its newline where it has one: where it begins in the file, and where it stands in memory.
    Line(u64, Range<usize>),
    /// A line longer than any record, which was passed over.
    TooLong,
    /// There is none.
    End,
}

/// The lines of a part of a journal.
pub struct Lines<S> {
    source: S,
    /// Where the part begins and ends in the file.
    part: Range<u64>,
    /// What was read, and where in the file that begins.
    buffer: Vec<u8>,
    start: u64,
    /// Bytes of it that were handed out, and those behind them that hold no line end.
    used: usize,
    searched: usize,
}

impl<S: ReadAt> Lines<S> {
    /// Makes the lines that begin in a part of the file; behind its beginning the first line is a rest and is left out.
    pub fn new(source: S, part: Range<u64>) -> Self {
        let start = part.start;
        Self { source, part, buffer: Vec::new(), start, used: 0, searched: 0 }
    }

    /// Returns the bytes of a line that was returned last.
    pub fn bytes(&self, line: Range<usize>) -> &[u8] {
        self.buffer.get(line).unwrap_or_default()
    }

    /// Reads on to the next line.
    ///
    /// # Errors
    /// What the system says.
    #[expect(clippy::should_implement_trait, reason = "it can fail, and its line stands in it")]
    pub fn next(&mut self) -> io::Result<NextLine> {
        loop {
            let rest = self.buffer.get(self.used + self.searched..).unwrap_or_default();
            let end = memchr(b'\n', rest).map(|end| self.used + self.searched + end + 1);
            self.searched += rest.len();
            let is_too_long = (end.unwrap_or(self.buffer.len()) - self.used) as u64 > limits::JOURNAL_LINE;
            if is_too_long {
                self.skip_line()?;
                return Ok(NextLine::TooLong);
            }
            let end = match end {
                Some(end) => end,
                None if self.fill()? > 0 => continue,
                None if self.buffer.len() > self.used => self.buffer.len(),
                None => return Ok(NextLine::End),
            };
            let line = self.used..end;
            (self.used, self.searched) = (end, 0);
            return Ok(NextLine::Line(self.start + line.start as u64, line));
        }
    }

    /// Passes over the rest of a line, without keeping it.
    ///
    /// # Errors
    /// What the system says.
    pub fn skip_line(&mut self) -> io::Result<()> {
        loop {
            let rest = self.buffer.get(self.used..).unwrap_or_default();
            if let Some(end) = memchr(b'\n', rest) {
                self.used += end + 1;
                self.searched = 0;
                return Ok(());
            }
            self.start += self.buffer.len() as u64;
            self.buffer = Vec::new();
            (self.used, self.searched) = (0, 0);
            if self.fill()? == 0 {
                return Ok(());
            }
        }
    }

    /// Reads one more block; returns how many bytes that were.
    fn fill(&mut self) -> io::Result<usize> {
        if self.used > KEPT + BLOCK {
            self.buffer.drain(..self.used - KEPT);
            self.start += (self.used - KEPT) as u64;
            self.used = KEPT;
        }
        let filled = self.buffer.len();
        let place = self.start + filled as u64;
        let room = usize::try_from(self.part.end.saturating_sub(place)).unwrap_or(usize::MAX).min(BLOCK);
        self.buffer.resize(filled + room, 0);
        let read = self.source.read_at(self.buffer.get_mut(filled..).unwrap_or_default(), place)?;
        self.buffer.truncate(filled + read);
        Ok(read)
    }

    /// Reads the line that begins at a place of the file again; `None` when that cannot be done.
    pub fn line_at(&self, place: u64) -> Option<Cow<'_, [u8]>> {
        let within = place.checked_sub(self.start).and_then(|within| usize::try_from(within).ok());
        if let Some(rest) = within.and_then(|within| self.buffer.get(within..))
            && let Some(end) = memchr(b'\n', rest)
        {
            return rest.get(..end).map(Cow::Borrowed);
        }
        let mut line = Vec::new();
        loop {
            let filled = line.len();
            line.resize(filled + ELSEWHERE.max(filled), 0);
            let read = self.source.read_at(line.get_mut(filled..)?, place + filled as u64).ok()?;
            let end = memchr(b'\n', line.get(filled..filled + read)?);
            line.truncate(end.map_or(filled + read, |end| filled + end));
            if end.is_some() || read == 0 {
                return Some(Cow::Owned(line));
            }
            if line.len() as u64 > limits::JOURNAL_LINE {
                return None;
            }
        }
    }

    /// Finds a line before the part by the number of its record, which rises over the file; `None` where damage is in the
    /// way.
    pub fn find(&self, number: u64) -> Option<u64> {
        let (mut low, mut high) = (0, self.part.start);
        while high.saturating_sub(low) > BLOCK as u64 {
            let middle = low + (high - low) / 2;
            match self.first_record(middle, high) {
                Some((place, found)) if found <= number => low = place,
                Some(_) | None => high = middle,
            }
        }
        // The line that `low` stands in may reach far.
        let mut place = low;
        while place < self.part.start {
            let line = self.line_at(place)?;
            match number_of(&line) {
                Some(found) if found == number => return Some(place),
                Some(found) if found > number => return None,
                Some(_) | None => place += line.len() as u64 + 1,
            }
        }
        None
    }

    /// Returns the first record that begins behind a place, before another one.
    fn first_record(&self, from: u64, to: u64) -> Option<(u64, u64)> {
        let mut place = from + self.line_at(from)?.len() as u64 + 1;
        while place < to {
            let line = self.line_at(place)?;
            if let Some(number) = number_of(&line) {
                return Some((place, number));
            }
            place += line.len() as u64 + 1;
        }
        None
    }
}
