//! The directory of the journals: names, rights, and one writer per file.
//!
//! The directory is 0700 and each file 0600; a link in the place of one is never followed. Who writes holds a lock on
//! the file, which ends with the program however that ends.

use std::cmp::Reverse;
use std::fmt;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read, Write as _};
use std::mem;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::thread;
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::journal::reader::{Reading, Records, highest_text};
use crate::journal::record::{Header, Record};
use crate::journal::use_log::UseLog;
use crate::journal::writer::{Opening, Store};
use steersman_base::fault;
use steersman_base::limits;
use steersman_base::regular_file::{self, Links};

/// The part of a file that holds its first record, bytes.
const HEAD: u64 = 64 << 10;

/// How often a writer tries to lock a file that others only look at, and how long it waits between two times.
const PROBES: usize = 1_000;
const PROBE: Duration = Duration::from_millis(1);

/// The name of a session: a UUID of version 7, so that names sort by time.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(String);

impl SessionId {
    /// Makes a new name.
    ///
    /// # Errors
    /// When the system has no random bytes.
    pub fn new(now: Timestamp) -> io::Result<Self> {
        let mut bytes = [0_u8; 16];
        getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Self::from_parts(now, u128::from_be_bytes(bytes)))
    }

    /// Makes the name of a session that another program wrote: always the same one for the same session.
    pub fn derived(started: Timestamp, seed: &str) -> Self {
        let digest = Sha256::digest(seed.as_bytes());
        let random = digest.iter().take(16).fold(0, |number: u128, byte| number << 8 | u128::from(*byte));
        Self::from_parts(started, random)
    }

    fn from_parts(at: Timestamp, random: u128) -> Self {
        let random = random & (0xFFF << 64 | u128::from(u64::MAX >> 2));
        let millis = u128::try_from(at.as_millisecond()).unwrap_or_default() & 0xFFFF_FFFF_FFFF;
        let number = millis << 80 | 0x7 << 76 | 0b10 << 62 | random;
        let hex = format!("{number:032x}");
        let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
        Self(format!("{}-{}-{}-{}-{}", part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)))
    }

    /// Returns the name as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SessionId {
    type Err = &'static str;

    /// Reads a UUID of any version, in lower case as names are.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.to_ascii_lowercase();
        let has_form = |(at, c): (usize, char)| match at {
            8 | 13 | 18 | 23 => c == '-',
            _ => c.is_ascii_hexdigit(),
        };
        let is_uuid = text.len() == 36 && text.chars().enumerate().all(has_form);
        if is_uuid { Ok(Self(text)) } else { Err("it must be a UUID, such as 0198c9a2-6e1b-7abc-8def-0123456789ab") }
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The directory of the journals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFiles(PathBuf);

/// One journal in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFile {
    /// The session's name.
    pub session: SessionId,
    /// Where it lies.
    pub path: PathBuf,
}

/// A journal that this program alone writes, until the value is dropped.
#[derive(Debug)]
pub struct OpenFile {
    file: File,
    path: PathBuf,
    uses: UseLog,
    /// Whose use it is that something is written; `None` of a session that another program had.
    session: Option<SessionId>,
    is_used: bool,
}

impl SessionFiles {
    /// Names the directory within the user's state directory; it is made when something is written.
    pub fn within(state: &Path) -> Self {
        Self(state.join("sessions"))
    }

    pub(super) fn directory(&self) -> &Path {
        &self.0
    }

    /// Returns how the file of a new session is made, once there is something to write.
    pub fn creating(&self, header: &Header, zone: &TimeZone) -> Opening {
        let session = header.imported.is_none().then(|| header.session.clone());
        self.creating_at(self.path_of(header, zone), session)
    }

    /// Returns where the file of a session lies.
    pub fn path_of(&self, header: &Header, zone: &TimeZone) -> PathBuf {
        let date = header.started.to_zoned(zone.clone()).strftime("%Y-%m-%dT%H-%M-%S");
        self.0.join(format!("{date}-{}.jsonl", header.session))
    }

    /// As [`SessionFiles::creating`], in this file; what is written there is a use of this session.
    pub(super) fn creating_at(&self, path: PathBuf, session: Option<SessionId>) -> Opening {
        let directory = self.0.clone();
        Box::new(move || {
            DirBuilder::new().recursive(true).mode(0o700).create(&directory)?;
            fs::set_permissions(&directory, Permissions::from_mode(0o700))?;
            // There already when this program made it and lost it to a failure.
            let file = locked(OpenOptions::new().append(true).create(true), &path)?;
            File::open(&directory)?.sync_all()?;
            Ok(Box::new(OpenFile { session: session.clone(), ..file }))
        })
    }

