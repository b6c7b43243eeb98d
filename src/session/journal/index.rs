//! The index of the sessions: what the records of each journal say for lists, so that a list need not read them again.
//!
//! One file beside the directory of the journals, one line for each. It can be made again at any time: it is written whole
//! and put in its place at once; where it is missing, damaged or of another version, it is made anew, and a line that
//! does not fit its journal is. Of a journal that only grew, what is new is read. Two programs that write it leave the one or
//! the other. Always holds: nothing is decided by it that the journals do not say.

use std::collections::HashMap;
use std::fs::{self, File, Metadata, Permissions};
use std::hash::{DefaultHasher, Hasher as _};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use memchr::memrchr;
use serde::{Deserialize, Serialize};
use tempfile::Builder;

use crate::journal::files::{SessionFile, SessionFiles};
use crate::journal::lines::ReadAt;
use crate::journal::outline::{Digest, Outline};
use crate::journal::reader::Records;
use steersman_base::limits;
use steersman_base::regular_file::{self, Links};

/// The first line of the file: what it holds, and in which form.
const FIRST_LINE: &str = concat!("{\"session_index\":1,\"program\":\"", env!("CARGO_PKG_VERSION"), "\"}");
/// Bytes before the end of what was read by which a journal is known again.
const KNOWN_BY: u64 = 4 << 10;
/// The longest line that is written, bytes: the journal of a longer one is read again.
const LONGEST_LINE: usize = 256 << 10;
/// Bytes that are read at once on the way back to the beginning of a line.
const BLOCK: u64 = 64 << 10;

/// What is known of the sessions in a directory.
#[derive(Debug)]
pub struct SessionIndex {
    path: PathBuf,
    entries: HashMap<String, Entry>,
    is_changed: bool,
    /// Bytes of journals that may still be read.
    left: u64,
}

/// A line of the index.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Entry {
    /// The name of the journal's file.
    name: String,
    stamp: Stamp,
    /// How far it was read, to the end of a line, and the hash of what stands before that.
    read: u64,
    hash: u64,
    digest: Digest,
}

/// What a file is known by without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
}

impl Stamp {
    fn new(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }
}

/// What is known of one session.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexedSession {
    /// What its records say.
    pub digest: Digest,
    /// False where more of the journal would have to be read than may be.
    pub is_whole: bool,
}

impl SessionFiles {
    /// Returns what lists say of the journals, in the order of [`SessionFiles::list`].
    ///
    /// # Errors
    /// What the directory says. A journal that cannot be read is among them.
    pub fn outlines(&self) -> io::Result<Vec<(SessionFile, io::Result<Outline>)>> {
        let files = self.list()?;
        let mut index = SessionIndex::load(self);
        let outlines = files.into_iter().map(|file| {
            let outline = index.get(&file).map(|known| known.digest.outline(&file));
            (file, outline)
        });
        let outlines = outlines.collect();
        index.save();
        Ok(outlines)
    }
}

impl SessionIndex {
    /// Reads the index of a directory; what is not known is read from the journals when it is asked for.
    pub fn load(files: &SessionFiles) -> Self {
        let path = files.directory().with_extension("index");
        let entries = read_entries(&path).unwrap_or_default();
        Self { path, entries, is_changed: false, left: u64::MAX }
    }

    /// Lets no more than so many bytes of journals be read from here on.
    #[must_use]
    pub fn reading_at_most(self, bytes: u64) -> Self {
        Self { left: bytes, ..self }
    }

    /// Returns what a session's journal says, as far as it is written now.
    ///
    /// # Errors
    /// As [`SessionFile::read`].
    pub fn get(&mut self, file: &SessionFile) -> io::Result<IndexedSession> {
        let (open, metadata) = file.opened()?;
        let stamp = Stamp::new(&metadata);
        let name = file.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let known = self.entries.remove(&name).filter(|entry| entry.still_fits(&stamp, &open));
        let mut entry = known.unwrap_or_else(|| Entry::empty(name.clone(), stamp));
        let is_read = entry.stamp == stamp && entry.read == stamp.size;
        let whole = if is_read { stamp.size } else { line_end(&open, stamp.size)? };
        let is_new = entry.stamp != stamp || entry.read < whole;
        if is_new {
            let most = entry.read.saturating_add(self.left);
            let to = if whole <= most { whole } else { line_end(&open, most)? };
            if to > entry.read {
                self.left = self.left.saturating_sub(to - entry.read);
                entry.digest.extend(Records::of_lines(open.try_clone()?, entry.read..to))?;
                (entry.read, entry.hash) = (to, hash_before(&open, to)?);
            }
            entry.stamp = stamp;
            self.is_changed = true;
        }
        let mut known = IndexedSession { digest: entry.digest.clone(), is_whole: entry.read == whole };
        if known.is_whole && stamp.size > whole {
            // The end of it is being written, or was cut off.
            known.digest.extend(Records::of_lines(open, whole..stamp.size))?;
        }
        self.entries.insert(name, entry);
        Ok(known)
    }

