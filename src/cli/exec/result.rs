//! The end of `exec`: its exit code under `--strict`, the answer as a file, the result as one object.

use std::fs::Permissions;
use std::io::{self, IsTerminal as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use tempfile::Builder;

use super::args::{ExecArgs, OutputForm};
use super::start;
use crate::cli::exit::{Exit, StrictEnd};
use crate::cli::output::Output;
use crate::event::{Outcome, Pending, TurnFaultKind, TurnFinish};
use crate::listener::JsonLines;
use crate::session::stream::RunRecord;

/// What is written when a run has ended.
pub(super) struct Farewell<'a> {
    pub args: &'a ExecArgs,
    pub record: &'a RunRecord,
    pub json: Option<Arc<JsonLines>>,
    pub cwd: &'a Path,
    /// What stopped the run, where that was no turn.
    pub strict_end: Option<StrictEnd>,
}

impl Farewell<'_> {
    /// Writes it; returns how the program ends.
    pub fn write(
        self,
        mut exit: Exit,
        mut reason: Option<String>,
        unsent: Vec<Pending>,
        (out, err): (&Output, &Output),
    ) -> Exit {
        let Self { args, record, json, cwd, strict_end } = self;
        if let Some(fault) = record.mismatch().filter(|_| exit == Exit::Done) {
            let sentence = format!("the answer does not match the schema of --output-schema: {fault}");
            err.say(&sentence);
            reason.get_or_insert(sentence);
        }
        if args.strict {
            exit = strict(exit, record, strict_end);
        }
        if let Some(answer) = record.answer_text() {
            if writes_answer_last(args) {
                // A failed write is seen where the output is drained.
                let _ = out.clone().write_all(format!("{answer}\n").as_bytes());
            }
            if let Some(path) = &args.output_last_message
                && let Err(error) = write_answer(path, &answer)
            {
                err.say(&format!("cannot write {}: {error}", path.display()));
                exit = if exit == Exit::Done { Exit::Failed } else { exit };
            }
        }
        if let Some(json) = json {
            start::end(record, &json, cwd, unsent, exit, reason);
        } else if args.form() == Some(OutputForm::Result) {
            let result = record.finish(exit.code(), reason, &unsent);
            let _ = out.clone().write_all(start::object(&result).as_bytes());
        }
        exit
    }
}

/// Returns whether standard output gets the answer when the run has ended: one that must match a schema may be asked for
/// once more.
fn writes_answer_last(args: &ExecArgs) -> bool {
    let is_alone = match args.form() {
        Some(OutputForm::Answer) => true,
        None => !io::stdout().is_terminal(),
        Some(OutputForm::Progress | OutputForm::Json | OutputForm::Result) => false,
    };
    is_alone && args.output_schema.is_some()
}

/// Returns the exit under `--strict`; `known` is what stopped the run, where that was no turn.
fn strict(exit: Exit, record: &RunRecord, known: Option<StrictEnd>) -> Exit {
    let last = record.last_turn();
    let end = match exit {
        Exit::Failed if known.is_some() => known,
        Exit::Failed => match last.and_then(|last| last.fault).map(|fault| fault.kind) {
            Some(TurnFaultKind::Budget | TurnFaultKind::Steps | TurnFaultKind::Rounds) => Some(StrictEnd::UsedUp),
            Some(TurnFaultKind::Authentication) => Some(StrictEnd::Authentication),
            _ => None,
        },
        Exit::Done if record.mismatch().is_some() => Some(StrictEnd::NoMatch),
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
fn write_answer(path: &Path, answer: &str) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // As any new file: what the umask leaves.
    let mut file = Builder::new()
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(directory)
        .map_err(|error| without_path(&error))?;
    file.write_all(answer.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Returns the error without the name of the temporary file, which tells a user nothing.
fn without_path(error: &io::Error) -> io::Error {
    let said = error.to_string();
    io::Error::new(error.kind(), said.split(" at path ").next().unwrap_or_default())
}
