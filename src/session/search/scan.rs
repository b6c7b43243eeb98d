//! The files in pieces of whole lines, each searched on the next thread that is free.
//!
//! A line belongs to the piece in which it begins, so that no cut loses one or shows it twice. Nothing is held in memory
//! but a block of each thread's piece, and what was found.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{io, thread};

use grep_matcher::Matcher as _;
use memchr::{memchr, memrchr};

use super::hit::{find_in_line, seq_of};
use super::{Hit, SearchQuery};
use crate::journal::{ReadAt, SessionFile};
use steersman_base::limits;
use steersman_base::regular_file::{self, Links};
use steersman_base::sync::lock;

/// Bytes of a piece.
const PIECE: u64 = 32 << 20;
/// Bytes that are read at once.
const BLOCK: usize = 1 << 20;
/// The most threads: more would wait for the disk.
const THREADS: usize = 8;

type Outcome = io::Result<Vec<Hit>>;

/// A part of a file: the lines that begin from the one byte up to the other.
struct Piece {
    file: usize,
    from: u64,
    to: u64,
}

/// What a scan has found.
pub(super) struct Scanned {
    /// For each file, in their order.
    pub files: Vec<(SessionFile, Outcome)>,
    /// True when it ended early, because that was enough.
    pub is_cut: bool,
}

/// What the threads have done so far.
#[derive(Default)]
struct Progress {
    done: BTreeMap<usize, Outcome>,
    /// The pieces at the beginning that are done without a gap, and how much they hold.
    whole: usize,
    hits: usize,
    is_cut: bool,
}

impl Progress {
    /// Takes what a piece holds; tells whether the pieces at the beginning hold so much.
    fn add(&mut self, number: usize, outcome: Outcome, enough: usize) -> bool {
        self.is_cut |= outcome.as_ref().is_ok_and(|hits| hits.len() >= enough);
        self.done.insert(number, outcome);
        while let Some(outcome) = self.done.get(&self.whole) {
            self.whole += 1;
            self.hits += outcome.as_ref().map_or(0, Vec::len);
        }
        self.hits >= enough
    }
}

/// Searches the files in their order, until about so much is found.
pub(super) fn scan(files: Vec<SessionFile>, words: &SearchQuery, enough: usize) -> Scanned {
    let sizes: Vec<io::Result<u64>> = files.iter().map(SessionFile::size).collect();
    let pieces: Vec<Piece> = (sizes.iter().enumerate())
        .filter_map(|(file, size)| Some((file, *size.as_ref().ok()?)))
        .flat_map(|(file, size)| {
            let starts = (0..=size / PIECE).map(|number| number * PIECE);
            starts.map(move |from| Piece { file, from, to: from + PIECE })
        })
        .collect();
    let next = AtomicUsize::new(0);
    let progress: Mutex<Progress> = Mutex::default();
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(piece) = pieces.get(number) else { return };
            let Some(file) = files.get(piece.file) else { return };
            let outcome = search_piece(file, piece, words, enough);
            let mut progress = lock(&progress);
            if progress.add(number, outcome, enough) && next.fetch_max(pieces.len(), Ordering::Relaxed) < pieces.len() {
                progress.is_cut = true;
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get).min(THREADS).min(pieces.len());
    thread::scope(|scope| {
        // This thread works as well, also when no other can be started.
        for _ in 1..threads {
            let _ = thread::Builder::new().name("search".to_owned()).spawn_scoped(scope, work);
        }
        work();
    });
    let Progress { done, is_cut, .. } = progress.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut files: Vec<(SessionFile, Outcome)> =
        files.into_iter().zip(sizes).map(|(file, size)| (file, size.map(|_| Vec::new()))).collect();
    for (number, outcome) in done {
        let place = pieces.get(number).and_then(|piece| files.get_mut(piece.file));
        let Some((_, all)) = place else { continue };
        match (all.as_mut(), outcome) {
            (Ok(all), Ok(hits)) => all.extend(hits),
            (Ok(_), Err(error)) => *all = Err(error),
            (Err(_), _) => {}
        }
    }
    Scanned { files, is_cut }
}

fn search_piece(file: &SessionFile, piece: &Piece, words: &SearchQuery, enough: usize) -> Outcome {
    let (open, _) = regular_file::open(&file.path, Links::Refused)?;
    let mut hits: Vec<Hit> = Vec::new();
    // The last of them that have no number: the next event has it.
    let mut unnumbered = 0;
    each_block(&open, piece, |mut block| {
        while let Some(line) = next_line(&mut block, if unnumbered > 0 { None } else { Some(words) }) {
            if let Some(seq) = (unnumbered > 0).then(|| seq_of(line)).flatten() {
                hits.iter_mut().rev().take(unnumbered).for_each(|hit| hit.seq = Some(seq));
                unnumbered = 0;
            }
            if unnumbered == 0 && hits.len() >= enough {
                return Next::Enough;
            }
            if let Some(hit) = words.may_be_in(line).then(|| find_in_line(&file.session, line, words)).flatten() {
                unnumbered = if hit.seq.is_none() { unnumbered + 1 } else { 0 };
                hits.push(hit);
            }
        }
        Next::More
    })?;
    Ok(hits)
}

