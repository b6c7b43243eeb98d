//! The limits of hooks.

use std::time::Duration;

/// How long a hook may take, unless its file says otherwise.
pub const HOOK_TIME: Duration = Duration::from_mins(1);
/// The longest time that its file can give it.
pub const HOOK_MOST_TIME: Duration = Duration::from_mins(10);
/// How long the end of a session waits for its hooks.
pub const HOOK_END_TIME: Duration = Duration::from_millis(1_500);
/// How long the agent waits for the user before hooks are told.
pub const HOOK_IDLE_TIME: Duration = Duration::from_mins(1);
/// Longest output of a hook, bytes; one that prints more is ended, and nothing comes of it.
pub const HOOK_OUTPUT_BYTES: usize = 256 * 1024;
/// Most of its error output that is read, bytes.
pub const HOOK_ERROR_BYTES: usize = 64 * 1024;
/// Longest text of a hook that reaches the model, characters.
pub const HOOK_TEXT_CHARS: usize = 10_000;
/// Columns of a command, and of the words of a hook, in one line.
pub const HOOK_LINE_COLUMNS: usize = 160;
/// Most hooks of one file.
pub const HOOKS_PER_FILE: usize = 100;
/// Largest file of hooks, bytes.
pub const HOOK_FILE_BYTES: u64 = 256 * 1024;
/// Largest script whose content is compared with what was trusted, bytes; a hook that names a larger one is left out.
pub const HOOK_SCRIPT_BYTES: u64 = 16 * 1024 * 1024;
/// Most scripts that one command may name: one with more is left out.
pub const HOOK_SCRIPTS: usize = 16;
/// Most entries of a directory that a copied script finds as links.
pub const BESIDE_SCRIPTS: usize = 10_000;
/// Most files of a directory that is compared whole with what was trusted.
pub const PINNED_FILES: usize = 1_000;
/// Most names in such a directory, directories and what is no file included.
pub const PINNED_NAMES: usize = 4 * PINNED_FILES;
/// Most bytes of such a directory.
pub const PINNED_BYTES: u64 = 32 * 1024 * 1024;
/// Most bytes of all that the servers of a project run, together.
pub const PINNED_BYTES_OF_SERVERS: u64 = 4 * PINNED_BYTES;
/// Times that answers can change the arguments of one call.
pub const ANSWER_CHANGES: u32 = 3;
/// Times in a row that hooks can keep a turn from ending.
pub const HOOK_CONTINUES: u32 = 8;
/// Hooks that run at the same time.
pub const HOOKS_AT_ONCE: usize = 8;
/// Hooks in the background that run, wait to run, or have ended and were not heard of; more are not run.
pub const WAITING_HOOKS: usize = 64;
