//! The limits of jobs and their guards: the part of the table in `mod.rs` that the spawner and the guard keep to.

use std::time::Duration;

/// The variable that marks every process of a job.
pub const JOB_MARK: &str = "COMMAND_MARK";
/// Jobs: processes of one at the same time.
pub const JOB_PROCESSES: usize = 1_024;
/// Jobs: threads of the user beyond those of its start, which the kernel limits for all but root.
pub const JOB_THREADS: usize = 4_096;
/// Jobs: files that one process may have open.
pub const JOB_OPEN_FILES: u64 = 8_192;
/// Jobs: largest file that may be written, bytes.
pub const JOB_FILE_BYTES: u64 = 16 * 1024 * 1024 * 1024;
/// Jobs: memory that all processes of one may have together, per cent of the machine's.
pub const JOB_MEMORY_PERCENT: u64 = 75;
/// Jobs: memory that the machine must have left while one runs that has taken some, per cent.
pub const MACHINE_MEMORY_PERCENT: u64 = 5;
/// Jobs: of so many looks one looks at the memory of each process, whatever the machine has left.
pub const JOB_MEMORY_LOOKS: u32 = 8;
/// Jobs: looks at the processes in a row that may fail before the job is ended.
pub const JOB_UNSEEN: u32 = 8;
/// Jobs: how much sooner than others they go when memory runs out (`oom_score_adj`).
pub const JOB_OOM_SCORE: &str = "500";
/// Jobs: how much a guard goes before its job, where it may.
pub const GUARD_NICENESS: i32 = -20;
/// Jobs: new threads on the machine from which on a job has to stand back.
pub const JOB_CROWD: usize = 256;
/// Jobs: how far it stands back then.
pub const CROWD_NICENESS: i32 = 19;
/// Jobs: time between two looks at the number of processes.
pub const JOB_WATCH: Duration = Duration::from_millis(250);
/// Jobs: time for what is left behind the first process to end by itself.
pub const LEFTOVER_GRACE: Duration = Duration::from_millis(200);
/// Jobs: time between asking to end and killing.
pub const TERM_GRACE: Duration = Duration::from_millis(300);
/// Jobs: time in which what is killed must be gone; only the kernel can hold it longer.
pub const KILL_GRACE: Duration = Duration::from_millis(700);
/// Jobs: time in which too many processes must be gone.
pub const CROWD_GRACE: Duration = Duration::from_secs(5);
/// Jobs: time that a guard has for a kill, before the host does it.
pub const GUARD_PATIENCE: Duration = Duration::from_millis(1_400);
/// Jobs: time that a guard has to be gone after its word.
pub const GUARD_EXIT_TIME: Duration = Duration::from_millis(100);
/// Jobs: longest word of a guard about the end, bytes.
pub const GUARD_WORD_BYTES: u64 = 64 * 1024;
/// Jobs: looks for what a lost guard left.
pub const CLEAR_ROUNDS: usize = 30;
/// Jobs: time in which the output must end once everything is dead.
pub const OUTPUT_GRACE: Duration = Duration::from_millis(200);