/// Takes the next line off a block, or the next one with these words.
fn next_line<'a>(block: &mut &'a [u8], with: Option<&SearchQuery>) -> Option<&'a [u8]> {
    let place = with.map_or(Some(0), |words| words.line.find(block).ok().flatten().map(|found| found.start()))?;
    let before = block.get(..place)?;
    let rest = block.get(memrchr(b'\n', before).map_or(0, |at| at + 1)..).filter(|rest| !rest.is_empty())?;
    let (line, behind) = rest.split_at(memchr(b'\n', rest).map_or(rest.len(), |end| end + 1));
    *block = behind;
    Some(line)
}

/// Whether more lines are wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    More,
    Enough,
}

/// Hands over the lines of a piece, many at once.
fn each_block(file: &impl ReadAt, piece: &Piece, mut take: impl FnMut(&[u8]) -> Next) -> io::Result<()> {
    // What has been read and not handed over, and where in the file it begins.
    let mut buffer: Vec<u8> = Vec::new();
    let mut start = piece.from.saturating_sub(1);
    // The line that begins in the piece before is that one's.
    let mut skips = piece.from > 0;
    loop {
        let filled = buffer.len();
        buffer.resize(filled + BLOCK, 0);
        let read = file.read_at(buffer.get_mut(filled..).unwrap_or_default(), start + filled as u64)?;
        buffer.truncate(filled + read);
        let is_end = read == 0;
        if skips {
            if let Some(end) = memchr(b'\n', &buffer) {
                buffer.drain(..=end);
                start += end as u64 + 1;
                skips = false;
            } else {
                start += buffer.len() as u64;
                buffer.clear();
                // The line that is passed over ends in a later piece, whose own it is to look for that end.
                if is_end || start >= piece.to {
                    return Ok(());
                }
                continue;
            }
        }
        let whole = if is_end { buffer.len() } else { memrchr(b'\n', &buffer).map_or(0, |at| at + 1) };
        // The last line of the piece may end far behind it.
        let within = usize::try_from(piece.to.saturating_sub(start)).unwrap_or(usize::MAX);
        if within == 0 {
            return Ok(());
        }
        let last = (within <= whole).then(|| memchr(b'\n', buffer.get(within - 1..whole).unwrap_or_default()));
        let whole = last.map_or(whole, |end| end.map_or(whole, |end| within + end));
        let next = take(buffer.get(..whole).unwrap_or_default());
        if is_end || last.is_some() || next == Next::Enough {
            return Ok(());
        }
        buffer.drain(..whole);
        start += whole as u64;
        if buffer.len() as u64 > limits::JOURNAL_LINE {
            start += buffer.len() as u64;
            buffer.clear();
            skips = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io::{self, Write as _};

    use super::{Next, Piece, ReadAt, each_block};

    #[test]
    fn each_line_is_in_one_piece_wherever_the_pieces_end() {
        let mut file = tempfile::tempfile().unwrap();
        let lines: Vec<String> =
            (0..60).map(|number: usize| "x".repeat(number * 7 % 23) + &number.to_string()).collect();
        let text = lines.join("\n");
        file.write_all(text.as_bytes()).unwrap();
        for size in [1, 7, 30, 1_000, 1 << 20] {
            let mut found = String::new();
            for from in (0..text.len() as u64 + size).step_by(usize::try_from(size).unwrap()) {
                let piece = Piece { file: 0, from, to: from + size };
                let take = |block: &[u8]| {
                    found.push_str(std::str::from_utf8(block).unwrap());
                    Next::More
                };
                each_block(&file, &piece, take).unwrap();
            }
            assert_eq!(found, text, "pieces of {size}");
        }
    }

    /// A file that counts the bytes that are read of it.
    struct Counted<'a>(&'a [u8], Cell<u64>);

    impl ReadAt for Counted<'_> {
        fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
            let read = self.0.read_at(buffer, at)?;
            self.1.set(self.1.get() + read as u64);
            Ok(read)
        }
    }

    #[test]
    fn a_file_without_an_end_of_a_line_is_read_once_whatever_the_number_of_its_pieces() {
        let bytes = vec![0; 24 << 20];
        let file = Counted(&bytes, Cell::new(0));
        let size = 2 << 20;
        for from in (0..bytes.len() as u64).step_by(2 << 20) {
            each_block(&file, &Piece { file: 0, from, to: from + size }, |_| Next::More).unwrap();
        }
        // The first piece looks for the end of its line as far as lines may reach.
        assert!(file.1.get() < 3 * bytes.len() as u64, "{} bytes were read", file.1.get());
    }
}