    /// Returns the journals, the one that was used last first. The order is that of the uses, whatever the clock said; of
    /// those that earlier versions wrote, that of their beginnings.
    ///
    /// # Errors
    /// What the directory says; one that is not there holds none.
    pub fn list(&self) -> io::Result<Vec<SessionFile>> {
        let entries = match fs::read_dir(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut files: Vec<SessionFile> =
            entries.flatten().filter_map(|entry| SessionFile::from_path(&entry.path())).collect();
        let uses = UseLog::in_directory(&self.0).load();
        files.sort_by_cached_key(|file| Reverse((uses.place(&file.session), file.session.clone())));
        Ok(files)
    }

    /// Returns the journal of the session whose name is this or begins so.
    ///
    /// # Errors
    /// One sentence, when there is none or more than one.
    pub fn find(&self, name: &str) -> Result<SessionFile, String> {
        let mut files = self.list().map_err(|error| format!("cannot list the sessions: {error}"))?;
        files.retain(|file| !name.is_empty() && file.session.as_str().starts_with(name));
        match files.len() {
            0 => Err(format!("there is no session {name:?}; `steersman sessions` lists them")),
            1 => files.pop().ok_or_else(String::new),
            more => Err(format!("{name:?} is the beginning of {more} sessions; write more of it")),
        }
    }

    /// Removes the journals that nobody has written for so many days, but none that is being written; returns how many.
    ///
    /// # Errors
    /// What the directory says. A file that cannot be removed stays.
    pub fn prune(&self, days: u32) -> io::Result<usize> {
        let age = of_days(days);
        Ok(self.list()?.iter().filter(|file| file.is_older_than(age)).filter(|file| file.remove().is_ok()).count())
    }

    /// Removes the journals that nobody has used for so many days, by the times of their files and by the time that was seen
    /// to pass here, so that a clock which was set ahead removes none; returns their names.
    ///
    /// # Errors
    /// As [`SessionFiles::prune`].
    pub fn prune_unused(&self, days: u32) -> io::Result<Vec<SessionId>> {
        let age = of_days(days);
        let files = self.list()?;
        let log = UseLog::in_directory(&self.0);
        let uses = log.load();
        let is_old = |file: &&SessionFile| file.is_older_than(age) && uses.unused_for(&file.session) >= age;
        let (gone, left): (Vec<_>, Vec<_>) = files.iter().partition(|file| is_old(file) && file.remove().is_ok());
        let names = |files: Vec<&SessionFile>| files.into_iter().map(|file| file.session.clone()).collect::<Vec<_>>();
        if let Err(error) = log.tidy(&names(left.into_iter().rev().collect())) {
            tracing::debug!(%error, "the order of the sessions cannot be written");
        }
        Ok(names(gone))
    }

    /// Removes journals until those that stay are not larger than this together, the one that nobody has used the longest
    /// first, but none that is being written; returns how many.
    ///
    /// # Errors
    /// What the directory says. A file that cannot be removed stays.
    pub fn prune_above(&self, bytes: u64) -> io::Result<usize> {
        let known = |file: SessionFile| {
            let metadata = fs::symlink_metadata(&file.path).ok()?;
            // What it takes of the disk: one with holes in it would drive out all others.
            let size = metadata.len().min(metadata.blocks().saturating_mul(512));
            Some((size, file))
        };
        let files: Vec<_> = self.list()?.into_iter().rev().filter_map(known).collect();
        let mut left: u64 = files.iter().map(|(size, _)| *size).fold(0, u64::saturating_add);
        let mut removed = 0;
        for (size, file) in files {
            if left <= bytes {
                break;
            }
            if file.remove().is_ok() {
                left = left.saturating_sub(size);
                removed += 1;
            }
        }
        Ok(removed)
    }
}

impl SessionFile {
    /// Takes a path whose name is a journal's: the local date, and the session's name.
    fn from_path(path: &Path) -> Option<Self> {
        let stem = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
        let session = stem.get("2026-01-31T00-00-00-".len()..)?;
        let is_name = session.len() == 36 && session.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        is_name.then(|| Self { session: SessionId(session.to_owned()), path: path.to_owned() })
    }

    /// Reads what it holds; another program may be writing it.
    ///
    /// # Errors
    /// When it is no file that can be read, or larger than [`limits::JOURNAL_FILE`].
    pub fn read(&self) -> io::Result<Reading> {
        self.records()?.reading()
    }

    /// Returns its records, as far as they are written now.
    ///
    /// # Errors
    /// As [`SessionFile::read`].
    pub fn records(&self) -> io::Result<Records<File>> {
        let (file, metadata) = self.opened()?;
        Records::within(file, 0..metadata.len())
    }

    /// Returns the last of its records, so many bytes of them.
    ///
    /// # Errors
    /// As [`SessionFile::read`].
    pub fn tail(&self, bytes: u64) -> io::Result<Records<File>> {
        let (file, metadata) = self.opened()?;
        Records::within(file, metadata.len().saturating_sub(bytes)..metadata.len())
    }

    /// Returns the highest number of a text that it names, so that the next one is numbered on; 0 without any.
    ///
    /// # Errors
    /// As [`SessionFile::read`].
    pub fn highest_text(&self) -> io::Result<u64> {
        let (file, metadata) = self.opened()?;
        highest_text(file.take(metadata.len()))
    }

