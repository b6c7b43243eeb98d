//! Limits of what is read and written as lines: `exec`, plain output and the line output.

use std::time::Duration;

use super::MESSAGE_BYTES;

/// Longest summary of a call, a result or a thought on a line of plain output, columns.
pub const SUMMARY_COLUMNS: usize = 100;
/// Longest reason or sentence of the program on a line of plain output, columns.
pub const REASON_COLUMNS: usize = 600;
/// `exec --json`: longest event, bytes, the answer itself left out; of a longer one the longest texts are cut.
pub const EVENT_BYTES: usize = 1024 * 1024;
/// `exec`: time in which something is to come from a pipe beside a prompt.
pub const FIRST_INPUT: Duration = Duration::from_secs(3);
/// `exec --permission-command`: time for one answer.
pub const PERMISSION_COMMAND_TIME: Duration = Duration::from_mins(1);
/// `exec --permission-command`: longest answer, bytes.
pub const PERMISSION_ANSWER_BYTES: u64 = 64 * 1024;
/// `exec`: calls that the result lists as refused.
pub const REFUSED_KEPT: usize = 100;
/// `exec`: what the result says of why a call was refused, bytes.
pub const REFUSED_BYTES: usize = 1024;
/// `exec`: output that is on its way to a slow reader before the agent reads no further in a reply, bytes.
pub const OUTPUT_BACKLOG: usize = 1024 * 1024;
/// `exec`: time in which a reader takes something at the end, or does not get the rest.
pub const OUTPUT_PATIENCE: Duration = Duration::from_secs(2);
/// `exec`: the same, after a stop.
pub const OUTPUT_FAREWELL: Duration = Duration::from_millis(300);
/// `exec`: longest time for the rest of the output after a stop.
pub const OUTPUT_FAREWELL_MOST: Duration = Duration::from_millis(700);
/// `exec --steer-stdin`: texts that wait for room in a queue before no more is read, bytes.
pub const STEER_BYTES: usize = 2 * MESSAGE_BYTES;
/// `exec --steer-stdin`: lines that wait before no more is read.
pub const STEER_LINES: usize = 200;
/// `exec --steer-stdin`: refused lines that are said one by one.
pub const REFUSED_LINES: usize = 100;
/// `exec`: refused operations that are listed at the end.
pub const REFUSED_SHOWN: usize = 20;
/// Longest stretch of a line that plain output sanitises as one while it streams, bytes.
pub const LIVE_BYTES: usize = 4 * 1024;
/// Line output: lines of a question that are written at once.
pub const QUESTION_LINES: usize = 60;
/// Line output: time without a key after which what was held back is written although a line is being typed.
pub const LINE_HELD: Duration = Duration::from_secs(20);
/// Line output: time that a tool runs before that is written.
pub const LINE_SLOW_TOOL: Duration = Duration::from_secs(2);
/// Line output: rows of one report, and entries that one search writes.
pub const LINE_ROWS: usize = 60;
/// Line output: characters of a typed line that are echoed; of a longer one the end.
pub const LINE_ECHO: usize = 4_000;
/// Line output: time that the last lines have to be written.
pub const LINE_FAREWELL: Duration = Duration::from_secs(2);
