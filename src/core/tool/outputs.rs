//! Where the whole output of a command goes when the model gets only a part, and what of a result is no text: files of the
//! session, for its tools to read.
//!
//! The directory is the user's alone and goes away with the session. A slow or full disk is said; it never holds a
//! command up for long, and never breaks it.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::temporary::{TemporaryDirectory, create_private};
use steersman_base::limits;

/// Pieces that wait for the disk.
const WAITING: usize = 16;

/// The directory of one session for the outputs of its commands.
#[derive(Debug)]
pub struct Outputs {
    /// The directory, which goes away with this; else why there is none.
    directory: Result<TemporaryDirectory, String>,
    files: AtomicU64,
    /// Bytes that the files of the session may still take.
    room: Arc<AtomicU64>,
}

/// How much of an output is in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SavedOutput {
    /// All of it.
    Whole,
    /// So many bytes from its beginning; no more is kept.
    Beginning(u64),
    /// So many bytes, then this went wrong.
    Failed(u64, String),
}

impl Outputs {
    /// Makes the directory in another one.
    ///
    /// # Errors
    /// The error of the file system.
    pub fn new(parent: &Path) -> io::Result<Self> {
        Ok(Self::in_directory(Ok(TemporaryDirectory::new_in(parent, "output")?)))
    }

    /// Makes a place that keeps nothing, and says why when something is to be kept.
    pub fn without(why: impl Into<String>) -> Self {
        Self::in_directory(Err(why.into()))
    }

    fn in_directory(directory: Result<TemporaryDirectory, String>) -> Self {
        let room = Arc::new(AtomicU64::new(limits::OUTPUT_FILES_BYTES));
        Self { directory, files: AtomicU64::new(0), room }
    }

    /// Returns the directory, if there is one; tools that read are to reach it.
    pub fn path(&self) -> Option<&Path> {
        self.directory.as_ref().ok().map(TemporaryDirectory::path)
    }

    /// Keeps a part of a result that is no text, as far as there is room; returns its file.
    ///
    /// # Errors
    /// The error of the file system, or that there is no room.
    pub fn keep(&self, content: &[u8], ending: &str) -> io::Result<PathBuf> {
        let directory = self.directory.as_ref().map_err(|why| io::Error::other(why.clone()))?;
        let size = content.len() as u64;
        if size > limits::OUTPUT_FILE_BYTES || !take_whole_room(&self.room, size) {
            return Err(io::Error::other("there is no room for it"));
        }
        let number = self.files.fetch_add(1, Ordering::Relaxed) + 1;
        let path = directory.path().join(format!("result-{number}.{ending}"));
        let mut file = create_private(&path)?;
        file.write_all(content)?;
        Ok(path)
    }

    pub(super) fn open(&self) -> io::Result<OutputFile> {
        let directory = self.directory.as_ref().map_err(|why| io::Error::other(why.clone()))?;
        let number = self.files.fetch_add(1, Ordering::Relaxed) + 1;
        let path = directory.path().join(format!("command-{number}.txt"));
        let file = create_private(&path)?;
        let (pieces, waiting) = mpsc::channel(WAITING);
        let writer = tokio::task::spawn_blocking(move || write(file, waiting));
        let room = Arc::clone(&self.room);
        Ok(OutputFile { path, pieces: Some(pieces), writer, room, sent: 0, fault: None })
    }
}

fn take_whole_room(room: &AtomicU64, wanted: u64) -> bool {
    let left = |room: u64| room.checked_sub(wanted);
    room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left).is_ok()
}

/// Writes pieces until there are no more; returns how much it wrote, and what went wrong.
fn write(mut file: File, mut pieces: mpsc::Receiver<Vec<u8>>) -> (u64, Option<String>) {
    let mut written = 0;
    while let Some(piece) = pieces.blocking_recv() {
        if let Err(error) = file.write_all(&piece) {
            return (written, Some(error.to_string()));
        }
        written += piece.len() as u64;
    }
    (written, None)
}

