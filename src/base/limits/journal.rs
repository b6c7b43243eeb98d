//! Limits of the journals of sessions.

use std::time::Duration;

/// Days after which a session that nobody went on with is removed, unless set.
pub const SESSION_DAYS: u32 = 90;
/// Longest time that a text, or a call with effects, waits for its record to be safe on the disk.
pub const JOURNAL_PATIENCE: Duration = Duration::from_secs(2);
/// Time between two tries to save a session that cannot be saved.
pub const JOURNAL_RETRY: Duration = Duration::from_secs(1);
/// A journal is synced when so much of it is not safe yet, bytes.
pub const JOURNAL_UNSYNCED: usize = 1 << 20;
/// Most of a session that is kept in memory while it cannot be saved, bytes.
pub const JOURNAL_BACKLOG: usize = 64 << 20;
/// The longest line that is read; a longer one is damage. Bytes.
pub const JOURNAL_LINE: u64 = 64 << 20;
/// The largest file that is read, bytes: far more than a session of a million events.
pub const JOURNAL_FILE: u64 = 8 << 30;
/// So much of the file that says in which order sessions were used is read, bytes.
pub const SESSION_USES: u64 = 4 << 20;
/// So much of the index of the sessions is read and written, bytes.
pub const SESSION_INDEX: u64 = 256 << 20;
/// So much of the journals of other sessions is read at most when a session begins, bytes.
pub const START_READING: u64 = 32 << 20;
/// The end of a journal by which a start tells what is unfinished in it, where it may not read all of it. Bytes.
pub const UNFINISHED_TAIL: u64 = 4 << 20;
/// Events of a session that goes on which are read at once.
pub const RESUME_EVENTS: usize = 1_024;
/// The end of a journal that is shown while the rest is being read, bytes.
pub const JOURNAL_TAIL: u64 = 256 << 10;
/// Imports: what the files of one session of another program may hold together, bytes; they are read into memory.
pub const IMPORT_BYTES: u64 = 1 << 30;
/// Imports of compressed files: the largest window that a decoder is given, bytes; the usual levels take a quarter of it.
pub const UNPACKING_WINDOW: u64 = 8 << 20;
/// Imports of compressed files: what a file may always unpack to, bytes.
pub const UNPACKED_BYTES: u64 = 64 << 20;
/// Imports of compressed files: how many times its own size a larger one may unpack to.
pub const UNPACKED_TIMES: u64 = 100;