    /// Returns how many bytes it has.
    ///
    /// # Errors
    /// As [`SessionFile::read`].
    pub fn size(&self) -> io::Result<u64> {
        self.opened().map(|(_, metadata)| metadata.len())
    }

    pub(super) fn opened(&self) -> io::Result<(File, Metadata)> {
        let (file, metadata) = regular_file::open(&self.path, Links::Refused)?;
        if metadata.len() > limits::JOURNAL_FILE {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than any journal"));
        }
        Ok((file, metadata))
    }

    /// Reads what the session is; `None` when that record is damaged, or not near the beginning of the file.
    pub fn header(&self) -> Option<Header> {
        let (file, metadata) = regular_file::open(&self.path, Links::Refused).ok()?;
        let mut records = Records::within(file, 0..metadata.len().min(HEAD)).ok()?.map_while(Result::ok);
        records.find_map(Record::into_header)
    }

    /// Tells whether its file was not written for so long.
    fn is_older_than(&self, age: Duration) -> bool {
        let written = fs::symlink_metadata(&self.path).and_then(|metadata| metadata.modified());
        written.is_ok_and(|written| written.elapsed().is_ok_and(|elapsed| elapsed >= age))
    }

    /// Returns the sentence that another program writes it, and which.
    pub fn written_elsewhere(&self) -> String {
        let writer = self.records().ok().and_then(|records| {
            let runs = records.map_while(Result::ok).filter_map(|record| record.writer());
            runs.last()
        });
        let process = writer.map(|pid| format!(" (process {pid})")).unwrap_or_default();
        format!("session {} runs in another program{process}", self.session)
    }

    /// Opens it to go on with it.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] while another program writes it, and what the system says.
    pub fn open(&self) -> io::Result<OpenFile> {
        let file = locked(OpenOptions::new().append(true), &self.path)?;
        Ok(OpenFile { session: Some(self.session.clone()), ..file })
    }

    /// Tells whether a program writes it now.
    ///
    /// Two that ask at once do not take each other for a writer.
    pub fn is_written(&self) -> bool {
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        let file = OpenOptions::new().read(true).custom_flags(flags).open(&self.path);
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// Removes it.
    ///
    /// # Errors
    /// As [`SessionFile::open`].
    pub fn remove(&self) -> io::Result<()> {
        let _lock = self.open()?;
        fs::remove_file(&self.path)
    }
}

impl Reading {
    /// Returns what the session is; `None` when that record is damaged.
    pub fn header(&self) -> Option<&Header> {
        self.records.iter().find_map(|record| if let Record::Session(header) = record { Some(header) } else { None })
    }
}

fn of_days(days: u32) -> Duration {
    Duration::from_secs(u64::from(days) * 24 * 60 * 60)
}

/// Opens a file as the only one who writes it.
fn locked(options: &mut OpenOptions, path: &Path) -> io::Result<OpenFile> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = options.mode(0o600).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let open = |file| {
        let uses = UseLog::in_directory(path.parent().unwrap_or(Path::new(".")));
        Ok(OpenFile { file, path: path.to_owned(), uses, session: None, is_used: false })
    };
    match lock_to_write(&file) {
        Ok(()) => open(file),
        Err(TryLockError::WouldBlock) => Err(io::Error::new(io::ErrorKind::WouldBlock, "another program writes it")),
        // A file system without locks: it can still be written.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => open(file),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Takes the lock of a writer. Who only asks whether there is one holds it for a moment, and is waited for.
fn lock_to_write(file: &File) -> Result<(), TryLockError> {
    for _ in 0..PROBES {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {}
            locked => return locked,
        }
        // Beside a writer not even this lock is there.
        file.try_lock_shared()?;
        file.unlock().map_err(TryLockError::Error)?;
        thread::sleep(PROBE);
    }
    file.try_lock()
}

impl OpenFile {
    /// Returns how a journal goes on in this file.
    pub fn opening(self) -> Opening {
        let mut file = Some(self);
        Box::new(move || match file.take() {
            Some(file) => Ok(Box::new(file)),
            None => Err(io::Error::other("it was given up")),
        })
    }

    /// Says that the session is used now.
    fn mark_use(&mut self) {
        if let Some(session) = &self.session
            && let Err(error) = self.uses.mark(session)
        {
            tracing::debug!(%error, %session, "the use of the session cannot be written");
        }
    }
}

impl Store for OpenFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        fault::step();
        if cfg!(debug_assertions) {
            // As a program leaves it that is killed within a write.
            let (first, rest) = bytes.split_at(bytes.len() / 2);
            self.file.write_all(first)?;
            fault::step();
            self.file.write_all(rest)?;
        } else {
            self.file.write_all(bytes)?;
        }
        fault::step();
        if !mem::replace(&mut self.is_used, true) {
            self.mark_use();
        }
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.mark_use();
        self.file.sync_data()?;
        fault::step();
        Ok(())
    }

    fn discard(&mut self) -> io::Result<()> {
        fs::remove_file(&self.path)
    }
}