/// A file that takes an output.
#[derive(Debug)]
pub(super) struct OutputFile {
    path: PathBuf,
    /// `None` when no more is kept.
    pieces: Option<mpsc::Sender<Vec<u8>>>,
    writer: JoinHandle<(u64, Option<String>)>,
    room: Arc<AtomicU64>,
    sent: u64,
    fault: Option<&'static str>,
}

impl OutputFile {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Takes the next piece, as far as there is room.
    pub(super) async fn push(&mut self, piece: &[u8]) {
        let Some(pieces) = &self.pieces else { return };
        let wanted = (piece.len() as u64).min(limits::OUTPUT_FILE_BYTES.saturating_sub(self.sent));
        let granted = self.take_room(wanted);
        let kept = piece.get(..usize::try_from(granted).unwrap_or(0)).unwrap_or_default();
        if !kept.is_empty() {
            match timeout(limits::OUTPUT_DISK_TIME, pieces.send(kept.to_vec())).await {
                Ok(Ok(())) => self.sent += granted,
                // The writer knows what went wrong.
                Ok(Err(_)) => self.pieces = None,
                Err(_) => {
                    self.fault = Some("the disk is too slow");
                    self.pieces = None;
                }
            }
        }
        if kept.len() < piece.len() {
            self.pieces = None;
        }
    }

    fn take_room(&self, wanted: u64) -> u64 {
        let left = |room: u64| Some(room.saturating_sub(wanted));
        let before = self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left).unwrap_or(0);
        before.min(wanted)
    }

    /// Ends the file; returns it and how much of `total` bytes it holds.
    pub(super) async fn finish(mut self, total: u64) -> (PathBuf, SavedOutput) {
        self.pieces = None;
        let (written, error) = match timeout(limits::OUTPUT_DISK_TIME, self.writer).await {
            Ok(Ok(done)) => done,
            Ok(Err(_)) | Err(_) => (0, Some("the disk is too slow".to_owned())),
        };
        let kept = match error.or(self.fault.map(str::to_owned)) {
            Some(error) => SavedOutput::Failed(written, error),
            None if written < total => SavedOutput::Beginning(written),
            None => SavedOutput::Whole,
        };
        (self.path, kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_files_of_a_session_share_their_room_to_the_last_byte() {
        let parent = tempfile::tempdir().unwrap();
        let outputs = Outputs::new(parent.path()).unwrap();
        outputs.room.store(10, Ordering::Relaxed);
        let mut first = outputs.open().unwrap();
        first.push(b"123456").await;
        let mut second = outputs.open().unwrap();
        second.push(b"abcdef").await;
        second.push(b"ghi").await;
        first.push(b"7").await;
        let (path, kept) = first.finish(7).await;
        assert_eq!((std::fs::read(path).unwrap(), kept), (b"123456".to_vec(), SavedOutput::Beginning(6)));
        let (path, kept) = second.finish(9).await;
        assert_eq!((std::fs::read(path).unwrap(), kept), (b"abcd".to_vec(), SavedOutput::Beginning(4)));
    }

    #[tokio::test]
    async fn an_output_of_exactly_the_room_that_is_left_is_kept_whole() {
        let parent = tempfile::tempdir().unwrap();
        let outputs = Outputs::new(parent.path()).unwrap();
        outputs.room.store(6, Ordering::Relaxed);
        let mut file = outputs.open().unwrap();
        file.push(b"123").await;
        file.push(b"456").await;
        assert_eq!(file.finish(6).await.1, SavedOutput::Whole);
        assert_eq!(outputs.room.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn an_output_has_a_cap_of_its_own() {
        let parent = tempfile::tempdir().unwrap();
        let outputs = Outputs::new(parent.path()).unwrap();
        let piece = vec![b'x'; 1024 * 1024];
        let mut file = outputs.open().unwrap();
        for _ in 0..limits::OUTPUT_FILE_BYTES / 1024 / 1024 {
            file.push(&piece).await;
        }
        file.push(b"more").await;
        let (path, kept) = file.finish(limits::OUTPUT_FILE_BYTES + 4).await;
        assert_eq!(kept, SavedOutput::Beginning(limits::OUTPUT_FILE_BYTES));
        assert_eq!(path.metadata().unwrap().len(), limits::OUTPUT_FILE_BYTES);
    }
}
