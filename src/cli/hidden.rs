//! The hidden sub-commands, as which this program starts itself. They run before the command line is parsed, before
//! logging and before any hook; help and completions do not list them.

use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

use crate::cli::exit::Exit;
use crate::workspace::sandbox::{self, inner};
use crate::workspace::{GUARD, Streams, guard};

/// Runs a hidden sub-command to its end; `None` when the arguments name none.
pub fn run(args: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
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
        return Some(Exit::Usage.into());
    };
    guard::run(&job, Some(memory).filter(|memory| *memory > 0), streams);
    Some(Exit::Done.into())
}
