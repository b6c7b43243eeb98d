//! Limits of `bash` commands: their time, their output, the look for the files that they changed, and those in the
//! background.

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
/// Age from which a temporary directory that no process uses any more is removed.
pub const ABANDONED_DIRECTORY_AGE: Duration = Duration::from_hours(24);
/// Age from which a file of an earlier version that nothing reads any more is removed.
pub const LEFT_FILE_AGE: Duration = Duration::from_hours(30 * 24);
/// Names that are tried for a temporary directory.
pub const DIRECTORY_NAMES: u32 = 16;
/// `bash`: output that is kept in all files of a session, bytes.
pub const OUTPUT_FILES_BYTES: u64 = 512 * 1024 * 1024;
/// `bash`: time for a write of output to disk, after which no more is kept.
pub const OUTPUT_DISK_TIME: Duration = Duration::from_millis(500);
/// `bash`: output that is shown live at once, bytes.
pub const LIVE_BURST_BYTES: usize = 64 * 1024;
/// `bash`: output that is shown live per second once that is used up, bytes.
pub const LIVE_BYTES_PER_SECOND: u32 = 8 * 1024;
/// List of commands: the newest that are known.
pub const LISTED_COMMANDS: usize = 2_000;
/// List of commands: the end of the output of one, bytes.
pub const LISTED_OUTPUT_BYTES: usize = 8 * 1024;
/// Background jobs: those of one session that run at the same time, the user's shell lines included.
pub const BACKGROUND_JOBS: usize = 16;
/// Background jobs: those that have ended and are still known, each with its newest output.
pub const BACKGROUND_ENDED: usize = 64;
/// Background jobs: longest time of one.
pub const BACKGROUND_MOST_TIME: Duration = Duration::from_hours(24);
/// Background jobs: newest output of one that is kept in memory, bytes.
pub const BACKGROUND_KEPT_BYTES: usize = 256 * 1024;
/// Background jobs: last lines of one that its agent is told at its end.
pub const BACKGROUND_LAST_LINES: usize = 10;
/// Background jobs: bytes of those lines.
pub const BACKGROUND_LAST_BYTES: usize = 2 * 1024;
/// `job_output`: usual time of a wait for a line.
pub const BACKGROUND_WAIT: Duration = Duration::from_secs(30);
/// `job_output`: longest time of a wait for a line.
pub const BACKGROUND_MOST_WAIT: Duration = Duration::from_mins(10);
/// `job_output`: longest text or expression that is waited for, bytes.
pub const BACKGROUND_PATTERN_BYTES: usize = 1024;
/// `job_output`: largest compiled expression, bytes.
pub const BACKGROUND_REGEX_BYTES: usize = 1024 * 1024;
/// `job_input`: text that is written at once, bytes.
pub const BACKGROUND_INPUT_BYTES: usize = 64 * 1024;
/// `job_input`: time in which a job must take it.
pub const BACKGROUND_INPUT_TIME: Duration = Duration::from_secs(5);
/// Background jobs: time in which all of a session must have ended when it does.
pub const BACKGROUND_END_TIME: Duration = Duration::from_secs(3);
/// Files of settings of git that are read, bytes of each.
pub const GIT_SETTINGS_BYTES: u64 = 1024 * 1024;
/// Files of settings of git that include each other.
pub const GIT_INCLUDES: usize = 10;
/// Names among which repositories within a directory that commands write are looked for.
pub const NESTED_NAMES: usize = 200_000;
/// Such repositories of one directory.
pub const NESTED_REPOSITORIES: usize = 256;
/// Longest time of one look for them.
pub const NESTED_TIME: Duration = Duration::from_secs(1);
/// Times its own length for which what a look found holds.
pub const NESTED_REST: u32 = 20;
/// Longest time for which it holds.
pub const NESTED_REST_MOST: Duration = Duration::from_secs(10);
/// Directories whose last look is known.
pub const NESTED_LOOKS: usize = 64;
/// Names in one directory of settings of a home, among which links are looked for.
pub const HOME_LINKS: usize = 2_000;
/// A file that is copied before a command writes in it, since it has other names, or an index of git, bytes.
pub const COPIED_FILE_BYTES: u64 = 1024 * 1024 * 1024;
