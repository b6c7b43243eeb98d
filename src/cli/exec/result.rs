//! The end of `exec`: its exit code under `--strict`, the answer as a file, the result as one object.

use std::fs::Permissions;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use tempfile::Builder;

use crate::cli::exit::{Exit, StrictEnd};
use crate::event::{Outcome, TurnFaultKind, TurnFinish};
use crate::session::stream::RunRecord;

/// Returns the exit under `--strict`; `known` is what stopped the run, where that was no turn.
pub(super) fn strict(exit: Exit, record: &RunRecord, known: Option<StrictEnd>) -> Exit {
    let last = record.last_turn();
    let end = match exit {
        Exit::Failed if known.is_some() => known,
        Exit::Failed => match last.and_then(|last| last.fault).map(|fault| fault.kind) {
            Some(TurnFaultKind::Budget | TurnFaultKind::Steps | TurnFaultKind::Rounds) => Some(StrictEnd::UsedUp),
            Some(TurnFaultKind::Authentication) => Some(StrictEnd::Authentication),
            _ => None,
        },
        Exit::Done if record.has_refused() => Some(StrictEnd::Refused),
        Exit::Done => {
            let is_whole = last.is_none_or(|last| {
                last.outcome == Outcome::Completed && last.finish.is_none_or(|finish| finish == TurnFinish::Stop)
            });
            (!is_whole).then_some(StrictEnd::NotWhole)
        }
        _ => None,
    };
    end.map_or(exit, Exit::Strict)
}

/// Writes the answer to a file as one step: a reader sees the old file or the new one.
///
/// # Errors
/// What the system says; the file is as it was.
pub(super) fn write_answer(path: &Path, answer: &str) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // As any new file: what the umask leaves.
    let mut file = Builder::new().permissions(Permissions::from_mode(0o666)).tempfile_in(directory)?;
    file.write_all(answer.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
