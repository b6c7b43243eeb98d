//! The end of `exec`: its exit code under `--strict`, the answer as a file, the result as one object.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use tokio::sync::{oneshot, watch};
use tokio::time::sleep;

use super::args::{ExecArgs, OutputForm};
use super::start;
use crate::program::cli::exit::{Exit, StrictEnd};
use crate::program::cli::output::Output;
use steersman_base::event::{Outcome, Pending, TurnFailureKind, TurnFinish};
use steersman_base::limits;
use steersman_core::listener::JsonLines;
use steersman_session::named_file::{ExistingFile, write_named};
use steersman_session::stream::{RunRecord, StreamJson};

/// What is written when a run has ended.
pub(super) struct Farewell<'a> {
    pub args: &'a ExecArgs,
    pub record: &'a RunRecord,
    pub json: Option<Arc<JsonLines>>,
    pub stream: Option<Arc<StreamJson>>,
    pub cwd: &'a Path,
    /// What stopped the run, where that was no turn.
    pub strict_end: Option<StrictEnd>,
    /// Whether a signal stopped the run.
    pub is_signalled: bool,
    /// The exit code of a signal that came when the run had ended.
    pub signalled: watch::Receiver<Option<u8>>,
}

impl Farewell<'_> {
    /// Writes it; returns how the program ends.
    pub(super) async fn write(
        self,
        mut exit: Exit,
        mut reason: Option<String>,
        unsent: Vec<Pending>,
        (out, err): (&Output, &Output),
    ) -> Exit {
        let Self { args, record, json, stream, cwd, strict_end, is_signalled, mut signalled } = self;
        let mismatch = record.mismatch().filter(|_| exit == Exit::Done && record.last_turn().is_some());
        if let Some(fault) = &mismatch {
            let sentence = format!("the answer does not match the schema of --output-schema: {fault}");
            err.say(&sentence);
            reason.get_or_insert(sentence);
        }
        let is_answer = mismatch.is_none() || args.lenient;
        if !is_answer {
            exit = Exit::Strict(StrictEnd::NoMatch);
        } else if args.strict {
            exit = strict(exit, record, strict_end);
        }
        if let Some(answer) = record.answer_text().filter(|_| is_answer) {
            if writes_answer_last(args) {
                // A failed write is seen where the output is drained.
                let _ = out.clone().write_all(format!("{answer}\n").as_bytes());
            }
            if let Some(path) = &args.output_last_message {
                let ends = async {
                    if !is_signalled {
                        let _ = signalled.wait_for(Option::is_some).await;
                    }
                    sleep(limits::OUTPUT_FAREWELL).await;
                };
                let written = tokio::select! {
                    biased;
                    written = write_answer(path.clone(), answer) => written,
                    () = ends => Err(io::ErrorKind::Interrupted.into()),
                };
                if let Err(error) = written {
                    err.say(&format!("cannot write {}: {error}", path.display()));
                    exit = if exit == Exit::Done { Exit::Failed } else { exit };
                }
            }
        }
        if let Some(code) = *signalled.borrow() {
            exit = Exit::of_signal(code);
        }
        if let Some(json) = json {
            start::end(record, &json, cwd, unsent, exit, reason);
        } else if let Some(stream) = stream {
            stream.finish(&record.finish(exit.code(), reason, &unsent), !is_answer);
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
        Some(OutputForm::Progress | OutputForm::Json | OutputForm::Result | OutputForm::StreamJson) => false,
    };
    is_alone && args.output_schema.is_some()
}

/// Returns the exit under `--strict`; `known` is what stopped the run, where that was no turn.
fn strict(exit: Exit, record: &RunRecord, known: Option<StrictEnd>) -> Exit {
    let last = record.last_turn();
    let end = match exit {
        Exit::Failed if known.is_some() => known,
        Exit::Failed => match last.and_then(|last| last.fault).map(|fault| fault.kind) {
            Some(TurnFailureKind::Budget | TurnFailureKind::Steps | TurnFailureKind::Rounds) => Some(StrictEnd::UsedUp),
            Some(TurnFailureKind::Authentication) => Some(StrictEnd::Authentication),
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

/// Writes the answer to a file. The reader of a FIFO may let it wait: a signal ends that.
///
/// # Errors
/// What the system says.
async fn write_answer(path: PathBuf, answer: String) -> io::Result<()> {
    let (written, outcome) = oneshot::channel();
    // Not of the runtime, whose end would wait for it.
    thread::Builder::new().spawn(move || {
        // Nobody waits for it any more.
        let _ = written.send(write_named(&path, answer.as_bytes(), ExistingFile::Replaced));
    })?;
    outcome.await.unwrap_or_else(|_| Err(io::Error::other("the writer has ended")))
}
