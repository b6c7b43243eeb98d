//! The file of sent texts: one JSON object per line, appended by every program that runs at the time.
//!
//! Called away from the screen. Always holds: a line is written at once and behind a whole one; a line that is torn or
//! foreign is passed over; a file that has grown too large is replaced as a whole.

use std::collections::HashSet;
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rustix::fs::{FlockOperation, OFlags, flock};
use serde::{Deserialize, Serialize};

use steersman_base::limits;
use steersman_base::regular_file::{self, Links};

/// Times that a file is opened which another program has replaced meanwhile.
const TRIES: usize = 20;
/// The name of the file in the user's state directory.
const NAME: &str = "history.jsonl";

/// One line of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub at: Timestamp,
    /// The working directory.
    pub cwd: String,
    pub text: String,
}

/// The file.
#[derive(Debug, Clone)]
pub struct HistoryFile(PathBuf);

impl HistoryFile {
    /// Names the file in this directory, which is made when something is written.
    pub fn within(state: &Path) -> Self {
        Self(state.join(NAME))
    }

    /// Appends a record, in one write.
    ///
    /// # Errors
    /// When the file cannot be made or written.
    pub fn append(&self, record: &Record) -> io::Result<()> {
        if record.text.len() > limits::HISTORY_TEXT_BYTES {
            return Ok(());
        }
        let mut line = serde_json::to_vec(record).map_err(io::Error::other)?;
        line.push(b'\n');
        if let Some(directory) = self.0.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        }
        let mut file = self.locked()?;
        // A program that was killed in the middle of a line must not spoil this one.
        if file.seek(SeekFrom::End(0))? > 0 {
            let mut last = [0];
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut last)?;
            if last != *b"\n" {
                line.insert(0, b'\n');
            }
        }
        file.write_all(&line)
    }

    /// Returns the texts of the file, the oldest first, each once; makes a file smaller that has grown too large.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    pub fn load(&self) -> io::Result<Vec<String>> {
        let file = match regular_file::open(&self.0, Links::Refused) {
            Ok((file, _)) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(self.named(&error)),
        };
        let size = file.metadata()?.len();
        let bytes = tail(file, limits::HISTORY_BYTES)?;
        if size > limits::HISTORY_BYTES {
            // What cannot be trimmed can still be read.
            let _ = self.trim();
        }
        let mut known = HashSet::new();
        let lines = bytes.split(|byte| *byte == b'\n').rev();
        let records = lines.filter_map(|line| serde_json::from_slice::<Record>(line).ok());
        let texts = records.map(|record| record.text).filter(|text| known.insert(text.clone()));
        let mut texts: Vec<String> = texts.take(limits::HISTORY_ENTRIES).collect();
        texts.reverse();
        Ok(texts)
    }

    fn named(&self, error: &io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("{}: {error}", self.0.display()))
    }

    /// Replaces the file by its newer half.
    fn trim(&self) -> io::Result<()> {
        let file = self.locked()?;
        if file.metadata()?.len() <= limits::HISTORY_BYTES {
            return Ok(());
        }
        let bytes = tail(file.try_clone()?, limits::HISTORY_BYTES / 2)?;
        let directory = self.0.parent().unwrap_or(Path::new("."));
        let mut smaller = tempfile::Builder::new().permissions(Permissions::from_mode(0o600)).tempfile_in(directory)?;
        smaller.write_all(&bytes)?;
        smaller.persist(&self.0).map_err(|error| error.error)?;
        Ok(())
    }

    /// Opens the file with nobody else writing: until it is the one that has the name.
    fn locked(&self) -> io::Result<File> {
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        for _ in 0..TRIES {
            let mut options = OpenOptions::new();
            options.read(true).append(true).create(true).mode(0o600).custom_flags(flags);
            // A link or a FIFO is refused with a sentence; what is put there afterwards fails to open.
            match regular_file::open(&self.0, Links::Refused) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(self.named(&error)),
                Ok(_) | Err(_) => {}
            }
            let file = options.open(&self.0)?;
            // A file system without locks still appends whole lines.
            let _ = flock(&file, FlockOperation::LockExclusive);
            let same = |named: std::fs::Metadata, open: std::fs::Metadata| named.ino() == open.ino();
            if std::fs::symlink_metadata(&self.0).is_ok_and(|named| file.metadata().is_ok_and(|open| same(named, open)))
            {
                return Ok(file);
            }
        }
        Err(io::Error::other("the file is replaced again and again"))
    }
}

/// Returns the end of a file from the beginning of a line.
fn tail(mut file: File, most: u64) -> io::Result<Vec<u8>> {
    let size = file.metadata()?.len();
    let from = size.saturating_sub(most);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    if from > 0 {
        let first = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
        bytes.drain(..first);
    }
    Ok(bytes)
}
