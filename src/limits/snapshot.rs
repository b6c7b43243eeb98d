//! Limits of the snapshot of protected files; a part of the one table of limits.

use std::time::Duration;

/// Protected files: bytes that are kept of all of them.
pub const SNAPSHOT_BYTES: u64 = 32 * 1024 * 1024;
/// Protected files: bytes that are kept of one; a larger one is only compared by size, inode and time of change.
pub const SNAPSHOT_FILE_BYTES: u64 = 1024 * 1024;
/// Protected files: files and directories that are kept.
pub const SNAPSHOT_ENTRIES: usize = 20_000;
/// Protected files: directory entries that are looked through for repositories.
pub const SNAPSHOT_WALK_ENTRIES: usize = 100_000;
/// Protected files: time in which they are looked for.
pub const SNAPSHOT_TIME: Duration = Duration::from_secs(20);
/// Protected files: files of settings that include each other.
pub const SNAPSHOT_INCLUDES: usize = 10;
/// Protected files: how often one end of a command compares and asks, when they go on changing.
pub const SNAPSHOT_ROUNDS: usize = 4;
/// Protected files: bytes of a question about changes of them.
pub const SNAPSHOT_QUESTION_BYTES: usize = 64 * 1024;
/// Protected files: longest file in the state directory that is read, bytes.
pub const SNAPSHOT_JOURNAL_BYTES: u64 = 64 * 1024 * 1024;
/// Protected files: the variable by which a command is found whose program is gone.
pub const SNAPSHOT_MARK: &str = "COMMAND_RECORD";
/// Protected files: looks, 10 ms apart, for a lock that a dead owner left to a process.
pub const SNAPSHOT_LOCK_LOOKS: usize = 200;
/// Protected files: looks, 10 ms apart, for the locks of git's settings that one restoring waits for altogether.
pub const SNAPSHOT_SETTINGS_LOOKS: usize = 50;
/// Protected files: directories of changed versions that are kept whatever their age.
pub const SNAPSHOT_CHANGED: usize = 100;
/// Protected files: age from which the others are removed.
pub const SNAPSHOT_CHANGED_AGE: Duration = Duration::from_hours(30 * 24);
