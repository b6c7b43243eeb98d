//! Rollouts that codex has compressed: one zstd frame, in a file whose name ends in `.jsonl.zst`.
//!
//! So codex leaves archived sessions that are older than a week, and reads the plain file where both are there (its
//! `codex-rs/rollout/src/compression.rs`). Always holds: the decoder gets a small window, and the output is bounded by the
//! size of the file.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

use steersman_base::limits;
use steersman_session::journal::ReadAt;

/// What is behind the name of the plain file.
const SUFFIX: &str = ".zst";

/// Tells whether a file has the name of a compressed rollout.
pub(super) fn has_name(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.ends_with(".jsonl.zst"))
}

/// Returns the path that a file has, or had, as long as it was not compressed.
pub(super) fn plain(path: &Path) -> PathBuf {
    let name = path.file_name().and_then(|name| name.to_str()).filter(|_| has_name(path));
    let plain = name.and_then(|name| name.strip_suffix(SUFFIX));
    plain.map_or_else(|| path.to_owned(), |plain| path.with_file_name(plain))
}

/// What a compressed file unpacks to, which is read from its beginning to its end.
pub(super) struct Unpacked {
    decoder: RefCell<StreamingDecoder<BufReader<File>, FrameDecoder>>,
    /// How much of it was read.
    place: Cell<u64>,
    /// How much of it may be read.
    most: u64,
}

impl Unpacked {
    /// Begins to unpack a file of a size.
    ///
    /// # Errors
    /// When it does not begin with a frame that needs a usual window.
    pub(super) fn new(file: File, size: u64) -> io::Result<Self> {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(limits::UNPACKING_WINDOW);
        let source = BufReader::new(file);
        let decoder = StreamingDecoder::new_with_decoder(source, decoder).map_err(|error| damaged(&error))?;
        let most = size.saturating_mul(limits::UNPACKED_TIMES);
        let most = most.clamp(limits::UNPACKED_BYTES, limits::IMPORT_BYTES);
        Ok(Self { decoder: RefCell::new(decoder), place: Cell::new(0), most })
    }
}

impl ReadAt for Unpacked {
    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        if at != self.place.get() {
            return Err(io::Error::from(io::ErrorKind::NotSeekable));
        }
        let mut decoder = self.decoder.borrow_mut();
        let read = decoder.read(buffer).map_err(|error| damaged(&error))?;
        // A second frame is nothing that codex writes, and would be left out without a word.
        if read == 0 && !buffer.is_empty() && !decoder.get_mut().fill_buf()?.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it goes on behind its end"));
        }
        self.place.set(at + read as u64);
        if self.place.get() > self.most {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                "it unpacks to far more than its size lets expect",
            ));
        }
        Ok(read)
    }
}

fn damaged(why: &dyn fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("it cannot be unpacked: {why}"))
}
