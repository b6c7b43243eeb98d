//! Limits of `bash` commands: their time, their output, and the look for the files that they changed.

use std::time::Duration;

/// `bash`: default time of a command.
pub const COMMAND_TIME: Duration = Duration::from_mins(2);
/// `bash`: longest time of a command.
pub const COMMAND_MOST_TIME: Duration = Duration::from_mins(10);
/// `bash`: directory entries visited to find the files that a command changed.
pub const TOUCHED_ENTRIES: usize = 50_000;
/// `bash`: time of that.
pub const TOUCHED_TIME: Duration = Duration::from_millis(500);
/// `bash`: files that are listed as changed by one command.
pub const TOUCHED_FILES: usize = 1_000;
/// `bash`: longest command, bytes; what the kernel takes as one argument, less what a sandbox may add.
pub const COMMAND_LENGTH: usize = 96 * 1024;
/// `bash`: output that the model gets, bytes; of longer output the beginning and the end.
pub const COMMAND_BYTES: usize = 30 * 1024;
/// `bash`: output that is kept in the file of one command, bytes.
pub const OUTPUT_FILE_BYTES: u64 = 64 * 1024 * 1024;
/// `bash`: output that is kept in all files of a session, bytes.
pub const OUTPUT_FILES_BYTES: u64 = 512 * 1024 * 1024;
/// `bash`: time for a write of output to disk, after which no more is kept.
pub const OUTPUT_DISK_TIME: Duration = Duration::from_millis(500);
/// `bash`: output that is shown live at once, bytes.
pub const LIVE_BURST_BYTES: usize = 64 * 1024;
/// `bash`: output that is shown live per second once that is used up, bytes.
pub const LIVE_BYTES_PER_SECOND: u32 = 8 * 1024;
