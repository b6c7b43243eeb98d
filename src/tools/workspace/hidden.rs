//! The hidden sub-commands, as which a program starts itself: the guard of a job, and the sandbox around one. They run
//! before the command line is parsed, before logging and before any hook; help and completions do not list them.

use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

use crate::workspace::sandbox::{self, inner};
use crate::workspace::{GUARD, Streams, guard};

/// The exit code of a hidden sub-command that was not called by this program.
const USAGE: u8 = 2;

/// Runs a hidden sub-command to its end; `None` when the arguments name none.
///
/// A program whose [`Spawner`](crate::workspace::Spawner) names its own executable calls this first in `main`.
pub fn run_hidden(args: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut args = args.into_iter().skip(1);
    let name = args.next()?;
    if name == OsStr::new(sandbox::SUBCOMMAND) {
        return Some(inner::run(args).into());
    }
    if name != OsStr::new(GUARD) {
        return None;
    }
    let memory = args.next().and_then(|memory| memory.to_str()?.parse().ok());
    let streams = args.next().and_then(|arg| Streams::of_argument(&arg));
    let job: Vec<OsString> = args.collect();
    let (Some(memory), Some(streams), false) = (memory, streams, job.is_empty()) else {
        return Some(USAGE.into());
    };
    guard::run(&job, Some(memory).filter(|memory| *memory > 0), streams);
    Some(ExitCode::SUCCESS)
}
