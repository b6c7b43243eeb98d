//! Where the whole output of a command goes when the model gets only a part: files of the session, for its tools to read.
//!
//! The directory is the user's alone and goes away with the session. A slow or full disk is said; it never holds a
//! command up for long, and never breaks it.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::limits;

/// Pieces that wait for the disk.
const WAITING: usize = 16;

/// Is the directory of one session.
#[derive(Debug)]
pub struct Outputs {
    /// Takes the directory away.
    _directory: TempDir,
    path: PathBuf,
    files: AtomicU64,
    /// Bytes that the files of the session may still take.
    room: Arc<AtomicU64>,
}

/// Says how much of an output is in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
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
        let own = Permissions::from_mode(0o700);
        let directory = tempfile::Builder::new().prefix("steersman-output-").permissions(own).tempdir_in(parent)?;
        let path = directory.path().canonicalize()?;
        let room = Arc::new(AtomicU64::new(limits::OUTPUT_FILES_BYTES));
        Ok(Self { _directory: directory, path, files: AtomicU64::new(0), room })
    }

    /// Returns the directory; tools that read are to reach it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the next file.
    pub(super) fn open(&self) -> io::Result<OutputFile> {
        let number = self.files.fetch_add(1, Ordering::Relaxed) + 1;
        let path = self.path.join(format!("command-{number}.txt"));
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        let (pieces, waiting) = mpsc::channel(WAITING);
        let writer = tokio::task::spawn_blocking(move || write(file, waiting));
        let room = Arc::clone(&self.room);
        Ok(OutputFile { path, pieces: Some(pieces), writer, room, sent: 0, fault: None })
    }
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

/// Is a file that takes an output.
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
    pub(super) async fn finish(mut self, total: u64) -> (PathBuf, Kept) {
        self.pieces = None;
        let (written, error) = match timeout(limits::OUTPUT_DISK_TIME, self.writer).await {
            Ok(Ok(done)) => done,
            Ok(Err(_)) | Err(_) => (0, Some("the disk is too slow".to_owned())),
        };
        let kept = match error.or(self.fault.map(str::to_owned)) {
            Some(error) => Kept::Failed(written, error),
            None if written < total => Kept::Beginning(written),
            None => Kept::Whole,
        };
        (self.path, kept)
    }
}