    /// Returns the directory that a session worked in, without reading more than the beginning of its journal.
    pub fn directory(&self, file: &SessionFile) -> Option<String> {
        let name = file.path.file_name().unwrap_or_default().to_string_lossy();
        let known = self.entries.get(&*name).filter(|entry| !entry.digest.directory.is_empty());
        let fits = |entry: &&Entry| {
            let metadata = fs::symlink_metadata(&file.path);
            metadata.is_ok_and(|metadata| Stamp::new(&metadata).place() == entry.stamp.place())
        };
        match known.filter(fits) {
            Some(entry) => Some(entry.digest.directory.clone()),
            None => file.header().map(|header| header.directory),
        }
    }

    /// Keeps what is known now. What another program found out meanwhile stays where it read further.
    pub fn save(mut self) {
        let directory = self.path.with_extension("");
        let is_there = |name: &String| fs::symlink_metadata(directory.join(name)).is_ok();
        let before = self.entries.len();
        self.entries.retain(|name, _| is_there(name));
        if !self.is_changed && self.entries.len() == before {
            return;
        }
        for (name, other) in read_entries(&self.path).unwrap_or_default() {
            let is_further = self
                .entries
                .get(&name)
                .is_none_or(|own| own.stamp.place() == other.stamp.place() && own.read < other.read);
            if is_further && is_there(&name) {
                self.entries.insert(name, other);
            }
        }
        if let Err(error) = write(&self.path, &self.entries) {
            // It is made again next time.
            tracing::debug!(%error, "the index of the sessions cannot be written");
        }
    }
}

impl Stamp {
    /// Returns what tells one file from another, whatever is in it.
    fn place(self) -> Self {
        Self { size: 0, modified: (0, 0), ..self }
    }
}

impl Entry {
    fn empty(name: String, stamp: Stamp) -> Self {
        Self { name, stamp, read: 0, hash: 0, digest: Digest::default() }
    }

    /// Tells whether the journal is the one that was read, as it was then or with more behind that.
    fn still_fits(&self, stamp: &Stamp, file: &File) -> bool {
        let is_same = self.stamp == *stamp;
        let has_grown = self.stamp.place() == stamp.place() && self.stamp.size < stamp.size;
        let is_known = || hash_before(file, self.read).is_ok_and(|hash| hash == self.hash);
        self.read <= stamp.size && (is_same || has_grown && is_known())
    }
}

/// Returns where the last whole line before a place ends; the place itself where lines are longer than any that is read.
fn line_end(file: &File, before: u64) -> io::Result<u64> {
    let mut buffer = Vec::new();
    let mut to = before;
    while to > 0 && before - to <= limits::JOURNAL_LINE {
        let from = to.saturating_sub(BLOCK);
        buffer.resize(usize::try_from(to - from).unwrap_or_default(), 0);
        let read = file.read_at(&mut buffer, from)?;
        if let Some(end) = memrchr(b'\n', buffer.get(..read).unwrap_or_default()) {
            return Ok(from + end as u64 + 1);
        }
        to = from;
    }
    Ok(if to == 0 { 0 } else { before })
}

/// Returns the hash of what stands before a place.
fn hash_before(file: &File, place: u64) -> io::Result<u64> {
    let from = place.saturating_sub(KNOWN_BY);
    let mut bytes = vec![0; usize::try_from(place - from).unwrap_or_default()];
    let read = file.read_at(&mut bytes, from)?;
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes.get(..read).unwrap_or_default());
    Ok(hasher.finish())
}

/// Reads the index; lines that are damaged are left out.
fn read_entries(path: &Path) -> io::Result<HashMap<String, Entry>> {
    let (file, _) = regular_file::open(path, Links::Refused)?;
    let mut bytes = Vec::new();
    file.take(limits::SESSION_INDEX).read_to_end(&mut bytes)?;
    let mut lines = bytes.split(|byte| *byte == b'\n');
    if lines.next() != Some(FIRST_LINE.as_bytes()) {
        return Ok(HashMap::new());
    }
    let entries = lines.filter_map(|line| serde_json::from_slice::<Entry>(line).ok());
    Ok(entries.map(|entry| (entry.name.clone(), entry)).collect())
}

/// Puts an index in the place of the one that is there.
fn write(path: &Path, entries: &HashMap<String, Entry>) -> io::Result<()> {
    let mut bytes = format!("{FIRST_LINE}\n").into_bytes();
    for entry in entries.values() {
        let line = serde_json::to_vec(entry)?;
        if line.len() <= LONGEST_LINE && (bytes.len() + line.len()) as u64 <= limits::SESSION_INDEX {
            bytes.extend_from_slice(&line);
            bytes.push(b'\n');
        }
    }
    let directory = path.parent().unwrap_or(Path::new("."));
    let mut file =
        Builder::new().prefix(".sessions-").permissions(Permissions::from_mode(0o600)).tempfile_in(directory)?;
    file.write_all(&bytes)?;
    file.persist(path)?;
    Ok(())
}
